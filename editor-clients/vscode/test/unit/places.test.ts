import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { asPath, isOpenHere } from "../../src/places";

test("a project is open here if a folder is it, holds it or lies in it", () => {
  for (const root of ["/w/app", "/w/app/", "/w/app/core", "/w", "file:///w/app"]) {
    assert.ok(isOpenHere(root, ["/other", "/w/app"]), root);
  }
});

test("a project whose name only begins like an open folder's is another", () => {
  for (const root of ["/w/app-evil", "/w/ap", "/x/app", "/w/..app"]) {
    assert.ok(!isOpenHere(root, ["/w/app"]), root);
  }
});

test("a link leads to the project it points to", (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "memrecall-places-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  fs.mkdirSync(path.join(folder, "real"));
  fs.symlinkSync(path.join(folder, "real"), path.join(folder, "link"));
  assert.ok(isOpenHere(path.join(folder, "real"), [path.join(folder, "link")]));
});

test("a turn without a project is of every window", () => {
  assert.ok(isOpenHere(undefined, []));
});

test("a file URI becomes its path, and what is none stays as it is", () => {
  assert.equal(asPath(pathToFileURL("/w/ä b").toString()), "/w/ä b");
  assert.equal(asPath("/w/file:x"), "/w/file:x");
  assert.equal(asPath("file://elsewhere/x"), "file://elsewhere/x");
});
