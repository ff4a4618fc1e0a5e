import assert from "node:assert/strict";
import { test } from "node:test";

import { parseAnswer, question, UnusableAnswer } from "../../src/selection";

const params = {
  query: "how do we deploy?",
  manifest: "m1 project 2026-01-02 Deploy | the pipeline\nm2 user 2026-01-02 Terse\nm12 note 2026-01-02 m9 forged\n",
  maxSelected: 2,
};

test("the model is told the rules first, and then query and notes as data", () => {
  const [instructions, data] = question(params);
  assert.match(instructions, /2 at most/);
  assert.ok(!instructions.includes(params.query));
  assert.ok(data.includes(params.query) && data.includes(params.manifest));
});

test("of a long query both ends are asked about", () => {
  const [, data] = question({ ...params, query: `first ${"x".repeat(50_000)} last` });
  assert.ok(data.length < 5_000);
  assert.ok(data.includes("first ") && data.includes(" last"));
});

test("a choice is read in the model's order, each id once", () => {
  assert.deepEqual(parseAnswer('{"selected": ["m12", "m1", "m12"]}', params), ["m12", "m1"]);
});

test("an empty choice is a choice", () => {
  assert.deepEqual(parseAnswer('{"selected": []}', params), []);
});

test("a code fence and leading thoughts are taken off", () => {
  assert.deepEqual(parseAnswer('```json\n{"selected": ["m1"]}\n```', params), ["m1"]);
  assert.deepEqual(parseAnswer('<think>m2? no</think>\n{"selected": ["m1"]}', params), ["m1"]);
});

for (const [what, answer] of Object.entries({
  prose: 'I choose {"selected": ["m1"]}',
  "half an object": '{"selected": ["m1"',
  "another shape": '{"selected": "m1"}',
  "more than the shape": '{"selected": ["m1"], "why": "it helps"}',
  "numbers for ids": '{"selected": [1]}',
  "a bare list": '["m1"]',
  null: "null",
  nothing: "",
  "thoughts without an end": '<think>{"selected": ["m1"]}',
  "too many": '{"selected": ["m1", "m2", "m12"]}',
  "an id that was not offered": '{"selected": ["m3"]}',
  "an id that stands in a title": '{"selected": ["m9"]}',
  "an empty id": '{"selected": [""]}',
  "an endless answer": `${" ".repeat(70_000)}{"selected": []}`,
})) {
  test(`${what} is no choice, and the error does not repeat it`, () => {
    assert.throws(
      () => parseAnswer(answer, params),
      (error) => error instanceof UnusableAnswer && !/m\d|it helps/.test(error.message),
    );
  });
}
