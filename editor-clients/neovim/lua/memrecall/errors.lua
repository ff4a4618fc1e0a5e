--- Errors as values: every callback gets one of these, or nil, as its first argument.

local M = {}

---@alias memrecall.ErrorCode
---| 'unavailable'  nobody serves the socket, or there is none
---| 'refused'      the socket is not this user's own; nothing was sent to it
---| 'unsupported'  who answers is no memrecalld, or speaks another version of the protocol
---| 'disconnected' the connection ended before the answer came
---| 'timeout'      no answer in time
---| 'cancelled'    the turn was cancelled here
---| 'ended'        the turn ended before its fast result; `reason` is the daemon's discard reason
---| 'request'      the daemon answered with an error; `rpc_code` is its JSON-RPC code
---| 'invalid'      something that no message can hold, such as a path that is not UTF-8

---@class memrecall.Error
---@field code memrecall.ErrorCode
---@field message string for people; names the next step, never a query or a note
---@field reason? string
---@field rpc_code? integer

local metatable = {
  __tostring = function(err)
    return err.message
  end,
}

---@param code memrecall.ErrorCode
---@param message string
---@param more? { reason?: string, rpc_code?: integer }
---@return memrecall.Error
function M.new(code, message, more)
  return setmetatable(vim.tbl_extend('error', { code = code, message = message }, more or {}), metatable)
end

--- An error answer of the daemon.
---@param answer { code: integer, message: string }
---@return memrecall.Error
function M.from_rpc(answer)
  return M.new('request', answer.message, { rpc_code = answer.code })
end

return M
