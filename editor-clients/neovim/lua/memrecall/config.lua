--- The options of `setup`.

local M = {}

---@class memrecall.FloatOptions
---@field border? string|string[]|string[][] as for |nvim_open_win()|; default 'winborder', or else "rounded"
---@field width? number columns, or a share of the screen if below 1
---@field height? number lines at most, or a share of the screen if below 1

---@class memrecall.Keymaps
---@field recall? string normal mode asks for a query, visual mode takes the selection
---@field search? string
---@field status? string

---@class memrecall.Options
---@field socket? string absolute path of the daemon's socket; default as the daemon itself finds it
---@field search_limit? integer notes that |:MemRecallSearch| shows at most, 1 to 100
---@field float? memrecall.FloatOptions
---@field keymaps? memrecall.Keymaps

local defaults = {
  socket = nil,
  search_limit = 10,
  float = { border = nil, width = 0.7, height = 0.7 },
  keymaps = {},
}

local keys = {
  options = { 'socket', 'search_limit', 'float', 'keymaps' },
  float = { 'border', 'width', 'height' },
  keymaps = { 'recall', 'search', 'status' },
}

---@type memrecall.Options
M.options = vim.deepcopy(defaults)

---@param name string
---@param value any
---@param fits boolean
---@param expected string
local function expect(name, value, fits, expected)
  if not fits then
    error(('memrecall: %s: expected %s, got %s'):format(name, expected, vim.inspect(value)), 0)
  end
end

---@param name string
---@param value any
---@param known string[]
local function expect_table(name, value, known)
  expect(name, value, type(value) == 'table', 'a table')
  for key in pairs(value) do
    if not vim.list_contains(known, key) then
      error(
        ('memrecall: %s: unknown option %s; known are %s'):format(
          name,
          vim.inspect(key),
          table.concat(known, ', ')
        ),
        0
      )
    end
  end
end

---@param name string
---@param value any
local function expect_size(name, value)
  expect(name, value, type(value) == 'number' and value > 0, 'a positive number')
end

--- Takes the options over; what is not given has its default.
--- Raises an error that names the option and what was expected.
---@param given? memrecall.Options
function M.set(given)
  given = given or {}
  expect_table('setup', given, keys.options)
  expect_table('float', given.float or {}, keys.float)
  expect_table('keymaps', given.keymaps or {}, keys.keymaps)
  local options = vim.tbl_deep_extend('force', vim.deepcopy(defaults), given)
  if options.socket ~= nil then
    expect('socket', options.socket, type(options.socket) == 'string', 'a path')
    options.socket = vim.fs.normalize(options.socket)
    expect('socket', options.socket, vim.startswith(options.socket, '/'), 'an absolute path')
  end
  local limit = options.search_limit
  expect(
    'search_limit',
    limit,
    type(limit) == 'number' and limit % 1 == 0 and limit >= 1 and limit <= 100,
    'a whole number from 1 to 100'
  )
  local border = options.float.border
  expect(
    'float.border',
    border,
    border == nil or type(border) == 'string' or type(border) == 'table',
    'a name or a list'
  )
  expect_size('float.width', options.float.width)
  expect_size('float.height', options.float.height)
  for action, lhs in pairs(options.keymaps) do
    expect('keymaps.' .. action, lhs, type(lhs) == 'string' and lhs ~= '', 'a key sequence')
  end
  M.options = options
end

return M
