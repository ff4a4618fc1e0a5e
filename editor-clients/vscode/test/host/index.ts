/** Entry of the tests that run inside the extension host. */
import * as fs from "node:fs";
import Mocha from "mocha";
import * as vscode from "vscode";

import { testApi } from "./api.test";
import { testChatParticipant } from "./chatParticipant.test";
import { testCommands } from "./commands.test";
import { testConnection } from "./connection.test";
import { testLanguageModel } from "./languageModel.test";
import { testView } from "./view.test";

/** Called by the editor; rejected when a test failed. */
export async function run(): Promise<void> {
  const report = process.env["MEMRECALL_TEST_REPORT"];
  if (report === undefined) {
    throw new Error("MEMRECALL_TEST_REPORT names the file for the result");
  }
  // At the most verbose level no log may hold what is private; the runner looks at the logs afterwards.
  await vscode.commands.executeCommand("_extensionTests.setLogLevel", "trace");
  const say = (line: string): void => fs.appendFileSync(report, `${line}\n`);
  const grep = process.env["MEMRECALL_TEST_GREP"];
  const mocha = new Mocha({ ui: "bdd", reporter: "min", timeout: 120_000, ...(grep !== undefined && { grep }) });
  mocha.suite.emit("pre-require", globalThis, "", mocha);
  for (const define of [testConnection, testApi, testCommands, testView, testLanguageModel, testChatParticipant]) {
    define();
  }
  const failures = await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    let passed = 0;
    const failed: string[] = [];
    runner.on("pass", (test) => {
      passed += 1;
      say(`ok      ${test.fullTitle()} (${test.duration} ms)`);
    });
    runner.on("fail", (test, error) => {
      say(`NOT OK  ${test.fullTitle()}`);
      failed.push(`\n${test.fullTitle()}\n${error.stack ?? error.message}`);
    });
    // What failed is told last: of a long output often only the end is kept.
    runner.on("end", () => say([...failed, `\n${passed} passed, ${failed.length} failed`].join("\n")));
  });
  if (failures > 0) {
    throw new Error(`${failures} failed`);
  }
}
