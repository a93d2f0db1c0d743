/**
 * A model that reports its steps to an online tracker, while hosts and servers come and go.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import type { AssayServer } from "./assay.ts";
import { startJudged } from "./judged.ts";
import { type SessionLog, toolOutcomes } from "./log.ts";
import { type ModelAnswer, startModel } from "./model.ts";
import { createScene, hostTest } from "./scene.ts";
import { freePort } from "../free_port.ts";

const start: ModelAnswer = {
  calls: [{ name: "verifier_tracker_start", arguments: { task: "Sort it.", criteria: ["It is sorted."] } }],
};
const update = (quality: number): ModelAnswer => ({
  calls: [{ name: "verifier_tracker_update", arguments: { step: `$ step quality=${quality}` } }],
});
const result: ModelAnswer = { calls: [{ name: "verifier_tracker_result", arguments: {} }] };
const said = (text: string): ModelAnswer => ({ text });

/** The id that the last result of a session names, and the server's own state of that tracker. */
async function trackerOf(
  session: SessionLog,
  server: AssayServer,
): Promise<{ id: string; length: number; steps: { score: number | null }[] }> {
  const texts = toolOutcomes(session).filter(({ name }) => name.startsWith("verifier_tracker")).map((
    { text },
  ) => text);
  const id = texts.at(-1)?.match(/\bdsh-[0-9a-f]{40}\b/)?.[0];
  assert(id !== undefined, `no tracker is named in: ${texts.at(-1)}`);
  return await server.get(`/v1/trackers/${id}`);
}

const scores = (tracker: { steps: { score: number | null }[] }): (string | null)[] =>
  tracker.steps.map(({ score }) => score === null ? null : score.toFixed(1));

hostTest("a tracker goes on in a new host that resumes the session", async (host) => {
  await using server = await startJudged();
  await using model = startModel([
    start,
    update(0.2),
    said("First."),
    update(0.5),
    update(0.8),
    result,
    said("Second."),
  ]);
  await using scene = await createScene(host, { model, server });
  const [created] = await scene.drive([
    { do: "create", agent: "a" },
    { do: "say", agent: "a", text: "Track yourself." },
  ]);
  await scene.drive([
    { do: "resume", agent: "a", session: created.session },
    { do: "say", agent: "a", text: "Go on." },
  ]);
  const session = await scene.session();
  assertEquals(toolOutcomes(session).map(({ name, isError }) => [name.slice(17), isError]), [
    ["start", false],
    ["update", false],
    ["update", false],
    ["update", false],
    ["result", false],
  ]);
  const tracker = await trackerOf(session, server);
  assertEquals([tracker.length, scores(tracker)], [3, ["0.2", "0.5", "0.8"]]);
  for (const shown of ["0.2", "0.5", "0.8"]) {
    assertMatch(toolOutcomes(session).at(-1)!.text, new RegExp(shown));
  }
});

hostTest("a tracker survives a server that goes away and comes back with its store", async (host) => {
  const folder = await Deno.makeTempDir({ prefix: "assay-store-" });
  try {
    const options = { port: freePort(), store: join(folder, "assay.sqlite") };
    let server = await startJudged(undefined, options);
    try {
      await using model = startModel(async (request) => {
        switch (request.index) {
          case 0:
            return start;
          case 1:
            return update(0.2);
          case 2:
            await server[Symbol.asyncDispose]();
            return update(0.4); // nobody is there
          case 3:
            server = await startJudged(undefined, options);
            return update(0.4); // as the tool's error says
          case 4:
            return update(0.6);
          case 5:
            return result;
          default:
            return said("Done.");
        }
      });
      await using scene = await createScene(host, { model, server });
      const run = await scene.headless("Track yourself.");
      assertEquals([run.code, run.stderr], [0, ""]);
      const session = await scene.session();
      assertEquals(toolOutcomes(session).map(({ isError }) => isError), [
        false,
        false,
        true,
        false,
        false,
        false,
      ]);
      assertMatch(toolOutcomes(session)[2]!.text, /server_unreachable/);
      const tracker = await trackerOf(session, server);
      assertEquals(
        [tracker.length, scores(tracker)],
        [3, ["0.2", "0.4", "0.6"]],
        "the step that failed is there once",
      );
    } finally {
      await server[Symbol.asyncDispose]();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

hostTest("a server that has forgotten everything is told the whole curve again", async (host) => {
  const port = freePort();
  let server = await startJudged(undefined, { port });
  try {
    await using model = startModel(async (request) => {
      if (request.index === 2) {
        await server[Symbol.asyncDispose]();
        server = await startJudged(undefined, { port });
      }
      return [start, update(0.2), update(0.7), result][request.index] ?? said("Done.");
    });
    await using scene = await createScene(host, { model, server });
    const run = await scene.headless("Track yourself.");
    assertEquals([run.code, run.stderr], [0, ""]);
    const session = await scene.session();
    assertEquals(toolOutcomes(session).map(({ isError }) => isError), [false, false, false, false]);
    const tracker = await trackerOf(session, server);
    assertEquals([tracker.length, scores(tracker)], [2, ["0.2", "0.7"]]);
  } finally {
    await server[Symbol.asyncDispose]();
  }
});

hostTest("a fork goes on with a curve of its own, and its parent's stays as it was", async (host) => {
  await using server = await startJudged();
  await using model = startModel([
    ...[start, update(0.2), said("Parent's first.")],
    ...[update(0.9), result, said("Child.")],
    ...[update(0.4), result, said("Parent's second.")],
  ]);
  await using scene = await createScene(host, { model, server });
  const [parent, , child] = await scene.drive([
    { do: "create", agent: "parent" },
    { do: "say", agent: "parent", text: "Track yourself." },
    { do: "fork", agent: "child", of: "parent" },
    { do: "say", agent: "child", text: "Go on." },
    { do: "say", agent: "parent", text: "Go on." },
  ]);
  const sessions = await scene.sessions();
  const [ofParent, ofChild] = await Promise.all(
    [parent, child].map(async ({ session: id }) =>
      await trackerOf(sessions.find(({ header }) => header.id === id)!, server)
    ),
  );
  assert(ofParent!.id !== ofChild!.id, "two trackers");
  assertEquals([scores(ofParent!), scores(ofChild!)], [["0.2", "0.4"], ["0.2", "0.9"]]);
});
