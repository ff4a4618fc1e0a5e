--- The one connection of this Neovim to the daemon: made at first use, and anew at the next use after it has
--- ended.

local config = require('memrecall.config')
local errors = require('memrecall.errors')
local lsp = require('memrecall.lsp')
local project = require('memrecall.project')
local socket = require('memrecall.socket')

local M = {}

--- The version of the protocol that this client reads. The daemon raises its own only where an older client
--- would misread an answer.
M.PROTOCOL_VERSION = 1

--- How long a connection may take, a daemon that systemd has to start first included.
local CONNECT_MS = 5000

--- How long Neovim's exit may wait for the daemon's farewell, which takes a millisecond or two.
local LEAVE_MS = 500

---@class memrecall.Connection
---@field path string
---@field capabilities? table `capabilities.experimental.memrecall` of the daemon
---@field on_fast table<integer, fun(params: table)> who waits for `recall/fast`, by request id
---@field private _state 'connecting'|'ready'|'closed'
---@field private _client? vim.lsp.Client
---@field private _waiting fun(err?: memrecall.Error, connection?: memrecall.Connection)[]
---@field private _open table<table, true> the requests without an answer
---@field private _timer? uv.uv_timer_t
local Connection = {}
Connection.__index = Connection

---@type memrecall.Connection?
local current

---@param timer? uv.uv_timer_t of |vim.defer_fn()|
local function stop_timer(timer)
  if timer and not timer:is_closing() then
    timer:stop()
    timer:close()
  end
end

---@param path string
---@return memrecall.Connection
local function open(path)
  local self = setmetatable({
    path = path,
    on_fast = {},
    _state = 'connecting',
    _waiting = {},
    _open = {},
  }, Connection)
  local problem = socket.problem(path)
  if problem then
    vim.schedule(function()
      self:_close(problem)
    end)
    return self
  end
  self._timer = vim.defer_fn(function()
    self:_close(errors.new('timeout', ('who serves %s does not answer; is it memrecalld?'):format(path)))
  end, CONNECT_MS)
  socket.probe(path, CONNECT_MS, function(err)
    if err then
      self:_close(err)
    elseif self._state == 'connecting' then
      self:_initialize()
    end
  end)
  return self
end

function Connection:_initialize()
  local root = project.of_call()
  local id = lsp.start({
    name = 'memrecall',
    cmd = vim.lsp.rpc.connect(self.path),
    root_dir = root,
    handlers = {
      ['recall/fast'] = function(_, params)
        local handler = self.on_fast[params.requestId]
        if handler then
          handler(params)
        end
      end,
    },
    on_init = function(_, result)
      self:_on_init(result)
    end,
    on_exit = function()
      vim.schedule(function()
        self:_close(
          errors.new('disconnected', 'the daemon closed the connection; the next use connects again')
        )
      end)
    end,
  })
  self._client = id and vim.lsp.get_client_by_id(id)
end

---@return memrecall.Error?
function Connection:_misunderstanding()
  local version = self.capabilities and self.capabilities.protocolVersion
  if not version then
    return errors.new('unsupported', ('who serves %s is no memrecalld'):format(self.path))
  elseif version ~= M.PROTOCOL_VERSION then
    local versions =
      'the daemon speaks version %s of the protocol, this plugin version %d; update the older one'
    return errors.new('unsupported', versions:format(version, M.PROTOCOL_VERSION))
  end
end

---@param result table
function Connection:_on_init(result)
  self.capabilities = vim.tbl_get(result, 'capabilities', 'experimental', 'memrecall')
  local problem = self:_misunderstanding()
  if self._state ~= 'connecting' then
    return
  elseif problem then
    self:_close(problem)
    return
  end
  stop_timer(self._timer)
  self._state = 'ready'
  local waiting = self._waiting
  self._waiting = {}
  for _, callback in ipairs(waiting) do
    callback(nil, self)
  end
end

--- Ends the connection; whoever waits for something hears `err`.
---@param err memrecall.Error
function Connection:_close(err)
  if self._state == 'closed' then
    return
  end
  self._state = 'closed'
  if current == self then
    current = nil
  end
  stop_timer(self._timer)
  if self._client and not lsp.is_stopped(self._client) then
    lsp.stop(self._client, true)
  end
  local waiting, unanswered = self._waiting, self._open
  self._waiting, self._open, self.on_fast = {}, {}, {}
  for _, callback in ipairs(waiting) do
    callback(err)
  end
  for entry in pairs(unanswered) do
    stop_timer(entry.timer)
    entry.callback(err)
  end
end

--- Whether something sent now can reach the daemon.
---@return boolean
function Connection:is_open()
  return self._state == 'ready' and not lsp.is_stopped(self._client)
end

--- Sends a request. `callback(err, result)` is called exactly once, and never before this returns; with an
--- error answer, `result` is the error's data.
---@param method string
---@param params table
---@param timeout_ms? integer none for a request that stays open
---@param callback fun(err?: memrecall.Error, result: any)
---@return integer? request_id nil if the connection is gone
function Connection:request(method, params, timeout_ms, callback)
  local entry = { callback = callback }
  local function settle(err, result)
    if self._open[entry] then
      self._open[entry] = nil
      stop_timer(entry.timer)
      callback(err, result)
    end
  end
  self._open[entry] = true
  local sent, request_id = false, nil
  if self:is_open() then
    sent, request_id = lsp.request(self._client, method, params, function(answer, result)
      if answer then
        settle(errors.from_rpc(answer), answer.data)
      else
        settle(nil, result)
      end
    end)
  end
  if not sent then
    vim.schedule(function()
      settle(
        errors.new('disconnected', 'the connection to the daemon has ended; the next use connects again')
      )
    end)
    return nil
  end
  if timeout_ms then
    entry.timer = vim.defer_fn(function()
      settle(errors.new('timeout', ('the daemon did not answer within %d ms'):format(timeout_ms)))
    end, timeout_ms)
  end
  return request_id
end

--- Sends a notification, if the connection is there.
---@param method string
---@param params table
function Connection:notify(method, params)
  if self:is_open() then
    lsp.notify(self._client, method, params)
  end
end

--- Cancels a request that has no answer yet. The daemon's answer to that is swallowed by |vim.lsp|: the
--- request's callback is not called any more.
---@param request_id integer
function Connection:cancel(request_id)
  if self:is_open() then
    lsp.cancel(self._client, request_id)
  end
end

--- Hands the connection over, at once if it stands; otherwise it is made first.
---@param callback fun(err?: memrecall.Error, connection?: memrecall.Connection) called once
function M.acquire(callback)
  local path, problem = socket.path(config.options.socket)
  if not path then
    vim.schedule(function()
      callback(problem --[[@as memrecall.Error]])
    end)
    return
  end
  if current and current.path ~= path then
    current:_close(errors.new('disconnected', 'another socket was configured'))
  end
  if current and current:is_open() then
    callback(nil, current)
    return
  end
  if not current or current._state == 'ready' then
    current = open(path)
  end
  table.insert(current._waiting, callback)
end

--- The connection as it is; nil if there is none.
---@return memrecall.Connection?
function M.current()
  return current and current:is_open() and current or nil
end

--- Leaves the daemon in good order, which ends this Neovim's turns.
function M.leave()
  local connection = current
  if not connection then
    return
  end
  -- Who waits for an answer is leaving as well.
  connection._waiting, connection._open = {}, {}
  if connection._state == 'ready' then
    -- |vim.lsp| may have asked it already, in an autocommand of its own.
    if not lsp.is_stopped(connection._client) then
      lsp.stop(connection._client)
    end
    vim.wait(LEAVE_MS, function()
      return connection._state == 'closed'
    end, 2)
  end
  connection:_close(errors.new('disconnected', 'Neovim ends'))
end

vim.api.nvim_create_autocmd('VimLeavePre', {
  group = vim.api.nvim_create_augroup('memrecall', {}),
  desc = 'memrecall: end the turns and the connection',
  callback = M.leave,
})

return M
