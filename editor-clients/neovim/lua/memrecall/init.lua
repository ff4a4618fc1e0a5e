--- The Lua interface; |memrecall-lua| is its manual.

local client = require('memrecall.client')
local config = require('memrecall.config')

local M = {}

---@class memrecall.StartOptions
---@field query string what the user asks
---@field agent_id? string one for each conversation: a conversation never gets a note twice. Default ""
---@field session_id? string default |memrecall.session_id()|
---@field project_root? string absolute path; default the project of `buf`
---@field buf? integer default the current buffer
---@field recent_tools? string[] names of tools used lately: notes on how to use them are left out
---@field exclude_layouts? string[] layouts of notes that the agent reads by itself
---@field max_prompt_chars? integer the longest prompt of the first result; notes beyond it are left for later

---@class memrecall.ResetOptions
---@field agent_id? string default ""
---@field session_id? string default |memrecall.session_id()|

---@class memrecall.QueryOptions
---@field project_root? string absolute path; default the project of `buf`
---@field buf? integer default the current buffer

---@class memrecall.SearchOptions: memrecall.QueryOptions
---@field limit? integer 1 to 100, default 5

local outages = { unavailable = true, refused = true, unsupported = true, timeout = true }

local told = false

--- Tells the user about a missing daemon once, and again only after it was there in between: memory missing
--- in silence would go unnoticed, and a message with each query would be noise.
---@param err? memrecall.Error
local function tell_once(err)
  if not err then
    told = false
  elseif outages[err.code] and not told then
    told = true
    vim.notify(('memrecall: %s. See :checkhealth memrecall'):format(err.message), vim.log.levels.WARN)
  end
end

---@param options any
---@param types table<string, type>
local function check(options, types)
  if type(options) ~= 'table' then
    error(('memrecall: expected a table of options, got %s'):format(type(options)), 3)
  end
  for name, value in pairs(options) do
    if not types[name] then
      error(('memrecall: unknown option %s'):format(vim.inspect(name)), 3)
    elseif type(value) ~= types[name] then
      error(('memrecall: %s: expected a %s, got %s'):format(name, types[name], type(value)), 3)
    end
  end
end

--- Sets the options (|memrecall-options|); what is not given has its default. The commands work without it.
--- Raises an error that names the option and what was expected.
---@param options? memrecall.Options
function M.setup(options)
  config.set(options)
  -- Where only the runtime path was extended after start-up, nobody has read it yet.
  vim.cmd.runtime('plugin/memrecall.lua')
  require('memrecall.keymaps').set(config.options.keymaps)
end

--- The session id of this Neovim: random, and the same as long as it runs.
---@return string
function M.session_id()
  return client.session_id
end

--- Opens a turn and returns it at once; `callback`, if given, is its first `on_fast`.
--- Raises an error for options of a wrong type; everything else that fails is an error value.
---@param options memrecall.StartOptions
---@param callback? memrecall.FastCallback
---@return memrecall.Turn
function M.start(options, callback)
  check(options, {
    query = 'string',
    agent_id = 'string',
    session_id = 'string',
    project_root = 'string',
    buf = 'number',
    recent_tools = 'table',
    exclude_layouts = 'table',
    max_prompt_chars = 'number',
  })
  if not options.query then
    error('memrecall: start needs a query', 2)
  end
  local turn = client.start(options)
  turn:on_fast(tell_once)
  if callback then
    turn:on_fast(callback)
  end
  return turn
end

--- The context of a conversation was cleared or compacted: what was delivered to it may be delivered again.
---@param options? memrecall.ResetOptions
---@param callback? fun(err?: memrecall.Error)
function M.reset(options, callback)
  options = options or {}
  check(options, { agent_id = 'string', session_id = 'string' })
  client.reset(options, callback or function() end)
end

--- `callback(err, documents)` with the notes that match, best first; no session is touched.
---@param query string
---@param options memrecall.SearchOptions
---@param callback fun(err?: memrecall.Error, documents?: memrecall.Document[])
function M.search(query, options, callback)
  check(options, { project_root = 'string', buf = 'number', limit = 'number' })
  client.search(query, options, callback)
end

--- `callback(err, status)` with what the daemon tells about itself and the project.
---@param options memrecall.QueryOptions
---@param callback fun(err?: memrecall.Error, status?: memrecall.Status)
function M.status(options, callback)
  check(options, { project_root = 'string', buf = 'number' })
  client.status(options, callback)
end

return M
