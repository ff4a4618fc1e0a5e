--- What the commands do.

local client = require('memrecall.client')
local config = require('memrecall.config')
local float = require('memrecall.float')
local query = require('memrecall.query')
local recall = require('memrecall.recall')
local render = require('memrecall.render')
local status = require('memrecall.status')
local text = require('memrecall.text')

local M = {}

---@param content memrecall.Lines
local function show(content)
  float.open(function() end):show(content)
end

---@param err memrecall.Error
local function show_error(err)
  local content = render.new()
  render.add(content, text.one_line(err.message), 'MemRecallError')
  render.add(content, 'See :checkhealth memrecall', 'MemRecallStatus')
  show(content)
end

--- `:MemRecall`
---@param command vim.api.keyset.create_user_command.command_args
function M.recall(command)
  local buf = float.buffer()
  query.of_command(command, 'Recall notes for: ', function(asked)
    recall.show(asked, buf)
  end)
end

--- `:MemRecallSearch`
---@param command vim.api.keyset.create_user_command.command_args
function M.search(command)
  local buf = float.buffer()
  query.of_command(command, 'Search notes: ', function(asked)
    client.search(asked, { buf = buf, limit = config.options.search_limit }, function(err, documents)
      if err then
        show_error(err)
        return
      end
      local content = render.new()
      local found = #documents > 0 and text.counted(#documents, 'note') or 'No notes match this query'
      render.add(content, 'Search: ' .. text.one_line(asked, 60), 'MemRecallStatus')
      render.add(content, found .. '.', 'MemRecallStatus')
      for number, document in ipairs(documents) do
        render.add_note(content, document, number, false)
      end
      show(content)
    end)
  end)
end

--- `:MemRecallStatus`
function M.status()
  client.status({ buf = float.buffer() }, function(err, answer)
    if err then
      show_error(err)
    else
      show(status.render(answer))
    end
  end)
end

return M
