-- Defines the commands; nothing else is loaded before one of them is used.

if vim.g.loaded_memrecall then
  return
end
vim.g.loaded_memrecall = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('memrecall needs Neovim 0.10 or newer', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('MemRecall', function(command)
  require('memrecall.commands').recall(command)
end, {
  nargs = '*',
  range = true,
  desc = 'Recall memory notes for a query, the selected text, or both',
})

vim.api.nvim_create_user_command('MemRecallSearch', function(command)
  require('memrecall.commands').search(command)
end, { nargs = '*', desc = 'Search the memory notes, outside any session' })

vim.api.nvim_create_user_command('MemRecallStatus', function()
  require('memrecall.commands').status()
end, { desc = 'Show what the memrecalld daemon holds' })
