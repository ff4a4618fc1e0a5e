--- What can be asked of the daemon, with this Neovim's session and projects filled in.

local connection = require('memrecall.connection')
local project = require('memrecall.project')
local text = require('memrecall.text')
local turn = require('memrecall.turn')

local M = {}

--- How long the daemon may take for an answer: far more than it needs with cold notes on a slow disk.
local ANSWER_MS = 10000

--- The session id of this Neovim: random, and the same as long as it runs.
M.session_id = 'nvim-' .. vim.uv.random(8):gsub('.', function(byte)
  return ('%02x'):format(byte:byte())
end)

---@param method string
---@param params table
---@param callback fun(err?: memrecall.Error, result: any) called once, later
local function request(method, params, callback)
  connection.acquire(function(err, acquired)
    if err then
      callback(err)
    else
      acquired:request(method, params, ANSWER_MS, callback)
    end
  end)
end

--- Opens a turn.
---@param options memrecall.StartOptions
---@return memrecall.Turn
function M.start(options)
  local root, err = project.of_call(options.project_root, options.buf)
  local request_of_turn = {
    query = options.query,
    session_id = options.session_id or M.session_id,
    agent_id = options.agent_id or '',
    project_root = root,
    recent_tools = options.recent_tools,
    exclude_layouts = options.exclude_layouts,
    max_prompt_chars = options.max_prompt_chars,
    new_session = options.session_id == nil,
  }
  if err then
    return turn.failed(request_of_turn, err)
  end
  return turn.start(request_of_turn)
end

--- What was delivered to the session and agent may be delivered again.
---@param options memrecall.ResetOptions
---@param callback fun(err?: memrecall.Error)
function M.reset(options, callback)
  request('recall/reset', {
    sessionId = options.session_id or M.session_id,
    agentId = options.agent_id or '',
  }, function(err)
    callback(err)
  end)
end

---@param params table
---@param options memrecall.QueryOptions
---@param callback fun(err?: memrecall.Error, result: any)
---@param method string
local function request_of_project(method, params, options, callback)
  local root, err = project.of_call(options.project_root, options.buf)
  if err then
    vim.schedule(function()
      callback(err)
    end)
    return
  end
  params.projectRoot = root
  request(method, params, callback)
end

--- Notes that match, best first; no session is touched.
---@param query string
---@param options memrecall.SearchOptions
---@param callback fun(err?: memrecall.Error, documents?: memrecall.Document[])
function M.search(query, options, callback)
  request_of_project(
    'memory/search',
    { query = text.query(query), limit = options.limit },
    options,
    function(err, result)
      callback(err, not err and result.documents or nil)
    end
  )
end

--- What the daemon tells about itself and, if `options` name one, the project.
---@param options memrecall.QueryOptions
---@param callback fun(err?: memrecall.Error, status?: memrecall.Status)
function M.status(options, callback)
  request_of_project('daemon/status', {}, options, function(err, result)
    callback(err, not err and result or nil)
  end)
end

--- What the daemon tells about itself, without any project: a project whose notes cannot be read is an error.
---@param callback fun(err?: memrecall.Error, status?: memrecall.Status)
function M.daemon_status(callback)
  request('daemon/status', vim.empty_dict(), function(err, result)
    callback(err, not err and result or nil)
  end)
end

return M
