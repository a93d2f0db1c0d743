// @ts-check
/**
 * What `bench/dsh_plugin.ts` puts into the host beside the plugin: a tool that only echoes, and a clock that is read when
 * the host writes a call and its result into the session. Config: `out`, the JSON file that all figures go to when the
 * host ends; `load`, modules of a plugin that are imported and applied here one after the other, with the time that
 * takes; then the file is written as soon as that is done.
 *
 * @module
 */
import { writeFileSync } from "node:fs";

export const name = "assay-bench-probe";
export const inject = ["tools"];

/**
 * @param {any} ctx the host's context; its types aren't there when this file is checked
 * @param {{ out: string, load?: string[] }} config
 */
export function apply(ctx, { out, load = [] }) {
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
  ctx.tools.register({
    name: "bench_echo",
    description: "Gives its text back.",
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
    execute: (/** @type {{ text: string }} */ { text }) => Promise.resolve({ text }),
  });
  const write = () => writeFileSync(out, JSON.stringify(figures));
  if (load.length === 0) {
    process.on("exit", write);
    return;
  }
  (async () => {
    // Once everything else is up, so that only the plugin's own time is taken.
    await ctx.get("loader")?.await();
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
