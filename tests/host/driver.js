// @ts-check
/**
 * A plugin that plays the user in a real host: it makes, resumes and forks agents, gives them tasks, and writes what it
 * was asked to look at. The headless profile's own runner knows neither presets nor a second turn.
 *
 * Its config: `plan`, a JSON file with the list of things to do in order, and `out`, the JSON file for their results.
 *
 * | action | does | result |
 * |---|---|---|
 * | `{ do: "create", agent, preset? }` | a fresh session | `{ session, tools }` |
 * | `{ do: "resume", agent, session }` | a stored session, by its id | `{ session, tools }` |
 * | `{ do: "fork", agent, of }` | a child of a live session, with its whole history | `{ session, tools }` |
 * | `{ do: "say", agent, text, png? }` | a user's message (with a picture, as base64), and waits until the agent is idle | `{ end }` |
 * | `{ do: "plan", agent, active }` | switches plan mode | null |
 * | `{ do: "settings", namespace }` | what a settings page gets to see | its descriptor, or null |
 * | `{ do: "stay" }` | the host stays up until it is killed | null |
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

export const name = "assay-test-driver";
export const inject = ["agents", "agentDefaultModel", "sessions"];

/** @typedef {any} Context The host's context; its types aren't there when this file is checked. */

/**
 * @param {Context} ctx
 * @param {{ plan: string, out: string }} config
 */
export function apply(ctx, config) {
  const exit = ctx.get("appExit");
  play(ctx, config).then((stays) => stays || exit(0), (error) => {
    console.error(error);
    exit(1);
  });
}

/**
 * @param {Context} ctx
 * @param {{ plan: string, out: string }} config
 * @returns {Promise<boolean>} whether the host stays up
 */
async function play(ctx, { plan, out }) {
  await ctx.get("loader")?.await(); // every other row is up from here on
  const results = [];
  /** @type {Map<string, any>} */
  const agents = new Map();
  for (const action of JSON.parse(readFileSync(plan, "utf8"))) {
    results.push(action.do === "stay" ? null : await act(ctx, agents, action));
    writeFileSync(out, JSON.stringify(results));
    if (action.do === "stay") return true;
  }
  return false;
}

/**
 * @param {Context} ctx
 * @param {Map<string, any>} agents by the plan's names
 * @param {any} action
 * @returns {Promise<unknown>}
 */
async function act(ctx, agents, action) {
  if (action.do === "settings") {
    const all = ctx.get("settings").describe({ redactSecrets: true });
    return all.find((/** @type {any} */ each) => each.ns === action.namespace) ?? null;
  }
  if (action.do === "plan") {
    ctx.get("planMode").set(agents.get(action.agent), action.active);
    return null;
  }
  if (action.do === "say") {
    const agent = agents.get(action.agent);
    agent.followup(Object.freeze({
      id: randomUUID(),
      role: "user",
      content: [
        { type: "text", text: action.text },
        ...(action.png === undefined ? [] : [{ type: "image", attachment: await saved(ctx, action.png) }]),
      ],
      source: { kind: "user" },
    }));
    await agent.whenIdle();
    await ctx.get("sessions").flush(agent.session);
    const end = agent.session.events.findLast((/** @type {any} */ event) => event.type === "turn/end");
    return { end: end?.data.reason.kind ?? null };
  }
  const { agent } = await enter(ctx, agents, action);
  agents.set(action.agent, agent);
  await agent.whenIdle();
  return {
    session: agent.session.id,
    tools: ctx.get("tools").schemas(agent).map((/** @type {any} */ tool) => tool.name),
  };
}

/**
 * @param {Context} ctx
 * @param {string} png base64
 * @returns {Promise<unknown>} how a message refers to it
 */
async function saved(ctx, png) {
  return await ctx.get("attachments").saveImage({
    data: Buffer.from(png, "base64"),
    mediaType: "image/png",
    name: "picture.png",
  });
}

/**
 * @param {Context} ctx
 * @param {Map<string, any>} agents
 * @param {any} action
 * @returns {Promise<{ agent: any }>}
 */
function enter(ctx, agents, action) {
  const { provider, model } = ctx.get("agentDefaultModel").currentSelection();
  const shared = { agentOptions: { provider, model } };
  const registry = ctx.get("agents");
  if (action.do === "resume") return registry.resume({ ...shared, resumeSessionId: action.session });
  const sessionId = `session-${randomUUID()}`;
  if (action.do === "fork") {
    const parent = agents.get(action.of).session;
    const seed = parent.events;
    const meta = { cwd: process.cwd(), parentSession: parent.id, seedLength: seed.length };
    return registry.create({ ...shared, sessionId, seed, meta });
  }
  if (action.do !== "create") throw new Error(`the driver can't ${action.do}`);
  if (action.preset === undefined) {
    return registry.create({ ...shared, sessionId, meta: { cwd: process.cwd() } });
  }
  const presets = ctx.get("agentPresets");
  return registry.create({
    ...shared,
    sessionId,
    meta: { cwd: process.cwd(), agentPreset: action.preset },
    // It must return nothing: what it returns is taken for a commit.
    setup: async (/** @type {Context} */ agentContext) => {
      await presets.mount(agentContext, action.preset);
    },
  });
}
