--- |vim.lsp| as Neovim 0.10 and 0.11 have it.
---
--- A client's functions are closures over the client up to 0.10 and methods from 0.11 on; called the other
--- way, the first argument is wrong or a deprecation is told. A client without a buffer is started by
--- `vim.lsp.start_client` up to 0.10, which 0.11 deprecates in favour of `attach = false`.

local M = {}

local has_methods = vim.fn.has('nvim-0.11') == 1

---@param client vim.lsp.Client
---@param name string
local function call(client, name, ...)
  if has_methods then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- Starts a client of its own, attached to no buffer.
---@param config vim.lsp.ClientConfig
---@return integer? client_id
function M.start(config)
  if has_methods then
    return vim.lsp.start(config, {
      attach = false,
      silent = true,
      reuse_client = function()
        return false
      end,
    })
  end
  return (vim.lsp.start_client(config))
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param callback fun(err?: lsp.ResponseError, result: any) never called after `cancel`, nor when the
--- connection ends
---@return boolean sent
---@return integer? request_id
function M.request(client, method, params, callback)
  return call(client, 'request', method, params, callback, 0)
end

---@param client vim.lsp.Client
---@param method string
---@param params table
function M.notify(client, method, params)
  call(client, 'notify', method, params)
end

---@param client vim.lsp.Client
---@param request_id integer
function M.cancel(client, request_id)
  call(client, 'cancel_request', request_id)
end

--- Asks the server to shut down and to close the connection; `force` closes it at once.
---@param client vim.lsp.Client
---@param force? boolean
function M.stop(client, force)
  call(client, 'stop', force)
end

---@param client vim.lsp.Client
---@return boolean
function M.is_stopped(client)
  return call(client, 'is_stopped')
end

return M
