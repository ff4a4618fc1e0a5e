// One code-server with a private home, on a free port of this machine.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const START_MS = 60_000;

/** Nothing that asks, greets, updates or reports. */
const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
};

/**
 * Start a code-server that keeps everything it writes under `work`.
 *
 * `vsix` is installed first, if given; `environment` is added to that of the extension host.
 * Returns its `url` and `close()`.
 */
export async function startCodeServer({ tools, work, vsix, settings = {}, environment = {} }) {
  const user = join(work, "user");
  mkdirSync(join(user, "User"), { recursive: true });
  mkdirSync(join(work, "home"), { recursive: true });
  writeFileSync(join(work, "config.yaml"), "");
  writeFileSync(join(user, "User", "settings.json"), JSON.stringify({ ...SETTINGS, ...settings }));
  const entry = join(tools, "node_modules", "code-server", "out", "node", "entry.js");
  const places = ["--user-data-dir", user, "--extensions-dir", join(work, "ext"), "--config", join(work, "config.yaml")];
  const options = {
    env: {
      ...process.env,
      EXTENSIONS_GALLERY: '{"serviceUrl":""}',
      HOME: join(work, "home"),
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  };
  if (vsix !== undefined) {
    await finished(spawn(process.execPath, [entry, ...places, "--install-extension", vsix], options));
  }
  const server = spawn(
    process.execPath,
    [
      entry,
      ...places,
      ...["--bind-addr", "127.0.0.1:0", "--auth", "none", "--ignore-last-opened"],
      ...["--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", "--disable-proxy"],
      "--disable-getting-started-override",
    ],
    options,
  );
  const url = await listening(server);
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.once("exit", resolve);
        server.kill("SIGTERM");
      }),
  };
}

function listening(server) {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (why) => reject(new Error(`code-server ${why}:\n${output}`));
    const timer = setTimeout(() => {
      server.kill("SIGKILL");
      fail("did not start");
    }, START_MS);
    const read = (data) => {
      output += data;
      const found = /server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]);
      }
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
    server.once("exit", (code) => fail(`ended with ${code}`));
  });
}

function finished(process) {
  return new Promise((resolve, reject) => {
    let output = "";
    process.stdout.on("data", (data) => (output += data));
    process.stderr.on("data", (data) => (output += data));
    process.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`code-server could not install the extension:\n${output}`)),
    );
  });
}
