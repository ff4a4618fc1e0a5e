-- What the tests ask a Neovim for.

T = { told = {}, counts = {} }

--- Counts `what`, in `T.counts`.
function T.count(what)
  T.counts[what] = (T.counts[what] or 0) + 1
end

---@diagnostic disable-next-line: duplicate-set-field
vim.notify = function(message)
  table.insert(T.told, message)
end

--- The window of the plugin's float, if there is one.
function T.win()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == 'memrecall' then
      return win
    end
  end
end

--- The text of the float; empty without one.
function T.float()
  local win = T.win()
  return win and table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), '\n')
    or ''
end

--- Puts the cursor of the float on the line with `text`.
function T.go_to(text)
  local lines = vim.split(T.float(), '\n', { plain = true })
  for row, line in ipairs(lines) do
    if line:find(text, 1, true) then
      vim.api.nvim_win_set_cursor(T.win(), { row, 0 })
      return
    end
  end
  error('the float does not show ' .. text)
end
