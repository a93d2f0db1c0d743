// @ts-check
/**
 * What an agent has still running when its turn stops: then it waits, and its work isn't finished. The host's services
 * know for certain; where a host has none, the log says what was started and not heard of again.
 *
 * @module
 */
import { allCalls } from "../host/calls.js";
import { dataOf, isFields, sourceOf, userText } from "../host/events.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/task.js").Task} Task */

/**
 * What the host's services say; null where there is no such service.
 * @typedef {object} HostFacts
 * @property {boolean | null} planMode Whether the agent is in plan mode, or will be at its next step.
 * @property {readonly { id: string, startedAt: number | null }[] | null} jobs Background jobs that run.
 * @property {readonly string[] | null} subagents Subagents that are at work.
 */

/** No service at all: everything is read from the log. @type {HostFacts} */
export const UNKNOWN_FACTS = Object.freeze({
  planMode: null,
  jobs: null,
  subagents: null,
});

/**
 * Asks the host's services. A service that fails counts as one that isn't there.
 *
 * @param {{ get(name: string): any }} ctx
 * @param {{ session: { id: string } }} agent
 * @param {AbortSignal} [signal]
 * @returns {Promise<HostFacts>} Never rejects.
 */
export async function hostFacts(ctx, agent, signal) {
  const { id } = agent.session;
  return {
    planMode: ask(() => {
      const plan = ctx.get("planMode")?.get(agent);
      return isFields(plan) ? plan.active === true || plan.pending === true : null;
    }),
    jobs: ask(() => {
      /** @type {unknown} */
      const jobs = ctx.get("jobs")?.list(agent);
      if (!Array.isArray(jobs)) return null;
      return jobs.filter((job) =>
        isFields(job) &&
        (job.status === "running" || job.status === "stopping") &&
        // Jobs without an owner are listed for everybody.
        (job.ownerSession === undefined || job.ownerSession === id)
      ).map((job) => ({
        id: String(job.id),
        startedAt: typeof job.startedAt === "number" ? job.startedAt : null,
      }));
    }),
    subagents: await askLater(async () => {
      const subagents = ctx.get("subagents");
      if (typeof subagents?.listChildren !== "function") return null;
      /** @type {unknown} */
      const children = await subagents.listChildren(id, signal);
      if (!Array.isArray(children)) return null;
      const agents = ctx.get("agents");
      // "running" in the list means loaded: a child that has answered and can be asked again is loaded too.
      return children.filter((child) =>
        isFields(child) && child.activity === "running" &&
        (typeof agents?.get !== "function" ||
          agents.get(child.id)?.status === "running")
      ).map((child) => String(child.id));
    }),
  };
}

/**
 * The names of what runs for the task: jobs and subagents. A job that ran before the task began (a development server)
 * is no part of it.
 *
 * @param {readonly HostEvent[]} events The session's own.
 * @param {number} from Sequence number from which the task's work counts.
 * @param {HostFacts} facts
 * @returns {{ jobs: string[], subagents: string[] }}
 */
export function running(events, from, { jobs, subagents }) {
  const began = events.find(({ seq }) => seq >= from)?.time ?? 0;
  const logged = jobs === null || subagents === null ? started(events, from) : { jobs: [], subagents: [] };
  return {
    jobs: jobs === null
      ? logged.jobs
      : jobs.filter(({ startedAt }) => startedAt === null || startedAt >= began)
        .map(({ id }) => id),
    subagents: subagents === null ? logged.subagents : [...subagents],
  };
}

/**
 * What the log tells of: started since `from`, and not reported as settled since. What ran when the host was started
 * again is gone.
 *
 * @param {readonly HostEvent[]} events @param {number} from
 * @returns {{ jobs: string[], subagents: string[] }}
 */
function started(events, from) {
  const restart = events.findLast(({ type }) => type === "session/end-seed")?.seq ?? -1;
  const since = Math.max(from, restart + 1);
  /** @type {Set<string>} */
  const jobs = new Set();
  /** @type {Set<string>} */
  const subagents = new Set();
  /** @type {{ seq: number, apply: () => void }[]} */
  const changes = [];
  for (const { seq, name, arguments: given, result } of allCalls(events)) {
    if (result === null || result.isError || seq < since) continue;
    const at = result.seq;
    const job = /^started background (?:subagent )?job (\S+)$/.exec(result.text.trim())?.[1];
    const child = /^started subagent (\S+)$/.exec(result.text.trim())?.[1];
    if (job !== undefined) {
      changes.push({
        seq: at,
        apply: () => jobs.add(job),
      });
    } else if (child !== undefined) {
      changes.push({
        seq: at,
        apply: () => subagents.add(child),
      });
    } else if (name === "send_message") {
      changes.push({
        seq: at,
        apply: () => subagents.add(String(given?.subagent_id)),
      });
    } else if (name === "job_output" || name === "job_kill") {
      const over = name === "job_kill" ||
        /\[status: (?:completed|killed|failed)/.test(result.text);
      if (over) {
        changes.push({
          seq: at,
          apply: () => jobs.delete(String(given?.job_id)),
        });
      }
    }
  }
  for (const event of events) {
    const source = sourceOf(event);
    if (source === null) continue;
    const job = source.plugin === "tool-jobs"
      ? /^background job (\S+)/.exec(userText(event))?.[1]
      : undefined;
    if (job !== undefined) {
      changes.push({
        seq: event.seq,
        apply: () => jobs.delete(job),
      });
    }
    if (source.kind === "subagent-settled") {
      changes.push({
        seq: event.seq,
        apply: () => subagents.delete(String(source.senderSessionId)),
      });
    }
  }
  for (const { apply } of changes.toSorted((a, b) => a.seq - b.seq)) apply();
  return { jobs: [...jobs], subagents: [...subagents] };
}

/**
 * Whether plan mode is on after a log's last event.
 * @param {readonly HostEvent[]} events With what was inherited, as the mode is.
 * @returns {boolean}
 */
export function inPlanMode(events) {
  const mode = events.findLast(({ type }) => type === "plan/mode");
  return mode !== undefined && dataOf(mode).active === true;
}

/** @template T @param {() => T} question @returns {T | null} */
function ask(question) {
  try {
    return question();
  } catch {
    // The log is asked instead.
    return null;
  }
}

/** @template T @param {() => Promise<T>} question @returns {Promise<T | null>} */
async function askLater(question) {
  try {
    return await question();
  } catch {
    return null;
  }
}
