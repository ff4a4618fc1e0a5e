import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { connect, DaemonUnavailable, defaultSocketPath } from "../../src/socket";

const uid = os.userInfo().uid;
const never = new AbortController().signal;
let folder = "";
let socketPath = "";
let server: net.Server;

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "memrecall-socket-"));
  socketPath = path.join(folder, "s");
  server = net.createServer((peer) => peer.end("hello"));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  fs.rmSync(folder, { recursive: true });
});

test("the first place that applies is the daemon's socket", () => {
  const runtime = { XDG_RUNTIME_DIR: "/run/me" };
  assert.equal(defaultSocketPath({ ...runtime, MEMRECALLD_SOCKET: "/s" }, uid), "/s");
  assert.equal(defaultSocketPath({ ...runtime, MEMRECALLD_SOCKET: "" }, uid), "/run/me/memrecalld/memrecalld.sock");
  const nobody = 3_999_999_999;
  for (const environment of [{}, { XDG_RUNTIME_DIR: "relative" }, { TMPDIR: "/elsewhere" }]) {
    assert.equal(defaultSocketPath(environment, nobody), `/tmp/memrecalld-${nobody}/memrecalld.sock`);
  }
});

test("a relative socket path is refused", () => {
  assert.throws(() => defaultSocketPath({ MEMRECALLD_SOCKET: "s" }, uid), DaemonUnavailable);
});

test("a socket of this user in a private folder is connected to", async () => {
  const socket = await connect(socketPath, uid, never);
  const received = await new Promise((resolve) => socket.once("data", resolve));
  assert.equal(String(received), "hello");
  socket.destroy();
});

async function refused(message: RegExp, asUser = uid, signal = never): Promise<void> {
  await assert.rejects(
    connect(socketPath, asUser, signal),
    (error) => error instanceof DaemonUnavailable && message.test(error.message),
  );
}

test("nothing is sent into a folder that others may write to", async () => {
  fs.chmodSync(folder, 0o777);
  await refused(/chmod 700/);
});

test("nothing is sent to a socket or folder of another user", async () => {
  await refused(/not a folder of user/, uid + 1);
});

test("a file that is no socket is refused", async () => {
  socketPath = path.join(folder, "file");
  fs.writeFileSync(socketPath, "");
  await refused(/not a socket/);
});

test("a path that is too long for a socket is said to be the cause", async () => {
  for (const name of ["x".repeat(200), "é".repeat(54)]) {
    socketPath = `/tmp/${name}`;
    await refused(/longer than 107 bytes.*memrecall\.socketPath or MEMRECALLD_SOCKET/);
  }
  socketPath = path.join(folder, "s".repeat(107 - folder.length - 1));
  await refused(/start it/);
});

test("a missing and a dead socket say how to start the daemon", async () => {
  const dead = path.join(folder, "dead");
  fs.linkSync(socketPath, dead);
  await new Promise((resolve) => server.close(resolve));
  socketPath = path.join(folder, "missing");
  await refused(/start it/);
  socketPath = dead;
  await refused(/start it/);
});

test("an attempt can be given up", async () => {
  await refused(/cannot be reached/, uid, AbortSignal.abort());
});
