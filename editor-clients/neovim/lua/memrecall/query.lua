--- The query of a command: its arguments, the text it was given as a range, or what the user types.

local M = {}

--- Text of the command's range: the selection exactly, where the range is that of the last selection.
---@param command vim.api.keyset.create_user_command.command_args
---@return string?
local function ranged(command)
  if command.range == 0 then
    return nil
  end
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local lines
  if command.range == 2 and command.line1 == from[2] and command.line2 == to[2] then
    lines = vim.fn.getregion(from, to, { type = vim.fn.visualmode() })
  else
    lines = vim.api.nvim_buf_get_lines(0, command.line1 - 1, command.line2, false)
  end
  return table.concat(lines, '\n')
end

--- Calls `callback(query)`: with the command's arguments, with the text of its range, with both, or else with
--- what the user types. Not called when the user gives up or types nothing.
---@param command vim.api.keyset.create_user_command.command_args
---@param prompt string
---@param callback fun(query: string)
function M.of_command(command, prompt, callback)
  local parts = {}
  if command.args ~= '' then
    table.insert(parts, command.args)
  end
  table.insert(parts, ranged(command))
  local query = vim.trim(table.concat(parts, '\n'))
  if query ~= '' then
    callback(query)
    return
  end
  vim.ui.input({ prompt = prompt }, function(typed)
    typed = vim.trim(typed or '')
    if typed ~= '' then
      callback(typed)
    end
  end)
end

return M
