import assert from "node:assert/strict";
import { test } from "node:test";

import { RecalledMemory, type ObservedTurn } from "../../src/recalledMemory";
import { excerpt, fate, lessGood, literal, standing, why } from "../../src/wording";
import { event, observedNote, outcome } from "./notes";

function turn(...events: Parameters<typeof event>[1][]): ObservedTurn {
  const memory = new RecalledMemory();
  for (const fields of events) {
    memory.add(event("t", fields), new Date(0));
  }
  return memory.sessions[0]!.turns[0]!;
}

test("a match is explained by field, the strongest first, each word once", () => {
  const note = observedNote("a", [
    { term: "deploy", field: "body", weight: 1 },
    { term: "crane", field: "title", weight: 4 },
    { term: "deploy", field: "title", weight: 4 },
    { term: "deploy", field: "title", weight: 4 },
  ]);
  assert.equal(why(note), "title: crane, deploy · body: deploy");
});

test("a note that no word matches was the model's choice", () => {
  assert.equal(why(observedNote("a")), "chosen by the model");
});

test("an excerpt is one line, cut between characters", () => {
  assert.equal(excerpt(" a\n\tb "), "a b");
  assert.equal(excerpt("👍".repeat(100)), `${"👍".repeat(59)}…`);
});

test("a literal text brings no markup along, and no line of its own", () => {
  assert.equal(literal("[x](https://y)\n# *b* <i> www.z"), "\\[x\\]\\(https\\:\\/\\/y\\) \\# \\*b\\* \\<i\\> www\\.z");
  assert.equal(literal("Grüße 日本"), "Grüße 日本");
});

test("a turn tells what it was given and what it waits for", () => {
  const fast = { documents: [observedNote("a")] };
  const refined = { event: "refined", documents: [observedNote("b"), observedNote("c")] } as const;
  const ended = { event: "ended", outcome: outcome({ deliveryPoint: "tool_result" }) } as const;
  assert.equal(fate(turn(fast)), "1 fast · waiting for the model's choice");
  assert.equal(fate(turn(fast, refined, ended)), "1 fast, 2 refined");
});

test("a turn that was given nothing says why", () => {
  const discarded = (discardReason: "no_relevant_results" | "already_delivered" | "abort"): string =>
    fate(turn({}, { event: "ended", outcome: outcome({ discardReason }) }));
  assert.equal(discarded("no_relevant_results"), "nothing relevant");
  assert.equal(discarded("already_delivered"), "nothing new");
  assert.equal(discarded("abort"), "cancelled");
});

test("a turn whose fast notes were all there is ended well", () => {
  const ended = { event: "ended", outcome: outcome({ discardReason: "already_delivered" }) } as const;
  assert.equal(fate(turn({ documents: [observedNote("a")] }, ended)), "1 fast");
});

test("a degraded daemon says why, also for a reason that is not known here", () => {
  const health = { state: "degraded" as const, reasons: ["configuration-not-in-effect", "moon-full"] };
  const status = { health, configError: "line 1:\n no value" };
  const meaning = "the configuration file cannot be used; the one before is in effect";
  assert.deepEqual(lessGood(status), [{ text: meaning, detail: "line 1:\n no value" }, { text: "moon-full" }]);
  assert.deepEqual(standing("connected", status), {
    icon: "warning",
    alarm: true,
    text: `connected, degraded\n• ${meaning}: line 1: no value\n• moon-full`,
  });
});

test("a daemon that is well, and one that does not tell, are simply connected", () => {
  for (const status of [{}, { health: { state: "ok" as const, reasons: [] } }]) {
    const { alarm, text } = standing("connected", status);
    assert.deepEqual([alarm, text], [false, "connected"]);
  }
});

test("what a lost daemon said of its health is not repeated", () => {
  const status = { health: { state: "degraded" as const, reasons: ["cache-off"] } };
  assert.deepEqual(standing("reconnecting", status), standing("reconnecting"));
});
