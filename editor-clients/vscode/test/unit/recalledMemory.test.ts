import assert from "node:assert/strict";
import { test } from "node:test";

import { RecalledMemory } from "../../src/recalledMemory";
import { event, observedNote, outcome } from "./notes";

const now = new Date(0);

test("a turn holds its fast notes, then its refined ones, then its outcome", () => {
  const memory = new RecalledMemory();
  memory.add(event("t", { documents: [observedNote("a")] }), now);
  memory.add(event("t", { event: "refined", documents: [observedNote("b"), observedNote("c")] }), now);
  const [turn] = memory.sessions[0]!.turns;
  assert.deepEqual(
    turn!.notes.map(({ note, phase }) => [note.title, phase]),
    [["a", "fast"], ["b", "refined"], ["c", "refined"]],
  );
  assert.equal(turn!.outcome, undefined);
  memory.add(event("t", { event: "ended", outcome: outcome() }), now);
  assert.deepEqual(turn!.outcome, outcome());
});

test("newest sessions and turns come first", () => {
  const memory = new RecalledMemory();
  for (const [turnId, sessionId] of [["1", "a"], ["2", "b"], ["3", "a"]] as const) {
    memory.add(event(turnId, { sessionId }), now);
  }
  assert.deepEqual(
    memory.sessions.map((session) => [session.id, session.turns.map((turn) => turn.id)]),
    [["a", ["3", "1"]], ["b", ["2"]]],
  );
});

test("a turn that is first seen at its end is shown all the same", () => {
  const memory = new RecalledMemory();
  memory.add(event("t", { event: "ended", outcome: outcome() }), now);
  assert.equal(memory.sessions[0]!.turns.length, 1);
});

test("what was asked is known whether it is said before the turn is seen or after", () => {
  const memory = new RecalledMemory();
  memory.annotate("early", "one");
  memory.add(event("early"), now);
  memory.add(event("late"), now);
  memory.annotate("late", "two");
  assert.deepEqual(memory.sessions[0]!.turns.map((turn) => turn.query), ["two", "one"]);
});

test("a lost connection leaves no turn waiting for ever, and ended ones as they are", () => {
  const memory = new RecalledMemory();
  memory.add(event("open"), now);
  memory.add(event("ended"), now);
  memory.add(event("ended", { event: "ended", outcome: outcome() }), now);
  memory.loseOpenTurns();
  assert.deepEqual(memory.sessions[0]!.turns.map((turn) => [turn.id, turn.lost]), [["ended", false], ["open", true]]);
});

test("the oldest turns go, and sessions without turns with them", () => {
  const memory = new RecalledMemory();
  memory.add(event("first", { sessionId: "old" }), now);
  for (let number = 0; number < 300; number += 1) {
    memory.add(event(`${number}`), now);
  }
  assert.deepEqual(memory.sessions.map((session) => session.id), ["s"]);
  const turns = memory.sessions[0]!.turns;
  assert.deepEqual([turns.length, turns[0]!.id, turns.at(-1)!.id], [200, "299", "100"]);
});

test("nothing is left after clearing", () => {
  const memory = new RecalledMemory();
  memory.add(event("t"), now);
  memory.clear();
  assert.deepEqual(memory.sessions, []);
});
