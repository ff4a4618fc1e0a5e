--- Text on its way to the daemon and to the screen.

local M = {}

--- Bytes of a query that are kept of each end of a longer one. The daemon ranks by a bounded number of words
--- from both ends, and reads no message above 4 MiB, which JSON's escapes must not push a query over.
local QUERY_END_BYTES = 256 * 1024

local REPLACEMENT = '\u{fffd}'

--- The length of the well-formed UTF-8 sequence at byte `i`, by table 3-7 of the Unicode Standard; nil if
--- there is none.
---@param text string
---@param i integer
---@return integer?
local function sequence_length(text, i)
  local a, b, c, d = text:byte(i, i + 3)
  local function tail(byte, low, high)
    return byte ~= nil and byte >= (low or 0x80) and byte <= (high or 0xbf)
  end
  if a < 0x80 then
    return 1
  elseif a >= 0xc2 and a <= 0xdf then
    return tail(b) and 2 or nil
  elseif a >= 0xe0 and a <= 0xef then
    local low = a == 0xe0 and 0xa0 or nil
    local high = a == 0xed and 0x9f or nil
    return tail(b, low, high) and tail(c) and 3 or nil
  elseif a >= 0xf0 and a <= 0xf4 then
    local low = a == 0xf0 and 0x90 or nil
    local high = a == 0xf4 and 0x8f or nil
    return tail(b, low, high) and tail(c) and tail(d) and 4 or nil
  end
end

--- Whether `text` is UTF-8, and so may stand in a message.
---@param text string
---@return boolean
function M.is_utf8(text)
  local i = 1
  while true do
    i = text:find('[\128-\255]', i)
    if not i then
      return true
    end
    local length = sequence_length(text, i)
    if not length then
      return false
    end
    i = i + length
  end
end

--- `text` as UTF-8: buffers may hold any bytes, and one bad byte would lose the whole message.
---@param text string
---@return string
function M.to_utf8(text)
  if M.is_utf8(text) then
    return text
  end
  local parts, i, start = {}, 1, 1
  while i <= #text do
    local length = sequence_length(text, i)
    if length then
      i = i + length
    else
      parts[#parts + 1] = text:sub(start, i - 1) .. REPLACEMENT
      i = i + 1
      start = i
    end
  end
  parts[#parts + 1] = text:sub(start)
  return table.concat(parts)
end

--- `query` as it is sent: UTF-8, and without the middle of what is beyond any use for ranking.
---@param query string
---@return string
function M.query(query)
  if #query > 2 * QUERY_END_BYTES then
    query = query:sub(1, QUERY_END_BYTES) .. '\n' .. query:sub(-QUERY_END_BYTES)
  end
  return M.to_utf8(query)
end

--- `text` on one line, at most `width` columns of it.
---@param text string
---@param width? integer
---@return string
function M.one_line(text, width)
  text = vim.trim((text:gsub('[%c%s]+', ' ')))
  if width and vim.fn.strdisplaywidth(text) > width then
    text = vim.fn.strcharpart(text, 0, width, true)
    while vim.fn.strdisplaywidth(text) > width - 1 do
      text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text, true) - 1, true)
    end
    text = text .. '…'
  end
  return text
end

--- The lines of `text`, as a buffer takes them.
---@param text string
---@return string[]
function M.lines(text)
  return vim.split((text:gsub('\r\n?', '\n')), '\n', { plain = true })
end

--- `1 note`, `2 notes`.
---@param number integer
---@param noun string
---@return string
function M.counted(number, noun)
  return ('%d %s%s'):format(number, noun, number == 1 and '' or 's')
end

return M
