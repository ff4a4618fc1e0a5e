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

--- Opens a turn, in `T.turn`, and keeps what its callbacks get.
function T.start(options)
  T.fast, T.fast_error, T.outcome, T.end_error = nil, nil, nil, nil
  T.turn = require('memrecall').start(options, function(err, fast)
    T.count('fast')
    T.fast_error, T.fast = err, fast
  end)
  T.turn:on_end(function(err, outcome)
    T.count('ended')
    T.end_error, T.outcome = err, outcome
  end)
end

--- Asks the turn at a tool result, and keeps the answer.
function T.ask(tool, max_prompt_chars)
  T.result, T.result_error = nil, nil
  T.turn:tool_result(tool, function(err, result)
    T.result_error, T.result = err, result
  end, max_prompt_chars)
end

--- The titles of the notes in a fast result or a tool result; nil without a delivery.
function T.titles(of)
  return of.delivery
    and vim.tbl_map(function(document)
      return document.title
    end, of.delivery.documents)
end
