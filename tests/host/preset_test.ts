/**
 * The package's folder as an agent preset of the web profile, as its README says it is copied.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { startJudged } from "./judged.ts";
import { gateMessages, toolOutcomes, turnEnds } from "./log.ts";
import { startModel } from "./model.ts";
import { copyPlugin } from "./plugin.ts";
import { createScene, hostTest } from "./scene.ts";

const compare = {
  name: "verifier_compare",
  arguments: { task: "Sort.", a: "quality=0.9", b: "quality=0.2", criteria: ["It is sorted."] },
};
const poorWork = {
  name: "bash",
  arguments: { command: "echo 1 > out.txt; echo quality=0.1", description: "work" },
};

for (const alsoBundle of [false, true]) {
  const beside = alsoBundle ? ", beside the same package as a bundle" : "";
  hostTest(`an agent of the preset has the tools and, switched on, the gate${beside}`, async (host) => {
    await using server = await startJudged();
    await using model = startModel((request) => {
      if (request.messages.at(-1)?.role === "tool") return { text: "Done." };
      return { calls: request.index === 0 ? [compare, poorWork] : [poorWork] };
    });
    await using scene = await createScene(host, {
      model,
      server,
      profile: "web",
      // The user's settings are there for a preset only where the bundle has made them known to the host.
      ...(alsoBundle
        ? { settings: "assay:\n  gateEnabled: true\n" }
        : { plugin: null, env: { ASSAY_GATE_ENABLED: "true" } }),
    });
    await copyPlugin(join(scene.home, ".agent-presets", "assay"));
    const [created, said] = await scene.drive([
      { do: "create", agent: "a", preset: "assay" },
      { do: "say", agent: "a", text: "Sort it." },
    ]);
    for (const tool of ["verifier_compare", "verifier_session", "verifier_status", "bash"]) {
      assert(created.tools.includes(tool), `${tool} is missing: ${created.tools.join(" ")}`);
    }
    assertEquals(new Set(created.tools).size, created.tools.length, "no tool twice");
    assertEquals(said.end, "completed");
    const session = await scene.session();
    assertEquals(session.header.agentPreset, "assay");
    assertEquals(toolOutcomes(session).map(({ name, isError }) => [name, isError]), [
      ["verifier_compare", false],
      ["bash", false],
      ["bash", false],
    ]);
    assertEquals(
      gateMessages(session).map(({ purpose }) => purpose),
      ["steer"],
      "once, not once for each of two rows",
    );
    assertEquals(turnEnds(session), ["completed"]);
  });
}

hostTest("an agent of the preset isn't gated until the gate is switched on", async (host) => {
  await using server = await startJudged();
  await using model = startModel([{ calls: [poorWork] }, { text: "Done." }]);
  await using scene = await createScene(host, { model, server, profile: "web", plugin: null });
  await copyPlugin(join(scene.home, ".agent-presets", "assay"));
  await scene.drive([
    { do: "create", agent: "a", preset: "assay" },
    { do: "say", agent: "a", text: "Work." },
  ]);
  assertEquals(gateMessages(await scene.session()), []);
  assertEquals(server.judge.calls.length, 0);
});
