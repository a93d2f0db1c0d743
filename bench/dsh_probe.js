// @ts-check
/**
 * What `bench/dsh_plugin.ts` puts into the host beside the plugin: a tool that only echoes, one that posts its text to
 * `post` by itself, and a clock that is read when the host writes a call and its result into the session.
 *
 * Config: `out`, the JSON file that all figures go to when the host ends; `post`, an address; `load`, modules of a plugin
 * that are imported and applied here one after the other, with the time that takes; then the file is written as soon as
 * that is done.
 *
 * @module
 */
import { writeFileSync } from "node:fs";

export const name = "assay-bench-probe";
export const inject = ["tools"];

/**
 * @param {any} ctx the host's context; its types aren't there when this file is checked
 * @param {{ out: string, post?: string, load?: string[] }} config
 */
export function apply(ctx, { out, post, load = [] }) {
  /** @type {Map<string, { name: string, at: number }>} */
  const open = new Map();
  /** @type {{ calls: { name: string, ms: number, isError: boolean }[], importMs: number, applyMs: number }} */
  const figures = { calls: [], importMs: 0, applyMs: 0 };
  ctx.on("session/event", (/** @type {unknown} */ _session, /** @type {any} */ { type, data }) => {
    const now = performance.now();
    if (type === "tool/call") open.set(data.callId, { name: data.name, at: now });
    if (type !== "tool/result") return;
    for (const { toolCallId, isError } of data.message.content) {
      const call = open.get(toolCallId);
      if (call) figures.calls.push({ name: call.name, ms: now - call.at, isError: isError === true });
    }
  });
  const text = (/** @type {string} */ name, /** @type {(text: string) => Promise<string>} */ answer) =>
    ctx.tools.register({
      name,
      description: "Takes a text and gives one back.",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      output: {
        schema: {
          type: "object",
          properties: { text: { type: "string" } },
          required: ["text"],
          additionalProperties: false,
        },
        render: (/** @type {unknown} */ _args, /** @type {{ text: string }} */ value) => [
          { type: "text", text: value.text },
        ],
      },
      execute: async (/** @type {{ text: string }} */ args) => ({ text: await answer(args.text) }),
    });
  text("bench_echo", (given) => Promise.resolve(given));
  text("bench_straight", async (given) => {
    const response = await fetch(post ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: given,
    });
    const { usage } = await response.json();
    if (usage.calls !== 6) throw new Error(`a comparison bought ${usage.calls} calls, not 6`);
    return "done";
  });
  const write = () => writeFileSync(out, JSON.stringify(figures));
  if (load.length === 0) {
    process.on("exit", write);
    return;
  }
  (async () => {
    // Once everything else is up, so that only the plugin's own time is taken.
    await ctx.get("loader")?.await();
    // The host's own work, queued at that moment, is no part of it.
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const file of load) {
      const started = performance.now();
      const plugin = await import(file);
      const imported = performance.now();
      await ctx.plugin(plugin, {});
      figures.importMs += imported - started;
      figures.applyMs += performance.now() - imported;
    }
    write();
  })();
}
