import assert from "node:assert/strict";
import { test } from "node:test";

import { Backoff } from "../../src/backoff";

test("pauses grow and stay short enough for a daemon just started to be found", () => {
  const backoff = new Backoff();
  const pauses = Array.from({ length: 10 }, () => backoff.failed());
  assert.deepEqual(pauses.slice(0, 5), [100, 200, 400, 800, 1600]);
  assert.deepEqual(new Set(pauses.slice(5)), new Set([3000]));
});

test("a loss counts as a restart for a while, and again after a connection", () => {
  const backoff = new Backoff();
  while (backoff.restarting) {
    backoff.failed();
  }
  backoff.reset();
  assert.ok(backoff.restarting);
  assert.equal(backoff.failed(), 100);
});
