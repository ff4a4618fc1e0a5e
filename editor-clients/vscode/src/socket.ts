/**
 * The way to the daemon: where its socket is, and whether it is this user's own. Notes are private, and so is what a
 * user asks: none of it goes to a socket that others could have put there.
 */
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";

/** `sun_path` holds 108 bytes with the closing NUL (unix(7)). */
const MAX_PATH_BYTES = 107;

/** There is no daemon to talk to. The message names the next step and holds no query, no note and no project. */
export class DaemonUnavailable extends Error {}

/**
 * The socket's path as the daemon itself decides it: `$MEMRECALLD_SOCKET`, the runtime folder (`$XDG_RUNTIME_DIR`, or
 * what systemd-logind makes for the user), or a folder in `/tmp`.
 */
export function defaultSocketPath(environment: NodeJS.ProcessEnv, uid: number): string {
  const override = environment["MEMRECALLD_SOCKET"];
  if (override) {
    if (!path.isAbsolute(override)) {
      throw new DaemonUnavailable("MEMRECALLD_SOCKET must be an absolute path");
    }
    return override;
  }
  const runtime = environment["XDG_RUNTIME_DIR"];
  if (runtime && path.isAbsolute(runtime)) {
    return path.join(runtime, "memrecalld", "memrecalld.sock");
  }
  const ofUser = `/run/user/${uid}`;
  return isPrivate(ofUser, uid)
    ? `${ofUser}/memrecalld/memrecalld.sock`
    : `/tmp/memrecalld-${uid}/memrecalld.sock`;
}

/**
 * Connect, after checking that the socket and its folder are this user's and that nobody else may write to the folder.
 * Rejected with `DaemonUnavailable`, also when `signal` is aborted.
 */
export async function connect(socketPath: string, uid: number, signal: AbortSignal): Promise<net.Socket> {
  checkOwner(socketPath, uid);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path: socketPath, signal });
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      // A broken pipe is ordinary, and the close that follows it says enough.
      socket.on("error", () => undefined);
      resolve(socket);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      reject(new DaemonUnavailable(explain(socketPath, error)));
    });
  });
}

function checkOwner(socketPath: string, uid: number): void {
  if (Buffer.byteLength(socketPath) > MAX_PATH_BYTES) {
    throw new DaemonUnavailable(
      `the path of the socket is longer than ${MAX_PATH_BYTES} bytes, so that no socket can be there; ` +
        "set a shorter one with memrecall.socketPath or MEMRECALLD_SOCKET",
    );
  }
  const folder = path.dirname(socketPath);
  let place: fs.Stats;
  let found: fs.Stats;
  try {
    place = fs.lstatSync(folder);
    found = fs.lstatSync(socketPath);
  } catch (error) {
    throw new DaemonUnavailable(explain(socketPath, error as NodeJS.ErrnoException));
  }
  if (!place.isDirectory() || place.uid !== uid) {
    throw new DaemonUnavailable(`refused ${socketPath}: ${folder} is not a folder of user ${uid}`);
  }
  if (writableByOthers(place)) {
    throw new DaemonUnavailable(
      `refused ${socketPath}: others may write to its folder; chmod 700 ${folder}`,
    );
  }
  if (!found.isSocket() || found.uid !== uid) {
    throw new DaemonUnavailable(`refused ${socketPath}: it is not a socket of user ${uid}`);
  }
}

function explain(socketPath: string, error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ENOENT":
    case "ECONNREFUSED":
      return `no memrecalld serves ${socketPath}; start it: memrecalld`;
    default:
      return `${socketPath} cannot be reached (${error.code ?? error.name})`;
  }
}

function isPrivate(folder: string, uid: number): boolean {
  try {
    const found = fs.lstatSync(folder);
    return found.isDirectory() && found.uid === uid && !writableByOthers(found);
  } catch {
    return false;
  }
}

function writableByOthers(found: fs.Stats): boolean {
  return (found.mode & (fs.constants.S_IWGRP | fs.constants.S_IWOTH)) !== 0;
}
