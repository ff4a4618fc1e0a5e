// Runs the tests of test/host inside a real extension host, and ends with their result.
//
// They start daemons of their own: MEMRECALLD_COMMAND says how (default: memrecalld). MEMRECALL_TEST_GREP chooses among
// the tests by name.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { launchBrowser } from "./browser.mjs";
import { startCodeServer } from "./codeServer.mjs";
import { prepareTools } from "./tools.mjs";

/** Far beyond what they take on a busy machine. */
const LIMIT_MS = 300_000;

/** What the tests ask, and what stands in their notes. */
const PRIVATE = ["crane", "quay", "lighthouse", "lamp"];

const extension = resolve(import.meta.dirname, "..", "..");
const tools = await prepareTools();
const work = mkdtempSync(join(tmpdir(), "memrecall-host-"));
const report = join(work, "report.txt");
const folder = join(work, "project");
mkdirSync(join(folder, ".git"), { recursive: true });

let code = 1;
// The editor takes one extension that is being developed; the language model of the tests is simply installed.
cpSync(join(extension, "test", "host", "model"), join(work, "ext", "memrecall-tests.model-0.0.1"), { recursive: true });
const browser = await launchBrowser(tools);
const server = await startCodeServer({
  tools,
  work,
  settings: { "memrecall.trace.server": "verbose" },
  environment: { MEMRECALL_TEST_REPORT: report, MEMRECALLD_SOCKET: join(work, "nobody", "s") },
});
try {
  code = await run();
} finally {
  await browser.close();
  await server.close();
  console.log(existsSync(report) ? readFileSync(report, "utf8") : "the tests did not begin");
  const logs = readLogs(join(work, "user", "logs"));
  const told = PRIVATE.filter((words) => logs.toLowerCase().includes(words));
  if (told.length > 0 || !logs.includes("state: connected")) {
    code = 1;
    console.log(`the extension's log, at its most verbose, holds private words (${told.join(", ")}), or was not found`);
  }
  rmSync(work, { recursive: true, force: true });
}
process.exit(code);

/** What the extension has written to its log. */
function readLogs(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.includes("memrecalld.memrecall"))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

async function run() {
  const page = await browser.newPage();
  const ended = new Promise((done) => {
    void page.exposeFunction("codeAutomationLog", () => undefined);
    void page.exposeFunction("codeAutomationExit", done);
    setTimeout(() => done(1), LIMIT_MS).unref();
  });
  const remote = (path) => `vscode-remote://${new URL(server.url).host}${path}`;
  const payload = [
    ["extensionDevelopmentPath", remote(extension)],
    ["extensionTestsPath", remote(join(extension, "dist", "test", "host.js"))],
    // The model of the tests is registered through an interface that is still a proposal.
    ["enableProposedApi", ""],
  ];
  await page.goto(`${server.url}/?folder=${folder}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
  return ended;
}
