/**
 * Which of the settings' layers a running host obeys, and what it tells of them.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { type FaultyServer, startFaulty } from "./assay.ts";
import { toolOutcomes } from "./log.ts";
import { startModel } from "./model.ts";
import { createScene, hostTest } from "./scene.ts";

const compare = { calls: [{ name: "verifier_compare", arguments: { task: "t", a: "one", b: "two" } }] };
const rowUrl = (url: string): string => `- id: assay\n  config: ${JSON.stringify({ url })}\n`;

hostTest("a row wins over the user's settings, and these win over the environment", async (host) => {
  const servers = [startFaulty("internal"), startFaulty("internal"), startFaulty("internal")] as const;
  const [environment, user, row] = servers;
  try {
    const asks = async (options: { settings?: string; patch?: string }): Promise<number[]> => {
      const before = servers.map(({ asked }) => asked.length);
      await using model = startModel([compare, { text: "Done." }]);
      await using scene = await createScene(host, { model, server: environment, ...options });
      assertEquals((await scene.headless("Compare.")).code, 0);
      return servers.map(({ asked }, i) => Math.sign(asked.length - before[i]!));
    };
    const settings = `assay:\n  url: ${user.url}\n`;
    assertEquals(await asks({}), [1, 0, 0]);
    assertEquals(await asks({ settings }), [0, 1, 0]);
    assertEquals(await asks({ settings, patch: rowUrl(row.url) }), [0, 0, 1]);
  } finally {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }
});

hostTest("a changed settings file is obeyed by the host that runs", async (host) => {
  await using first: FaultyServer = startFaulty("internal");
  await using second: FaultyServer = startFaulty("unauthorized");
  let home = "";
  await using model = startModel(async ({ index, all }) => {
    if (index === 0) return compare;
    if (index === 1) await Deno.writeTextFile(join(home, "settings.yaml"), `assay:\n  url: ${second.url}\n`);
    // The host looks at the file by itself, a moment later.
    if (all.includes("unauthorized") || index > 100) return { text: "Done." };
    await new Promise((resolve) => setTimeout(resolve, 50));
    return compare;
  });
  await using scene = await createScene(host, { model, settings: `assay:\n  url: ${first.url}\n` });
  home = scene.home;
  assertEquals((await scene.headless("Compare.")).code, 0);
  const outcomes = toolOutcomes(await scene.session());
  assertMatch(outcomes[0]!.text, /internal/);
  assertMatch(outcomes.at(-1)!.text, /unauthorized/);
});

hostTest("a settings page is told of the namespace, but never of the token", async (host) => {
  await using model = startModel([{ text: "Done." }]);
  const token = "a-secret-token-of-the-tests";
  await using scene = await createScene(host, {
    model,
    settings: `assay:\n  token: ${token}\n  gateThreshold: 0.7\n`,
  });
  const [described] = await scene.drive([{ do: "settings", namespace: "assay" }]);
  assert(described !== null, "the namespace is registered");
  assert(!JSON.stringify(described).includes(token), "the token is withheld");
  assertEquals(described.user.gateThreshold, 0.7);
  assertEquals(described.secrets.map(({ path }: { path: readonly string[] }) => [path].flat().join(".")), [
    "token",
  ]);
});

hostTest(
  "a wrong value in a row ends the host with the field and the value; an unknown key with the nearest",
  async (host) => {
    for (
      const [config, expected] of [
        [{ timeoutMs: -5 }, /timeoutMs[^]*-5/],
        [{ treshold: 0.5 }, /treshold[^]*threshold/],
      ] as const
    ) {
      await using model = startModel([{ text: "Done." }]);
      const row = "treshold" in config ? "assay-verify-gate" : "assay";
      await using scene = await createScene(host, {
        model,
        patch: `- id: ${row}\n  config: ${JSON.stringify(config)}\n`,
      });
      const run = await scene.headless("Hello.");
      assertEquals(run.code, 1);
      assertMatch(run.stderr, expected);
    }
  },
);

hostTest(
  "a wrong value in the user's settings or the environment doesn't keep the host from starting",
  async (host) => {
    await using server = startFaulty("internal");
    await using model = startModel([compare, { text: "Done." }]);
    await using scene = await createScene(host, {
      model,
      server,
      settings: "assay:\n  timeoutMs: soon\n",
      env: { ASSAY_GATE_THRESHOLD: "high" },
    });
    const run = await scene.headless("Compare.");
    assertEquals([run.code, run.stdout], [0, "Done.\n"], run.stderr);
    assertEquals(server.asked.length > 0, true);
  },
);
