--- The daemon's status as lines.

local client = require('memrecall.client')
local connection = require('memrecall.connection')
local render = require('memrecall.render')
local text = require('memrecall.text')

local M = {}

---@param seconds number
---@return string
function M.duration(seconds)
  local whole = math.floor(seconds)
  local days, hours, minutes =
    math.floor(whole / 86400), math.floor(whole / 3600) % 24, math.floor(whole / 60) % 60
  if days > 0 then
    return ('%d d %d h'):format(days, hours)
  elseif hours > 0 then
    return ('%d h %d min'):format(hours, minutes)
  elseif minutes > 0 then
    return ('%d min %d s'):format(minutes, whole % 60)
  end
  return ('%d s'):format(whole)
end

---@param counts table<string, integer>
---@return string[] names in order
local function names(counts)
  local sorted = vim.tbl_keys(counts)
  table.sort(sorted)
  return sorted
end

---@param content memrecall.Lines
---@param name string
---@param value string
local function row(content, name, value)
  render.add(content, ('  %-14s %s'):format(name, text.one_line(value)))
end

---@param content memrecall.Lines
---@param project memrecall.ProjectStatus
local function add_project(content, project)
  render.add(content, '')
  render.add(content, 'Project', 'MemRecallTitle')
  row(content, 'root', project.root or ('none: %s'):format(project.reason or 'unknown'))
  for _, root in ipairs(project.roots) do
    local notes = root.exists and text.counted(root.topics, 'note') or 'no folder'
    row(content, ('%s %s'):format(root.scope, root.layout), ('%s  %s'):format(notes, root.path))
  end
  if #project.skipped > 0 then
    render.add(content, '')
    render.add(content, 'Skipped files', 'MemRecallTitle')
    for _, skipped in ipairs(project.skipped) do
      row(content, skipped.reason, skipped.path)
    end
  end
end

---@param status memrecall.Status
---@return memrecall.Lines
function M.render(status)
  local content = render.new()
  render.add(content, 'memrecalld', 'MemRecallTitle')
  row(content, 'version', ('%s, protocol %d'):format(status.version, status.protocolVersion))
  row(content, 'process', ('%d, up %s'):format(status.pid, M.duration(status.uptimeS)))
  local current = connection.current()
  if current then
    row(content, 'socket', current.path)
  end
  row(content, 'selector', status.selector.kind)
  row(content, 'notes held', tostring(status.topics))
  row(content, 'connections', tostring(status.connections))
  row(content, 'sessions', ('%d, %s'):format(status.sessions, text.counted(status.openTurns, 'open turn')))
  row(content, 'this session', client.session_id)
  local latency = status.latency
  if latency.samples > 0 then
    row(
      content,
      'initial wait',
      ('p50 %.1f ms, p99 %.1f ms (%s)'):format(
        latency.p50,
        latency.p99,
        text.counted(latency.samples, 'turn')
      )
    )
  end
  for _, reason in ipairs(names(status.skipped)) do
    row(content, 'skipped', ('%s: %s'):format(reason, text.counted(status.skipped[reason], 'file')))
  end
  if next(status.counters) then
    render.add(content, '')
    render.add(content, 'Counters', 'MemRecallTitle')
    for _, name in ipairs(names(status.counters)) do
      render.add(content, ('  %-34s %d'):format(name, status.counters[name]))
    end
  end
  if status.project then
    add_project(content, status.project)
  end
  return content
end

return M
