import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import * as vscode from "vscode";

import type { MemrecallApi } from "../../api";
import { Agent } from "./agent";
import { Daemon } from "./daemon";
import { connected, deliveries, project, set, settled, use } from "./host";
import { until } from "./until";

interface TestModel {
  answer: (text: string) => string | Promise<string>;
  asked: string[];
  register(): void;
  unregister(): void;
}

export function testLanguageModel(): void {
  describe("with language models", () => {
    const daemon = new Daemon();
    let memrecall: MemrecallApi;
    let model: TestModel;

    before(async () => {
      const extension = vscode.extensions.getExtension<TestModel>("memrecall-tests.model");
      assert.ok(extension, "the test's model is not installed");
      model = await extension.activate();
      for (const name of ["one", "two", "three", "four"]) {
        daemon.projectNote(project(), `${name}.md`, `Crane ${name}`, "harbour crane", `Body of ${name}.`);
      }
      daemon.projectNote(project(), "light.md", "Lighthouse keeper", "Who tends the lamp");
      await daemon.start('[selector]\nkind = "client"\n');
      memrecall = await use(daemon);
    });
    afterEach(() => {
      model.asked.length = 0;
    });
    after(async () => {
      model.unregister();
      await set("selector.enabled", undefined);
      await set("selector.model", undefined);
      await set("socketPath", undefined);
      await daemon.remove();
    });

    it("the tool gives a model the notes and nothing else", async () => {
      assert.ok(vscode.lm.tools.some((tool) => tool.name === "memrecall_recall"));
      const text = await invokeTool("harbour crane");
      assert.match(text, /<recalled-memory>/);
      assert.match(text, /Body of one/);
      assert.match(await invokeTool("submarine"), /No saved note matters/);
    });

    it("no model is asked unless the user enabled it", async () => {
      model.register();
      model.answer = () => choose(1);
      await deliveries(memrecall.recall("harbour crane", { sessionId: "not enabled" }));
      assert.deepEqual(model.asked, []);
    });

    it("the editor's model chooses for an agent of another process", async () => {
      await enable();
      model.answer = (text) => choose(idOf(text, "Lighthouse keeper"));
      const agent = await Agent.connect(daemon.socket);
      try {
        const params = { sessionId: "agent", query: "harbour crane", projectRoot: project() };
        void agent.connection.sendRequest("recall/start", params);
        const result = await settled(() => agent.connection.sendRequest("recall/toolResult", { sessionId: "agent" }));
        assert.equal(result.delivery?.strategy, "model");
        assert.deepEqual(result.delivery.documents.map((note) => note.title), ["Lighthouse keeper"]);
        assert.equal(model.asked.length, 1);
      } finally {
        agent.close();
      }
    });

    it("the model sees what a list shows of the notes, never their text", async () => {
      model.answer = () => choose();
      const turn = memrecall.recall("harbour crane", { sessionId: "seen" });
      await until("the model is asked", () => model.asked.length > 0);
      assert.match(model.asked[0]!, /harbour crane/);
      assert.match(model.asked[0]!, /m\d+ project .* Crane one/);
      assert.ok(!model.asked[0]!.includes("Body of"));
      turn.end();
      await turn.outcome;
    });

    it("an answer that is no choice leaves the best lexical matches", async () => {
      model.answer = () => "I would take m1 and m2.";
      const turn = memrecall.recall("harbour crane", { sessionId: "nonsense" });
      const result = await settled(() => turn.toolResult());
      assert.equal(result.delivery?.strategy, "heuristic");
    });

    it("a model that fails leaves the best lexical matches", async () => {
      model.answer = () => {
        throw new Error("out of order");
      };
      const turn = memrecall.recall("harbour crane", { sessionId: "failing" });
      assert.equal((await settled(() => turn.toolResult())).delivery?.strategy, "heuristic");
    });

    it("a turn is cancelled while the model thinks, and keeps no other turn waiting", async () => {
      model.answer = () => new Promise(() => undefined);
      const turn = memrecall.recall("harbour crane", { sessionId: "cancelled" });
      await until("the model is asked", () => model.asked.length > 0);
      turn.cancel();
      assert.equal((await turn.outcome).discardReason, "abort");
      model.answer = (text) => choose(idOf(text, "Lighthouse keeper"));
      const next = memrecall.recall("harbour crane", { sessionId: "cancelled" });
      assert.equal((await settled(() => next.toolResult())).delivery?.strategy, "model");
    });

    it("a setting names the model, and none is offered that is not it", async () => {
      await set("selector.model", "another-family");
      await recallWithoutModel("another family");
      await set("selector.model", "test-family");
      await offered();
    });

    it("a model that goes away is offered no more", async () => {
      model.unregister();
      await recallWithoutModel("gone");
    });

    async function enable(): Promise<void> {
      await set("selector.enabled", true);
      await offered();
    }

    /** The daemon has heard of the offer when the model is asked for a turn. */
    async function offered(): Promise<void> {
      model.answer = () => choose();
      let round = 0;
      await until("the model is offered", async () => {
        round += 1;
        await connected(memrecall);
        const turn = memrecall.recall("harbour crane", { sessionId: `offered ${round}` });
        await settled(() => turn.toolResult()).catch(() => undefined);
        turn.end();
        return model.asked.length > 0;
      });
      model.asked.length = 0;
    }

    async function recallWithoutModel(sessionId: string): Promise<void> {
      let round = 0;
      await until("no model is asked", async () => {
        round += 1;
        model.asked.length = 0;
        await connected(memrecall);
        const turn = memrecall.recall("harbour crane", { sessionId: `${sessionId} ${round}` });
        turn.onFast(({ pending }) => pending && turn.end());
        const outcome = await turn.outcome.catch(() => undefined);
        return outcome?.deliveryPoint === "initial" && outcome.strategy === "heuristic" && model.asked.length === 0;
      });
    }
  });
}

function choose(...ids: (string | number)[]): string {
  return JSON.stringify({ selected: ids.map((id) => (typeof id === "number" ? `m${id}` : id)) });
}

function idOf(text: string, title: string): string {
  return new RegExp(`^(m\\d+) .*${title}`, "m").exec(text)?.[1] ?? "missing";
}

async function invokeTool(query: string): Promise<string> {
  const result = await vscode.lm.invokeTool("memrecall_recall", { input: { query }, toolInvocationToken: undefined });
  return result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("");
}
