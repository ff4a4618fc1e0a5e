--- Which socket the daemon serves, and whether it may be trusted.
---
--- Notes are private, and so is what a user asks: nothing goes to a socket that another user could have put
--- there.

local errors = require('memrecall.errors')

local M = {}

--- `sun_path` holds 108 bytes with the closing NUL (unix(7)); libuv would cut a longer path silently.
local MAX_PATH_BYTES = 107

--- Pause before trying again to connect to a daemon whose queue of new connections is full.
local RETRY_MS = 10

--- Write permission of group and others, S_IWGRP | S_IWOTH.
local WRITABLE_BY_OTHERS = tonumber('22', 8)

local START = 'start it with `memrecall service install` or `memrecalld`'

---@param stat uv.fs_stat.result?
local function is_ours(stat)
  return stat ~= nil and stat.uid == vim.uv.getuid()
end

---@param stat uv.fs_stat.result
local function writable_by_others(stat)
  return bit.band(stat.mode, WRITABLE_BY_OTHERS) ~= 0
end

--- The absolute path of the daemon's socket, found as the daemon itself finds it; nothing is created.
---@param configured? string the option of `setup`, which goes first
---@return string? path
---@return string|memrecall.Error source where the path comes from, or what is wrong
function M.path(configured)
  if configured then
    return configured, 'the option `socket`'
  end
  local override = vim.env.MEMRECALLD_SOCKET
  if override and override ~= '' then
    if not vim.startswith(override, '/') then
      return nil, errors.new('unavailable', 'MEMRECALLD_SOCKET must be an absolute path; correct or unset it')
    end
    return override, 'MEMRECALLD_SOCKET'
  end
  -- The XDG Base Directory Specification 0.8 wants relative values ignored.
  local runtime = vim.env.XDG_RUNTIME_DIR
  if runtime and vim.startswith(runtime, '/') then
    return runtime:gsub('/+$', '') .. '/memrecalld/memrecalld.sock', 'XDG_RUNTIME_DIR'
  end
  local uid = vim.uv.getuid()
  runtime = ('/run/user/%d'):format(uid)
  local stat = vim.uv.fs_lstat(runtime)
  if stat and stat.type == 'directory' and is_ours(stat) and not writable_by_others(stat) then
    return runtime .. '/memrecalld/memrecalld.sock', "this user's runtime folder"
  end
  return ('/tmp/memrecalld-%d/memrecalld.sock'):format(uid), 'the last resort without a runtime folder'
end

--- What speaks against sending anything to the socket at `path`; nil for nothing.
---@param path string
---@return memrecall.Error?
function M.problem(path)
  if #path > MAX_PATH_BYTES then
    return errors.new(
      'unavailable',
      (
        'the path of the socket is longer than %d bytes, so that no socket can be there; '
        .. 'set a shorter one with the option `socket` or MEMRECALLD_SOCKET'
      ):format(MAX_PATH_BYTES)
    )
  end
  local folder = vim.fs.dirname(path)
  local place, place_error, place_code = vim.uv.fs_lstat(folder)
  local found, found_error, found_code = vim.uv.fs_lstat(path)
  if place_code == 'ENOENT' or (place and found_code == 'ENOENT') then
    return errors.new('unavailable', ('no memrecalld serves %s; %s'):format(path, START))
  elseif not place or not found then
    return errors.new(
      'unavailable',
      ('%s cannot be reached: %s'):format(path, place_error or found_error or 'unknown reason')
    )
  elseif place.type ~= 'directory' or not is_ours(place) then
    return errors.new('refused', ('%s is not a folder of this user; nothing was sent there'):format(folder))
  elseif writable_by_others(place) then
    return errors.new(
      'refused',
      ('others may write to the folder of the socket; mend it with `chmod 700 %s`'):format(folder)
    )
  elseif found.type ~= 'socket' or not is_ours(found) then
    return errors.new('refused', ('%s is not a socket of this user; nothing was sent there'):format(path))
  end
end

--- Finds out whether somebody listens at `path`, by a connection that is closed at once.
---
--- |vim.lsp.rpc.connect()| tells a failed connection to nobody but the user, each time.
---@param path string
---@param wait_ms integer how long a full queue of new connections is waited for
---@param done fun(err?: memrecall.Error) called once, not in a fast context
function M.probe(path, wait_ms, done)
  local deadline = vim.uv.now() + wait_ms
  local function attempt()
    local pipe = assert(vim.uv.new_pipe(false))
    pipe:connect(path, function(failure)
      pipe:close()
      if failure == 'EAGAIN' and vim.uv.now() < deadline then
        vim.defer_fn(attempt, RETRY_MS)
        return
      end
      vim.schedule(function()
        if not failure then
          done()
        elseif failure == 'ECONNREFUSED' or failure == 'ENOENT' then
          done(errors.new('unavailable', ('no memrecalld serves %s; %s'):format(path, START)))
        else
          done(errors.new('unavailable', ('%s cannot be reached: %s'):format(path, failure)))
        end
      end)
    end)
  end
  attempt()
end

return M
