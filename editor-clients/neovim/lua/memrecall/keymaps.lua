--- The mappings that the user asked for in `setup`.

local M = {}

local actions = {
  recall = { { 'n', 'x' }, ':MemRecall<CR>', 'Recall memory notes' },
  search = { 'n', ':MemRecallSearch<CR>', 'Search memory notes' },
  status = { 'n', ':MemRecallStatus<CR>', 'Show the state of memory recall' },
}

--- Maps `keymaps[action]` to the action.
---@param keymaps memrecall.Keymaps
function M.set(keymaps)
  for action, lhs in pairs(keymaps) do
    local modes, rhs, description = unpack(actions[action])
    vim.keymap.set(modes, lhs, rhs, { desc = description, silent = true })
  end
end

return M
