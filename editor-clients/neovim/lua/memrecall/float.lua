--- A window over the others that shows lines and opens the notes in them.

local config = require('memrecall.config')

local M = {}

local namespace = vim.api.nvim_create_namespace('memrecall')

---@class memrecall.Float
---@field buf integer
---@field win integer
---@field private _notes { first: integer, last: integer, path: string }[]
---@field private _origin integer window that was current before
local Float = {}
Float.__index = Float

---@type memrecall.Float?
local shown

local function define_highlights()
  for group, link in pairs({
    MemRecallTitle = 'Title',
    MemRecallMeta = 'Comment',
    MemRecallDescription = 'Special',
    MemRecallStatus = 'Comment',
    MemRecallError = 'ErrorMsg',
  }) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

---@param size number
---@param available integer
---@return integer
local function absolute(size, available)
  local wanted = size < 1 and math.floor(size * available) or math.floor(size)
  return math.max(1, math.min(wanted, available))
end

---@return vim.api.keyset.win_config
local function frame()
  local options = config.options.float
  local border = options.border
  if border == nil and (vim.fn.exists('+winborder') == 0 or vim.o.winborder == '') then
    border = 'rounded'
  end
  local columns, lines = vim.o.columns - 2, vim.o.lines - vim.o.cmdheight - 3
  local width, height = absolute(options.width, columns), absolute(options.height, lines)
  return {
    relative = 'editor',
    row = math.max(0, math.floor((lines - height) / 2)),
    col = math.max(0, math.floor((columns - width) / 2)),
    width = width,
    height = height,
    border = border,
  }
end

--- Shows an empty float in place of an earlier one.
---@param on_close fun() called once, when the float is gone for whatever reason
---@return memrecall.Float
function M.open(on_close)
  M.close()
  define_highlights()
  local self = setmetatable({ _notes = {}, _origin = vim.api.nvim_get_current_win() }, Float)
  self.buf = vim.api.nvim_create_buf(false, true)
  vim.bo[self.buf].bufhidden = 'wipe'
  vim.bo[self.buf].filetype = 'memrecall'
  vim.bo[self.buf].modifiable = false
  self.win = vim.api.nvim_open_win(
    self.buf,
    true,
    vim.tbl_extend('force', frame(), { style = 'minimal', noautocmd = false })
  )
  vim.wo[self.win].wrap = true
  vim.wo[self.win].linebreak = true
  vim.wo[self.win].breakindent = true
  local function map(lhs, rhs, description)
    vim.keymap.set('n', lhs, rhs, { buffer = self.buf, nowait = true, desc = description })
  end
  map('q', function()
    self:close()
  end, 'Close')
  map('<CR>', function()
    self:open_note()
  end, 'Open the note under the cursor')
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = self.buf,
    once = true,
    callback = function()
      if shown == self then
        shown = nil
      end
      on_close()
    end,
  })
  shown = self
  return self
end

--- Closes the float that is shown, if any.
function M.close()
  if shown then
    shown:close()
  end
end

--- The buffer that a command is about: the current one, or the one that the current float was opened from.
---@return integer
function M.buffer()
  local buf = vim.api.nvim_get_current_buf()
  if shown and shown.buf == buf and vim.api.nvim_win_is_valid(shown._origin) then
    return vim.api.nvim_win_get_buf(shown._origin)
  end
  return buf
end

---@return boolean
function Float:is_open()
  return shown == self
end

function Float:close()
  if vim.api.nvim_buf_is_valid(self.buf) then
    vim.api.nvim_buf_delete(self.buf, { force = true })
  end
end

--- Shows `content` and nothing else. The cursor goes to the first note when there is one, and then stays
--- where it is.
---@param content memrecall.Lines
function Float:show(content)
  if not self:is_open() then
    return
  end
  local are_first = #self._notes == 0
  self._notes = content.notes
  vim.bo[self.buf].modifiable = true
  vim.api.nvim_buf_set_lines(self.buf, 0, -1, false, content.lines)
  vim.bo[self.buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(self.buf, namespace, 0, -1)
  for _, highlight in ipairs(content.highlights) do
    vim.api.nvim_buf_set_extmark(self.buf, namespace, highlight.row, 0, {
      end_row = highlight.row + 1,
      hl_group = highlight.group,
      strict = false,
    })
  end
  if vim.api.nvim_win_is_valid(self.win) then
    local place = frame()
    local needed = vim.api.nvim_win_text_height(self.win, {}).all
    place.row = place.row + math.floor(math.max(0, place.height - needed) / 2)
    place.height = math.max(1, math.min(place.height, needed))
    vim.api.nvim_win_set_config(self.win, place)
    if are_first and content.notes[1] then
      vim.api.nvim_win_set_cursor(self.win, { content.notes[1].first + 1, 0 })
    end
  end
end

--- Opens the file of the note under the cursor in the window the float was opened from.
function Float:open_note()
  local row = vim.api.nvim_win_get_cursor(self.win)[1] - 1
  for _, note in ipairs(self._notes) do
    if row >= note.first and row <= note.last then
      if not vim.uv.fs_stat(note.path) then
        vim.notify('memrecall: the file of this note is gone', vim.log.levels.WARN)
        return
      end
      local origin = self._origin
      self:close()
      if vim.api.nvim_win_is_valid(origin) then
        vim.api.nvim_set_current_win(origin)
      end
      local opened, problem = pcall(vim.cmd, {
        cmd = vim.wo.winfixbuf and 'split' or 'edit',
        args = { note.path },
        magic = { file = false, bar = false },
      })
      if not opened then
        vim.notify('memrecall: ' .. problem, vim.log.levels.ERROR)
      end
      return
    end
  end
end

return M
