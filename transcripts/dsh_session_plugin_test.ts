import { assert, assertEquals } from "@std/assert";
import { PLUGIN, pluginMessage } from "../dsh-plugin/lib/host/messages.js";
import { sessionLog } from "../dsh-plugin/lib/host/session_log.js";
import { FakeAgent, fakeContext, FakeSession } from "../dsh-plugin/test/fakes/host.js";
import { readSessionLog } from "./dsh_session.ts";

type Row = {
  type: string;
  seq0?: number;
  time0?: number;
  data?: { texts?: string[]; args?: string[] };
};

/** What the plugin sends of a session. */
const sent = async (session: FakeSession): Promise<string> =>
  (await sessionLog(fakeContext({ sessions: [session] }), session)).text;

/** The same log with everything that the host has stored. */
const whole = (session: FakeSession): string =>
  [{ type: "session", ...session.header }, ...session.log].map((line) => JSON.stringify(line)).join("\n");

function worked(version: number): FakeSession {
  const session = new FakeSession({ version, id: `format-${version}` });
  session.startTurn();
  session.append("request/header", { header: { system: "You are…" } });
  if (version >= 3) session.append("system/message", { message: { content: [] } }, { surfaceOp: "append" });
  const first = session.user("Make the failing test pass.");
  session.user("Current context.", {
    source: version >= 4
      ? { kind: "runtime-context" }
      : { kind: "plugin", plugin: "@deepseek-ai/dsh-system-prompt", form: "snapshot", sections: [] },
  });
  if (version < 3) session.append("assistant/chunk", { chunk: { type: "text-delta", text: "Look" } });
  session.tool("a", "bash", { command: "npm test" }, "1 failing");
  session.call("r", "run_code", { code: "…" });
  session.dispatched(session.dispatch("r", "bash", { command: "sed -i s/a/b/ x.js" }), "done");
  session.dispatched(session.dispatch("r", "verifier_compare", { a: "1", b: "2" }), "A wins with 0.99");
  session.result("r", "program done");
  session.tool("v", "verifier_status", {}, "the judge is well");
  session.append("plan/mode", { active: false });
  session.append("compaction/summary", { summary: [{ type: "text", text: "Compacted." }] });
  session.user("Compacted.", {
    source: version >= 4 ? { kind: "compact-checkpoint" } : { kind: "plugin", plugin: "compaction" },
    more: {
      sourceEventSeqs: [session.log.length - 1, first.seq],
      surfaceOp: version >= 3
        ? { op: "replace", startSeq: first.seq, endSeq: first.seq }
        : { op: "replace", start: first.seq, end: first.seq },
    },
  });
  new FakeAgent(session).steer(pluginMessage(session, { text: "Your work scored 0.3.", summary: "gate" }));
  session.user("And keep it small.");
  session.tool("b", "bash", { command: "npm test" }, "2 passing");
  session.agent("All tests pass now.");
  session.endTurn();
  return session;
}

for (const version of [0, 1, 2, 3, 4]) {
  Deno.test(`what the plugin sends of a session of format ${version} reads like the whole log`, async () => {
    const session = worked(version);
    const read = readSessionLog(await sent(session), "sent");
    assertEquals(read, readSessionLog(whole(session), "whole"));
    assertEquals(read.warnings, []);
    assertEquals(read.task, "Make the failing test pass.");
    const text = JSON.stringify(read.messages);
    for (const own of ["scored 0.3", "A wins", "the judge is well", "Compacted", "Current context"]) {
      assert(!text.includes(own), `${own} is no evidence`);
    }
    for (
      const evidence of ["npm test", "1 failing", "sed -i", "keep it small", "2 passing", "All tests pass"]
    ) {
      assert(text.includes(evidence), `${evidence} is evidence`);
    }
    assertEquals(read.leftOut["the verifier's own calls"], 2);
    assertEquals(version >= 4 ? read.leftOut[PLUGIN] : read.leftOut.plugin, version >= 4 ? 1 : 3);
  });

  Deno.test(`forks and resumed sessions of format ${version} are sent so that only their own work counts`, async () => {
    const fork = worked(version).fork("fork");
    fork.startTurn();
    fork.user("Now the other test.");
    fork.tool("c", "bash", { command: "npm run other" }, "ok");
    for (const session of [fork, fork.resume()]) {
      const read = readSessionLog(await sent(session), "sent");
      assertEquals([read.task, read.messages.length], ["Now the other test.", 2]);
    }
    const resumed = worked(version).resume();
    assertEquals(readSessionLog(await sent(resumed), "sent").task, "Make the failing test pass.");
  });
}

const SAMPLES = new URL("../../shared/data/session-logs/", import.meta.url);
const exists = await Deno.stat(SAMPLES).then(() => true, () => false);

for (
  const name of [
    "v0-code-turn",
    "v0-retry",
    "v0-tool-turn",
    "v4-attempt-retry",
    "v4-compaction-series",
    "v4-route-change",
  ]
) {
  Deno.test({
    name: `what the plugin sends of the sample ${name} reads like the sample` +
      (exists ? "" : " (skipped: ../shared is absent)"),
    ignore: !exists,
    fn: async () => {
      const file = await Deno.readTextFile(new URL(`${name}.jsonl`, SAMPLES));
      const [header, ...rows] = file.trim().split("\n").map((line) => JSON.parse(line));
      const { type: _, ...more } = header;
      const session = new FakeSession(more);
      session.log = rows.flatMap(unpack);
      const { counts: { lines: _lines, ...counts }, ...read } = readSessionLog(await sent(session), name);
      const { counts: { lines: __, ...expected }, ...rest } = readSessionLog(file, name);
      assertEquals({ ...read, counts }, { ...rest, counts: expected });
    },
  });
}

/** The events of a row, which a store may have packed; hosts give them unpacked. */
function unpack(row: Row): FakeSession["log"] {
  if (row.seq0 === undefined) return [row as unknown as FakeSession["log"][number]];
  return (row.data?.texts ?? row.data?.args ?? []).map((text, i) => ({
    type: "assistant/chunk",
    seq: row.seq0! + i,
    time: row.time0!,
    data: { chunk: { type: "text-delta", text } },
  }));
}
