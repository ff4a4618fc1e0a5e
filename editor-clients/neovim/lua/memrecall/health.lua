--- `:checkhealth memrecall`

local client = require('memrecall.client')
local config = require('memrecall.config')
local connection = require('memrecall.connection')
local socket = require('memrecall.socket')
local status_text = require('memrecall.status')
local text = require('memrecall.text')

local M = {}

--- Bound of the whole conversation with the daemon.
local WAIT_MS = 8000

--- Skipped files that are listed; the rest is counted.
local LISTED_FILES = 20

local advice_for_reason = {
  ['unreadable'] = 'Make it readable for yourself (`chmod u+r`), or move it away.',
  ['io-error'] = 'Check the file system.',
  ['vanished'] = 'Remove the link, or make what it leads to.',
  ['outside-roots'] = 'Copy the file, or add the folder that the link leads to as an extra root.',
  ['link-loop'] = 'Remove the link.',
  ['duplicate'] = 'Nothing is lost: the note is read under its own name.',
  ['not-a-regular-file'] = 'Only files are read.',
  ['not-a-directory'] = 'A memory folder must be a folder.',
  ['too-deep'] = 'Move it up some folders.',
  ['name-not-unicode'] = 'Rename it in UTF-8.',
  ['moved'] = 'It is read again at the next recall.',
  ['no-descriptors'] = 'Raise the limit of open files (`ulimit -n`) of the daemon.',
}

local advice_for_health = {
  ['state-in-memory'] = 'Make room on the disk, or the state folder writable.',
  ['cache-off'] = 'Make room on the disk, or the cache folder writable.',
  ['events-off'] = 'Raise fs.inotify.max_user_watches (`sysctl`).',
}

local advice_for_no_project = {
  ['not-given'] = 'Open a file of the project, or start Neovim in its folder.',
  ['filesystem-root'] = 'The root of the file system is never a project: `:cd` to the project.',
  ['home'] = 'The home folder is never a project: `:cd` to the project.',
  ['temporary-folder'] = 'A folder for temporary files is never a project: `:cd` to the project.',
}

--- Waits for what `ask` calls back with.
---@param ask fun(callback: fun(err?: memrecall.Error, value: any))
---@return memrecall.Error? err
---@return any value
local function await(ask)
  local done, err, value = false, nil, nil
  ask(function(...)
    done, err, value = true, ...
  end)
  vim.wait(WAIT_MS, function()
    return done
  end, 5)
  if not done then
    return { code = 'timeout', message = 'the daemon did not answer in time' }
  end
  return err, value
end

---@return boolean usable
local function check_socket()
  vim.health.start('memrecall: socket')
  local path, source = socket.path(config.options.socket)
  if not path then
    vim.health.error(source.message)
    return false
  end
  vim.health.info(('%s (from %s)'):format(path, source))
  local problem = socket.problem(path)
  if not problem then
    vim.health.ok('the socket and its folder belong to this user alone')
    return true
  end
  local advice = problem.code == 'refused'
      and { 'Notes are private: nothing is sent there until that is mended.' }
    or {
      'Start the daemon: `memrecall service install`, or `memrecalld` in a terminal.',
      'If it runs with another socket, set `socket` in `setup`, or MEMRECALLD_SOCKET for both.',
    }
  vim.health.error(problem.message, advice)
  return false
end

---@param status memrecall.Status
local function check_health(status)
  if not status.health then -- the daemon is older than this plugin
    return
  elseif status.health.state == 'ok' then
    vim.health.ok('the daemon finds nothing wrong with itself')
  end
  for _, reason in ipairs(status.health.reasons) do
    local advice = advice_for_health[reason] or '`memrecall doctor` knows more.'
    if reason == 'configuration-not-in-effect' and status.configError then
      advice = text.one_line(status.configError)
    end
    vim.health.warn(status_text.reason(reason), { advice })
  end
end

---@param status memrecall.Status
local function check_selector(status)
  vim.health.start('memrecall: model selector')
  local kind = status.selector.kind
  if kind == 'none' then
    vim.health.ok('none: notes are chosen by their words alone, and all come at once')
    return
  end
  vim.health.ok(kind)
  local failures = {}
  for name, count in pairs(status.counters) do
    local reason = name:match('^selector%.failed%.(.+)$')
    if reason then
      table.insert(failures, ('%s (%d)'):format(reason, count))
    end
  end
  table.sort(failures)
  if #failures > 0 then
    vim.health.warn('selections failed: ' .. table.concat(failures, ', '), {
      'The best matches by words came instead.',
      'Check `base_url`, `model` and the key in the [selector] table of ~/.config/memrecalld/config.toml.',
    })
  end
end

---@param project memrecall.ProjectStatus
local function check_project(project)
  vim.health.start('memrecall: notes of this project')
  if project.root then
    vim.health.ok('project: ' .. text.one_line(project.root))
  else
    vim.health.warn(('no project (%s): only user notes are recalled'):format(project.reason), {
      advice_for_no_project[project.reason] or '`:cd` to the project.',
    })
  end
  local topics = 0
  for _, root in ipairs(project.roots) do
    topics = topics + root.topics
    local notes = root.exists and text.counted(root.topics, 'note') or 'no folder yet'
    vim.health.info(('%s, %s: %s in %s'):format(root.scope, root.layout, notes, text.one_line(root.path)))
  end
  if topics == 0 then
    vim.health.warn('there are no notes, so nothing can be recalled', {
      'Write one: a Markdown file in one of these folders.',
    })
  end
  if #project.skipped == 0 then
    vim.health.ok('no file was skipped')
  end
  for i, skipped in ipairs(project.skipped) do
    if i > LISTED_FILES then
      vim.health.info(
        ('and %d more skipped files (:MemRecallStatus)'):format(#project.skipped - LISTED_FILES)
      )
      break
    end
    vim.health.warn(('skipped (%s): %s'):format(skipped.reason, text.one_line(skipped.path)), {
      advice_for_reason[skipped.reason] or 'See the manual of memrecalld.',
    })
  end
end

local function check_daemon()
  vim.health.start('memrecall: daemon')
  local err, status = await(client.daemon_status)
  if err then
    vim.health.error(err.message, {
      err.code == 'unsupported' and 'Update memrecalld and this plugin together.'
        or 'Look at what the daemon reports: `journalctl --user -u memrecalld`, or its terminal.',
    })
    return
  end
  ---@cast status memrecall.Status
  vim.health.ok(('memrecalld %s answers, process %d'):format(status.version, status.pid))
  vim.health.ok(('protocol version %d, as this plugin speaks it'):format(connection.PROTOCOL_VERSION))
  vim.health.info('session of this Neovim: ' .. client.session_id)
  check_health(status)
  check_selector(status)
  local project_err, of_project = await(function(callback)
    client.status({}, callback)
  end)
  if project_err then
    vim.health.start('memrecall: notes of this project')
    vim.health.error(project_err.message)
  elseif of_project.project then
    check_project(of_project.project)
  end
end

function M.check()
  vim.health.start('memrecall: Neovim')
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok(('Neovim %s'):format(tostring(vim.version())))
  else
    vim.health.error('Neovim 0.10 or newer is needed')
    return
  end
  if check_socket() then
    check_daemon()
  end
end

return M
