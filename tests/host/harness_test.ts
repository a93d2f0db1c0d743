/**
 * The real host as it is shipped, without the plugin: what fails here is no fault of the plugin.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { toolOutcomes, turnEnds } from "./log.ts";
import { startModel } from "./model.ts";
import { createScene, hostTest } from "./scene.ts";

hostTest("the host by itself runs a task with several calls in one answer", async (host) => {
  await using model = startModel([
    {
      calls: [
        { name: "bash", arguments: { command: "echo hello", description: "say it" } },
        { name: "no_such_tool", arguments: {} },
      ],
    },
    { text: "Said." },
  ]);
  await using scene = await createScene(host, { model, plugin: null });
  const run = await scene.headless("Say hello.");
  assertEquals(run, { code: 0, signal: null, stdout: "Said.\n", stderr: "" });
  const session = await scene.session();
  assertEquals(toolOutcomes(session).map(({ name, isError }) => [name, isError]), [
    ["bash", false],
    ["no_such_tool", true],
  ]);
  assertEquals(turnEnds(session), ["completed"]);
  assertEquals([model.requests.length, model.titles], [2, 1]);
});

hostTest("the driver plays a user who resumes a session in a new host and forks it", async (host) => {
  await using model = startModel([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
  await using scene = await createScene(host, { model, plugin: null });
  const [created, first, forked, second] = await scene.drive([
    { do: "create", agent: "parent" },
    { do: "say", agent: "parent", text: "first" },
    { do: "fork", agent: "child", of: "parent" },
    { do: "say", agent: "child", text: "second" },
  ]);
  assertEquals([first.end, second.end], ["completed", "completed"]);
  const [, third] = await scene.drive([
    { do: "resume", agent: "parent", session: created.session },
    { do: "say", agent: "parent", text: "third" },
  ]);
  assertEquals(third.end, "completed");
  assertEquals(model.requests.map(({ session }) => session), [
    created.session,
    forked.session,
    created.session,
  ]);
  assertEquals(
    model.requests.map(({ all }) => ["first", "second", "third"].filter((word) => all.includes(word))),
    [
      ["first"],
      ["first", "second"],
      ["first", "third"],
    ],
  );
  assertEquals((await scene.sessions()).map(turnEnds), [["completed", "completed"], [
    "completed",
    "completed",
  ]]);
});
