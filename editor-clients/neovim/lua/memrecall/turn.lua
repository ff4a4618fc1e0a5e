--- One turn: a query, what is recalled for it at first, and what a model picks for later.

local connection = require('memrecall.connection')
local errors = require('memrecall.errors')
local text = require('memrecall.text')

local M = {}

--- How long the daemon may take for anything it answers at once. Its own bound for a fast result is 100 ms.
local ANSWER_MS = 5000

--- How long `wait` waits by default.
local WAIT_MS = 1000

--- Sessions of which the last delivery is remembered. Beyond, all are forgotten, and the daemon is told nothing
--- of them until they are given something again.
local MAX_SESSIONS = 1000

--- Ids of the last deliveries that came, by session and agent: a daemon that comes after a killed one is told,
--- and gives again what that one had recorded and did not send.
---@type table<string, string>
local received = {}
local sessions = 0
local forgotten = false

---@alias memrecall.FastCallback fun(err?: memrecall.Error, fast?: memrecall.Fast)
---@alias memrecall.EndCallback fun(err?: memrecall.Error, outcome?: memrecall.Outcome)
---@alias memrecall.ToolResultCallback fun(err?: memrecall.Error, result?: memrecall.ToolResult)

---@class memrecall.TurnRequest
---@field query string
---@field session_id string
---@field agent_id string
---@field project_root? string
---@field recent_tools? string[]
---@field exclude_layouts? string[]
---@field max_prompt_chars? integer
---@field new_session? boolean nobody else uses the session, now or before

--- Every callback is called exactly once, and always later: never inside the call that it was given to.
---@class memrecall.Turn
---@field id? string the daemon's id of the turn, once the fast result is there
---@field fast? memrecall.Fast once it is there
---@field outcome? memrecall.Outcome how the turn ended, once it has; nil where only the daemon knows
---@field session_id string
---@field agent_id string
---@field private _connection? memrecall.Connection
---@field private _request_id? integer
---@field private _fast_error? memrecall.Error
---@field private _fast_known boolean
---@field private _end_error? memrecall.Error
---@field private _ended boolean
---@field private _finished boolean
---@field private _cancelled boolean
---@field private _on_fast memrecall.FastCallback[]
---@field private _on_end memrecall.EndCallback[]
local Turn = {}
Turn.__index = Turn

--- Calls `callback` in an event of its own: an error in it is its author's and disturbs nothing else.
---@param callback fun(err?: memrecall.Error, value: any)
---@param arguments fun(): memrecall.Error?, any asked at that moment: a turn may be cancelled until then
local function call_later(callback, arguments)
  vim.schedule(function()
    callback(arguments())
  end)
end

---@param session_id string
---@param agent_id string
---@return string
local function key(session_id, agent_id)
  return session_id .. '\0' .. agent_id
end

---@param session_id string
---@param agent_id string
---@param delivery? memrecall.Delivery
local function receive(session_id, agent_id, delivery)
  if not delivery then
    return
  end
  local session = key(session_id, agent_id)
  if not received[session] then
    if sessions == MAX_SESSIONS then
      received, sessions, forgotten = {}, 0, true
    end
    sessions = sessions + 1
  end
  received[session] = delivery.id
end

--- The id of the last delivery that came; empty for none so far, nil where that is not known.
---@param request memrecall.TurnRequest
---@return string?
local function last_delivery(request)
  local last = received[key(request.session_id, request.agent_id)]
  return last or (request.new_session and not forgotten and '' or nil)
end

---@param request memrecall.TurnRequest
---@return memrecall.Turn
local function new(request)
  return setmetatable({
    session_id = request.session_id,
    agent_id = request.agent_id,
    _fast_known = false,
    _ended = false,
    _finished = false,
    _cancelled = false,
    _on_fast = {},
    _on_end = {},
  }, Turn)
end

--- Opens a turn.
---@param request memrecall.TurnRequest
---@return memrecall.Turn
function M.start(request)
  local self = new(request)
  connection.acquire(function(err, acquired)
    if self._ended then
      return
    elseif err then
      self:_end(err)
    else
      self:_send(acquired --[[@as memrecall.Connection]], request)
    end
  end)
  return self
end

--- A turn that could not be opened.
---@param request memrecall.TurnRequest
---@param err memrecall.Error
---@return memrecall.Turn
function M.failed(request, err)
  local self = new(request)
  self:_end(err)
  return self
end

---@param to memrecall.Connection
---@param request memrecall.TurnRequest
function Turn:_send(to, request)
  self._connection = to
  self._request_id = to:request(
    'recall/start',
    {
      query = text.query(request.query),
      sessionId = request.session_id,
      agentId = request.agent_id,
      projectRoot = request.project_root,
      recentTools = request.recent_tools,
      excludeLayouts = request.exclude_layouts,
      maxPromptChars = request.max_prompt_chars,
      lastDelivery = last_delivery(request),
    },
    nil,
    function(err, result)
      if err then
        self:_end(err, result)
      else
        self:_end(nil, result.outcome)
      end
    end
  )
  if not self._request_id then
    return
  end
  to.on_fast[self._request_id] = function(fast)
    receive(self.session_id, self.agent_id, fast.delivery)
    self:_receive_fast(nil, fast)
  end
  vim.defer_fn(function()
    if not self._fast_known then
      to:cancel(self._request_id)
      self:_end(errors.new('timeout', ('the daemon did not answer within %d ms'):format(ANSWER_MS)))
    end
  end, ANSWER_MS)
end

---@param err? memrecall.Error
---@param fast? memrecall.Fast
function Turn:_receive_fast(err, fast)
  if self._fast_known then
    return
  end
  self._fast_known = true
  self._fast_error = err
  if fast then
    self.fast = fast
    self.id = fast.turnId
  end
  local callbacks = self._on_fast
  self._on_fast = {}
  for _, callback in ipairs(callbacks) do
    self:on_fast(callback)
  end
end

---@param err? memrecall.Error
---@param outcome? memrecall.Outcome
function Turn:_end(err, outcome)
  if self._ended then
    return
  end
  self._ended = true
  self._end_error = err
  self.outcome = outcome
  if self._connection and self._request_id then
    self._connection.on_fast[self._request_id] = nil
  end
  if not self._fast_known then
    local reason = outcome and outcome.discardReason or 'unknown'
    self:_receive_fast(
      err
        or errors.new(
          'ended',
          ('the turn ended before its first result: %s'):format(reason),
          { reason = reason }
        )
    )
  end
  local callbacks = self._on_end
  self._on_end = {}
  for _, callback in ipairs(callbacks) do
    self:on_end(callback)
  end
end

--- `callback(err, fast)` when the initial wait is over: what goes into the first prompt is
--- `fast.delivery.prompt`, and `fast.delivery` is nil where there is nothing. With an error there is no fast
--- result and there will be none.
---@param callback memrecall.FastCallback
function Turn:on_fast(callback)
  if self._fast_known then
    call_later(callback, function()
      return self._fast_error, self.fast
    end)
  else
    table.insert(self._on_fast, callback)
  end
end

--- `callback(err, outcome)` when the turn has ended, for whatever reason.
---@param callback memrecall.EndCallback
function Turn:on_end(callback)
  if self._ended then
    call_later(callback, function()
      return self._end_error, self.outcome
    end)
  else
    table.insert(self._on_end, callback)
  end
end

--- Waits for the fast result while Neovim goes on handling events, for callers that cannot be called back.
--- Not for fast contexts (|api-fast|). The turn goes on after a `timeout`.
---@param timeout_ms? integer default 1000
---@return memrecall.Error? err
---@return memrecall.Fast? fast
function Turn:wait(timeout_ms)
  timeout_ms = timeout_ms or WAIT_MS
  vim.wait(timeout_ms, function()
    return self._fast_known
  end, 2)
  if not self._fast_known then
    return errors.new('timeout', ('no fast result within %d ms'):format(timeout_ms))
  end
  return self._fast_error, self.fast
end

--- Whether a later delivery may still come.
---@return boolean
function Turn:is_open()
  return not self._ended and not self._finished
end

--- A later delivery point: `callback(err, result)` with what a model picked meanwhile, in
--- `result.delivery.prompt`. `result.state` is "pending" while it is still choosing: ask again at the next
--- tool result.
---@param tool_name? string the tool that was just used; notes on how to use it are then left out
---@param callback memrecall.ToolResultCallback
---@param max_prompt_chars? integer the longest prompt; notes beyond it are left for later
function Turn:tool_result(tool_name, callback, max_prompt_chars)
  self:on_fast(function(err)
    if err then
      callback(err)
    elseif self._end_error then
      callback(self._end_error)
    elseif self._finished then
      callback(nil, { turnId = self.id, state = 'none' })
    else
      self._connection:request(
        'recall/toolResult',
        {
          sessionId = self.session_id,
          agentId = self.agent_id,
          turnId = self.id,
          toolName = tool_name,
          maxPromptChars = max_prompt_chars,
        },
        ANSWER_MS,
        function(failure, result)
          if not failure then
            receive(self.session_id, self.agent_id, result.delivery)
          end
          call_later(callback, function()
            if failure or self._cancelled then
              return failure or self._end_error
            end
            return nil, result
          end)
        end
      )
    end
  end)
end

--- No delivery point is left in this turn: the model has answered. What was delivered stays delivered.
--- Before the fast result this is `cancel`, since nothing has been delivered. Does nothing for a turn that
--- has ended.
function Turn:finish()
  if self._ended or self._finished then
    return
  elseif not self._fast_known then
    self:cancel()
    return
  end
  self._finished = true
  self._connection:notify('recall/end', {
    sessionId = self.session_id,
    agentId = self.agent_id,
    turnId = self.id,
  })
end

--- The turn's prompt was thrown away: whoever waits hears `cancelled` and nothing else, and what was
--- delivered may be delivered again. Does nothing for a turn that has ended.
function Turn:cancel()
  if self._ended then
    return
  end
  if self._connection and self._request_id then
    self._connection:cancel(self._request_id)
  end
  -- Told here: the daemon's answer to a cancelled request reaches no callback.
  local err = errors.new('cancelled', 'the turn was cancelled')
  self._cancelled = true
  self._fast_error, self.fast = err, nil
  self:_end(err)
end

return M
