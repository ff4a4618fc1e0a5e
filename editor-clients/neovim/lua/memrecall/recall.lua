--- `:MemRecall`: one recall, shown in a float as its notes come.

local client = require('memrecall.client')
local float = require('memrecall.float')
local render = require('memrecall.render')
local text = require('memrecall.text')

local M = {}

--- A later delivery is asked for at this pace. An answer costs the daemon some microseconds.
local POLL_MS = 250

--- The daemon gives a model 30 s; what it found without one comes right after that.
local POLL_FOR_MS = 40000

--- A recall that found nothing before all notes were read is repeated so often, at the same pace: a person
--- can wait longer for a daemon that has just started than the first prompt of a conversation can.
local REPEATS = 8

--- The floats' own deliveries, apart from those of any conversation with a model.
local AGENT_ID = 'memrecall-float'

---@class memrecall.Recall
---@field private _query string
---@field private _buf integer
---@field private _repeats integer
---@field private _turn memrecall.Turn
---@field private _float? memrecall.Float
---@field private _notes { document: memrecall.Document, by_model: boolean }[]
---@field private _partial boolean
---@field private _choosing boolean a model was asked
---@field private _gone boolean
local Recall = {}
Recall.__index = Recall

---@type memrecall.Recall?
local latest

--- Recalls notes for `query` and shows them; an earlier recall that is still shown or under way is dropped.
---@param query string
---@param buf integer the buffer whose project is meant
function M.show(query, buf)
  if latest then
    latest:_drop()
  end
  local self = setmetatable({
    _query = query,
    _buf = buf,
    _repeats = 0,
    _notes = {},
    _partial = false,
    _choosing = false,
    _gone = false,
  }, Recall)
  latest = self
  self:_ask()
end

function Recall:_ask()
  -- A float that was closed is forgotten: the same query shows the same notes again.
  client.reset({ agent_id = AGENT_ID }, function() end)
  self._turn = client.start({ query = self._query, agent_id = AGENT_ID, buf = self._buf })
  self._turn:on_fast(function(err, fast)
    if not self._gone and not err then
      self:_receive_fast(fast --[[@as memrecall.Fast]])
    end
  end)
  self._turn:on_end(function(err, outcome)
    if not self._gone then
      self:_receive_end(err, outcome)
    end
  end)
end

function Recall:_drop()
  self._gone = true
  if self._float then
    self._float:close()
  end
  self._turn:finish()
end

---@param fast memrecall.Fast
function Recall:_receive_fast(fast)
  self._partial = fast.partial
  self._choosing = fast.endedBy == 'published'
  if fast.delivery then
    self:_add(fast.delivery)
  end
  if fast.pending then
    self:_show(fast.delivery and 'a model is choosing more' or 'the search goes on')
    self:_poll(vim.uv.now() + POLL_FOR_MS)
  elseif fast.delivery then
    self:_show()
  end
  -- With nothing found, the end of the turn says why, and comes at once.
end

---@param deadline integer
function Recall:_poll(deadline)
  vim.defer_fn(function()
    if self._gone or not self._turn:is_open() then
      return
    end
    self._turn:tool_result(nil, function(err, result)
      if self._gone then
        return
      elseif err then
        self:_show_error(err)
        self._turn:finish()
      elseif result.state == 'delivered' then
        self:_add(result.delivery)
        local failed = self._choosing and result.delivery.strategy == 'heuristic'
        self:_show(failed and 'the model did not answer' or nil)
      elseif result.state == 'pending' then
        if vim.uv.now() < deadline then
          self:_poll(deadline)
        else
          self:_show('nothing more came in time')
          self._turn:finish()
        end
      end
    end)
  end, POLL_MS)
end

---@param err? memrecall.Error
---@param outcome? memrecall.Outcome
function Recall:_receive_end(err, outcome)
  local reason = outcome and outcome.discardReason
  if err then
    self:_show_error(err)
  elseif reason == 'already_delivered' or (reason == 'no_relevant_results' and #self._notes > 0) then
    self:_show('the model chose no others')
  elseif reason == 'no_relevant_results' and self._partial and self._repeats < REPEATS then
    self._repeats = self._repeats + 1
    vim.defer_fn(function()
      if not self._gone then
        self:_ask()
      end
    end, POLL_MS)
  elseif reason == 'no_relevant_results' then
    self:_show()
  elseif reason == 'shutdown' then
    self:_show('the daemon stopped')
  end
end

---@param delivery memrecall.Delivery
function Recall:_add(delivery)
  for _, document in ipairs(delivery.documents) do
    table.insert(self._notes, { document = document, by_model = delivery.strategy == 'model' })
  end
end

---@return memrecall.Float
function Recall:_window()
  if not self._float then
    self._float = float.open(function()
      self._gone = true
      self._turn:finish()
    end)
  end
  return self._float
end

---@param remark? string
function Recall:_show(remark)
  local content = render.new()
  render.add(content, 'Query: ' .. text.one_line(self._query, 60), 'MemRecallStatus')
  local found = #self._notes > 0 and text.counted(#self._notes, 'note') or 'No notes match this query'
  if remark == 'the search goes on' then
    found = 'No notes yet'
  end
  render.add(content, remark and ('%s; %s.'):format(found, remark) or found .. '.', 'MemRecallStatus')
  if self._partial then
    render.add(content, 'Some notes could not be read in time.', 'MemRecallStatus')
  end
  for number, note in ipairs(self._notes) do
    render.add_note(content, note.document, number, note.by_model)
  end
  self:_window():show(content)
end

---@param err memrecall.Error
function Recall:_show_error(err)
  local content = render.new()
  render.add(content, 'Query: ' .. text.one_line(self._query, 60), 'MemRecallStatus')
  render.add(content, text.one_line(err.message), 'MemRecallError')
  render.add(content, 'See :checkhealth memrecall', 'MemRecallStatus')
  for number, note in ipairs(self._notes) do
    render.add_note(content, note.document, number, note.by_model)
  end
  self:_window():show(content)
end

return M
