--- Notes as lines of a buffer.

local text = require('memrecall.text')

local M = {}

--- Words that explain a match; more would hide the note.
local EXPLAINED_TERMS = 6

---@class memrecall.Lines
---@field lines string[]
---@field highlights { row: integer, group: string }[] whole lines; rows count from 0
---@field notes { first: integer, last: integer, path: string }[] rows that show a note, both inclusive

---@return memrecall.Lines
function M.new()
  return { lines = {}, highlights = {}, notes = {} }
end

---@param into memrecall.Lines
---@param line string
---@param group? string
function M.add(into, line, group)
  if group then
    table.insert(into.highlights, { row = #into.lines, group = group })
  end
  table.insert(into.lines, line)
end

--- Why a note is there: the words that match with the fields they stand in, the heaviest first.
---@param document memrecall.Document
---@param by_model boolean
---@return string
local function why(document, by_model)
  local terms, by_term = {}, {}
  for _, match in ipairs(document.matched or {}) do
    local entry = by_term[match.term]
    if not entry then
      entry = { term = match.term, fields = {}, weight = 0 }
      by_term[match.term] = entry
      table.insert(terms, entry)
    end
    table.insert(entry.fields, match.field)
    entry.weight = entry.weight + match.weight
  end
  table.sort(terms, function(a, b)
    if a.weight ~= b.weight then
      return a.weight > b.weight
    end
    return a.term < b.term
  end)
  local parts = {}
  for i = 1, math.min(#terms, EXPLAINED_TERMS) do
    parts[i] = ('%s (%s)'):format(terms[i].term, table.concat(terms[i].fields, ', '))
  end
  if #terms > EXPLAINED_TERMS then
    parts[#parts + 1] = ('and %d more'):format(#terms - EXPLAINED_TERMS)
  end
  local matched = #parts > 0 and 'matched ' .. table.concat(parts, ', ') or nil
  if by_model then
    return matched and 'chosen by the model; ' .. matched or 'chosen by the model'
  end
  return matched or 'matches the query'
end

--- Adds one note.
---@param into memrecall.Lines
---@param document memrecall.Document
---@param number integer
---@param by_model boolean
function M.add_note(into, document, number, by_model)
  M.add(into, '')
  local first = #into.lines
  M.add(into, ('%d. %s'):format(number, text.one_line(document.title)), 'MemRecallTitle')
  local facts = { document.scope, document.type, document.age }
  if document.score then
    table.insert(facts, ('score %.2f'):format(document.score))
  end
  M.add(into, '   ' .. table.concat(facts, ' · '), 'MemRecallMeta')
  M.add(into, '   ' .. text.one_line(why(document, by_model)), 'MemRecallMeta')
  M.add(into, '   ' .. text.one_line(document.relativePath), 'MemRecallMeta')
  if document.description ~= '' and document.description ~= document.title then
    M.add(into, '   ' .. text.one_line(document.description), 'MemRecallDescription')
  end
  if document.body ~= '' then
    M.add(into, '')
    for _, line in ipairs(text.lines(document.body)) do
      M.add(into, line == '' and '' or '   ' .. line)
    end
  end
  if document.truncated then
    M.add(into, '   (shortened: the note goes on in its file)', 'MemRecallMeta')
  end
  table.insert(into.notes, { first = first, last = #into.lines - 1, path = document.path })
end

return M
