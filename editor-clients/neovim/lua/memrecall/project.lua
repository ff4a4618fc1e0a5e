--- The project that a buffer belongs to.

local errors = require('memrecall.errors')
local text = require('memrecall.text')

local M = {}

--- The nearest folder above the buffer's file with a `.git` in it, or the current folder; nil if that is
--- gone.
---@param buf integer 0 for the current buffer, which also stands in for one that is gone
---@return string?
function M.root(buf)
  local within = vim.api.nvim_buf_is_valid(buf) and buf or 0
  return vim.fs.root(within, '.git') or vim.uv.cwd()
end

--- The project of a call: the one given, or the buffer's.
---@param given? string absolute path
---@param buf? integer default the current buffer
---@return string? root
---@return memrecall.Error? error for a path that no message can hold: it would arrive as another one
function M.of_call(given, buf)
  local root = given or M.root(buf or 0)
  if root and not text.is_utf8(root) then
    return nil, errors.new('invalid', "the project's path is not UTF-8 text; rename the folder")
  end
  return root
end

return M
