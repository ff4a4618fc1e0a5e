import assert from "node:assert/strict";
import { test } from "node:test";

import type { Delivery } from "../../api";
import { Received } from "../../src/received";

function delivery(id: string): Delivery {
  return { id, phase: "fast", strategy: "heuristic", prompt: "", documents: [] };
}

test("what was received last is known by session and agent", () => {
  const received = new Received();
  received.add("s", "", delivery("1.1"));
  received.add("s", "child", delivery("2.2"));
  received.add("s", "", null);
  received.add("s", "", delivery("1.3"));
  assert.equal(received.last("s", "", true), "1.3");
  assert.equal(received.last("s", "child", false), "2.2");
  assert.equal(received.last("other", "", true), "");
  assert.equal(received.last("other", "", false), undefined);
});

test("of too many sessions the oldest are forgotten, and none is said to begin any more", () => {
  const received = new Received();
  for (let number = 0; number <= 1000; number += 1) {
    received.add(`s${number}`, "", delivery("1.1"));
  }
  assert.equal(received.last("s0", "", true), undefined);
  assert.equal(received.last("s1", "", true), "1.1");
});
