// What the tests need beside the extension's own packages: a VS Code that runs headless, and the way to drive it.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const PACKAGES = {
  private: true,
  dependencies: { "code-server": "4.100.3", "playwright-core": "1.65.1" },
};

/**
 * The folder whose `node_modules` holds the tools. They are installed on first use into the user's cache
 * ($XDG_CACHE_HOME), never into the source tree.
 */
export async function prepareTools() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const name = createHash("sha256").update(JSON.stringify(PACKAGES) + process.version).digest("hex").slice(0, 16);
  const folder = join(cache, "memrecall-vscode-tests", name);
  if (!existsSync(folder)) {
    const unfinished = `${folder}.${process.pid}`;
    mkdirSync(unfinished, { recursive: true });
    try {
      await install(unfinished);
      renameSync(unfinished, folder);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(folder)) {
        throw error; // else somebody else was faster
      }
    }
  }
  return folder;
}

async function install(folder) {
  writeFileSync(join(folder, "package.json"), JSON.stringify(PACKAGES));
  await npm(folder, "install", "--ignore-scripts");
  const vscode = join(folder, "node_modules", "code-server", "lib", "vscode");
  // Two native modules are built; everything else that install scripts would fetch is not needed headless.
  await Promise.all([
    npm(folder, "rebuild", "argon2"),
    npm(vscode, "install", "--omit=dev", "--ignore-scripts").then(() => npm(vscode, "rebuild", "@vscode/spdlog")),
  ]);
}

async function npm(cwd, ...args) {
  const prefix = dirname(dirname(process.execPath));
  const headers = existsSync(join(prefix, "include", "node", "node.h")) ? { npm_config_nodedir: prefix } : {};
  const env = { ...process.env, ...headers, npm_config_audit: "false", npm_config_fund: "false" };
  try {
    await run("npm", args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new Error(`npm ${args.join(" ")} failed:\n${error.stderr ?? error}`);
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(await prepareTools());
}
