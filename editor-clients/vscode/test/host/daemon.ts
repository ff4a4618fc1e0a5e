/** A real daemon with a private home, for tests in the extension host. */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";

import { until } from "./until";

export class Daemon {
  readonly home = fs.mkdtempSync(path.join(os.tmpdir(), "memrecall-daemon-"));
  readonly socket = path.join(this.home, "run", "memrecalld.sock");
  private process: ChildProcess | undefined;

  /** Start, and return when it accepts connections. */
  async start(config = ""): Promise<void> {
    const configFile = path.join(this.home, "config.toml");
    fs.writeFileSync(configFile, config);
    const [command, ...args] = (process.env["MEMRECALLD_COMMAND"] ?? "memrecalld").split(" ");
    let errors = "";
    const daemon = spawn(command!, [...args, "--socket", this.socket, "--config", configFile], {
      cwd: this.home,
      env: {
        PATH: process.env["PATH"],
        PYTHONPATH: process.env["PYTHONPATH"],
        HOME: this.home,
        XDG_DATA_HOME: path.join(this.home, "data"),
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    daemon.stderr.on("data", (data) => (errors += data));
    daemon.once("error", (error) => (errors += error.message));
    this.process = daemon;
    await until("the daemon serves", async () => {
      if (daemon.exitCode !== null || daemon.pid === undefined) {
        throw new Error(`the daemon did not start: ${errors}`);
      }
      return await accepts(this.socket);
    });
  }

  /** End at once, as a crash would. */
  async kill(): Promise<void> {
    const daemon = this.process;
    this.process = undefined;
    if (daemon !== undefined && daemon.exitCode === null) {
      const ended = new Promise((resolve) => daemon.once("exit", resolve));
      daemon.kill("SIGKILL");
      await ended;
    }
  }

  /** End and leave nothing behind. */
  async remove(): Promise<void> {
    await this.kill();
    fs.rmSync(this.home, { recursive: true, force: true });
  }

  /** Write a note of the user. Returns its path. */
  note(name: string, title: string, description = "", body = ""): string {
    const folder = path.join(this.home, "data", "memrecalld", "user");
    return write(folder, name, title, description, body);
  }

  /** Write a note of a project, where Claude Code keeps its own. */
  projectNote(project: string, name: string, title: string, description = "", body = ""): string {
    const slug = fs.realpathSync(project).replace(/[^A-Za-z0-9]/g, "-");
    return write(path.join(this.home, ".claude", "projects", slug, "memory"), name, title, description, body);
  }
}

function write(folder: string, name: string, title: string, description: string, body: string): string {
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  fs.writeFileSync(file, `---\nname: ${title}\ndescription: ${description}\ntype: project\n---\n\n${body}\n`);
  return file;
}

function accepts(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
