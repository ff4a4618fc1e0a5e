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

local less_good = {
  ['state-in-memory'] = 'what was delivered cannot be written down; a restart forgets it',
  ['cache-off'] = 'parsed notes are not kept on disk; each start reads them all',
  ['notes-set-aside'] = 'the database of parsed notes was damaged, and begun afresh',
  ['sessions-set-aside'] = 'the record of deliveries was damaged, and begun afresh',
  ['events-off'] = 'the system has no file events left; files are compared at each recall',
  ['selector-failing'] = 'the model does not choose; the best matches by words come instead',
  ['configuration-not-in-effect'] = 'the configuration file cannot be used; the one before is in effect',
}

--- What a reason of the daemon's health means; one that a newer daemon added is its own explanation.
---@param reason string
---@return string
function M.reason(reason)
  return less_good[reason] or reason
end

---@param content memrecall.Lines
---@param status memrecall.Status
local function add_health(content, status)
  if status.health then
    row(content, 'health', status.health.state)
    for _, reason in ipairs(status.health.reasons) do
      row(content, '', M.reason(reason))
    end
  end
  if status.configError then
    row(content, 'configuration', status.configError)
  end
end

---@param content memrecall.Lines
---@param latency memrecall.Latency
local function add_latency(content, latency)
  row(
    content,
    'initial wait',
    ('p50 %.1f, p90 %.1f, p99 %.1f, max %.1f ms (%s)'):format(
      latency.p50,
      latency.p90,
      latency.p99,
      latency.max,
      text.counted(latency.samples, 'turn')
    )
  )
end

---@param status memrecall.Status
---@return memrecall.Lines
function M.render(status)
  local content = render.new()
  render.add(content, 'memrecalld', 'MemRecallTitle')
  row(content, 'version', ('%s, protocol %d'):format(status.version, status.protocolVersion))
  row(content, 'process', ('%d, up %s'):format(status.pid, M.duration(status.uptimeS)))
  add_health(content, status)
  local current = connection.current()
  if current then
    row(content, 'socket', current.path)
  end
  row(content, 'selector', status.selector.kind)
  if status.capabilities then
    row(content, 'layouts', table.concat(status.capabilities.layouts, ', '))
  end
  row(content, 'notes held', tostring(status.topics))
  row(content, 'connections', tostring(status.connections))
  row(content, 'sessions', ('%d, %s'):format(status.sessions, text.counted(status.openTurns, 'open turn')))
  row(content, 'this session', client.session_id)
  if status.latency and status.latency.samples > 0 then
    add_latency(content, status.latency)
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
