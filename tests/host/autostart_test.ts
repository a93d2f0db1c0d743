/**
 * A server that the plugin starts by itself, and that never outlives the host.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { root } from "./host.ts";
import { toolOutcomes } from "./log.ts";
import { startModel } from "./model.ts";
import { answers, npxFolder, untilGone } from "./npx.ts";
import { createScene, hostTest } from "./scene.ts";
import { freePort } from "../free_port.ts";

const compare = { calls: [{ name: "verifier_compare", arguments: { task: "t", a: "one", b: "two" } }] };

for (const end of ["by itself", "killed"] as const) {
  hostTest(
    `with autostart a server is there when a tool needs it, and gone when the host has ended ${end}`,
    async (host) => {
      const folder = await Deno.makeTempDir({ prefix: "assay-npx-" });
      try {
        const npx = await npxFolder(folder);
        const url = `http://127.0.0.1:${freePort()}`;
        const idle = Promise.withResolvers<void>();
        let alive = false;
        await using model = startModel(async (request) => {
          if (request.index === 0) return compare;
          alive = await answers(url);
          idle.resolve();
          if (end === "killed") await new Promise((resolve) => setTimeout(resolve, 500));
          return { text: "Done." };
        });
        await using scene = await createScene(host, {
          model,
          server: { url },
          settings: `assay:\n  autostart: true\n`,
          env: {
            ASSAY_HOME: root,
            ASSAY_STORE: "memory",
            PATH: `${npx.path}:${Deno.env.get("PATH")}`,
          },
        });
        const running = scene.start(["Compare."]);
        await Promise.race([idle.promise, running.ended]);
        assertEquals(alive, true, "a server answers while the host runs");
        if (end === "killed") running.kill("SIGKILL");
        const run = await running.ended;
        if (end === "by itself") {
          assertEquals([run.code, run.stdout, run.stderr], [0, "Done.\n", ""]);
          assertEquals(toolOutcomes(await scene.session()).map(({ isError }) => isError), [false]);
          assertEquals(await answers(url), false, "it ended with the host");
        }
        await untilGone(url);
        assertMatch(await npx.asked(), /^-y deno@\d+\.\d+\.\d+ task serve --stop-with-stdin\n$/);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  );
}

hostTest("without autostart nothing is started, and the tool says what to do", async (host) => {
  await using model = startModel([compare, { text: "Done." }]);
  await using scene = await createScene(host, { model, server: { url: `http://127.0.0.1:${freePort()}` } });
  const run = await scene.headless("Compare.");
  assertEquals([run.code, run.stderr], [0, ""]);
  const [refused] = toolOutcomes(await scene.session());
  assertEquals(refused?.isError, true);
  assertMatch(refused!.text, /server_unreachable/);
  assertMatch(refused!.text, /autostart/);
});
