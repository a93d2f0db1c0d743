// @ts-check
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { route } from "../../lib/routing/route.js";
import { FakeLedger, fakeServer, gateSettings } from "../fakes/routing.js";

/** @param {any} session @param {Record<string, unknown>} [settings] */
async function stop(session, settings = {}) {
  const server = fakeServer(() => ({}));
  const routed = await route({
    agent: { session },
    turn: 1,
    ctx: { get: () => undefined },
    settings: gateSettings(settings),
    connection: server,
    ledger: new FakeLedger(),
    taskId: "task-1",
  });
  return { ...routed, server };
}

describe("whatever a log holds", () => {
  test("routing answers, and never throws", async () => {
    let state = 11;
    const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
    /** @template T @param {readonly T[]} list @returns {T} */
    const pick = (list) => /** @type {T} */ (list[Math.floor(random() * list.length)]);
    const types = [
      "user/message",
      "assistant/message",
      "tool/call",
      "tool/result",
      "todo/write",
      "team/task",
      "team/message/queued",
      "tool-workflow/run-start",
      "tool-workflow/run-end",
      "turn/start",
      "plan/mode",
      "tool/code-dispatch",
      "unknown/type",
    ];
    const leaves = [
      null,
      undefined,
      0,
      -1,
      NaN,
      "",
      "user",
      "completed",
      "in_progress",
      "workflow",
      "w",
      '{"protocol":"dsh-verifier-candidates","candidates":[{}]}',
      'workflow "a" completed (1 agent).\nReturn value:\n{"groupId":1,"candidates":[1,2]}',
      true,
    ];
    const names = [
      "id",
      "callId",
      "name",
      "arguments",
      "message",
      "content",
      "source",
      "kind",
      "todos",
      "status",
      "task",
      "teamId",
      "runId",
      "stopReason",
      "text",
      "type",
      "toolCallId",
      "ownerId",
      "senderId",
      "fingerprint",
      "plugin",
    ];
    /** @param {number} depth @returns {unknown} */
    const value = (depth) => {
      const kind = random();
      if (depth === 0 || kind < 0.4) return pick(leaves);
      if (kind < 0.6) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth - 1));
      return Object.fromEntries(
        Array.from({ length: Math.floor(random() * 6) }, () => [pick(names), value(depth - 1)]),
      );
    };
    for (let round = 0; round < 400; round++) {
      const events = Array.from({ length: Math.floor(random() * 25) }, (_, seq) => ({
        type: pick(types),
        seq,
        time: seq,
        data: value(5),
      }));
      // So that most rounds have a task.
      if (random() < 0.8) {
        const content = [{ type: "text", text: "Do it." }];
        events.unshift({
          type: "user/message",
          seq: -1,
          time: 0,
          data: { content, source: { kind: "user" }, role: "user" },
        });
      }
      const session = {
        id: "s",
        header: { version: pick([0, 1, 2, 3, 4]), id: "s", cwd: "/nowhere" },
        events,
      };
      const routed = await stop(session, { mode: pick(["smart", "strict"]) });
      assert.equal(routed.acted, routed.steer !== undefined);
      assert.ok(Array.isArray(routed.notices));
      for (const { reason } of routed.notices) {
        assert.doesNotMatch(reason, /internal$/, JSON.stringify([routed.notices, events]));
      }
    }
  });

  const folder = new URL("../../../../shared/data/session-logs/", import.meta.url);
  const there = existsSync(folder);
  test("real sessions without candidates, lists or teams cost nothing", {
    skip: there ? false : "the sample logs aren't here",
  }, async () => {
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".jsonl"))) {
      const [header, ...rows] = readFileSync(new URL(file, folder), "utf8").trim().split("\n")
        .map((line) => JSON.parse(line));
      const events = rows.filter(({ seq }) => seq !== undefined);
      const { acted, notices, gateRequired, server } = await stop({ id: header.id, header, events });
      assert.deepEqual([acted, notices, gateRequired, server.dry], [false, [], false, []], file);
    }
  });
});
