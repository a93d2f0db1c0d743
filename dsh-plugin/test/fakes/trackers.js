// @ts-check
/**
 * The server's trackers in memory, as far as the plugin depends on them: chosen ids, steps in order, and keys under
 * which a step is stored once and scored again as long as it has no score.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { VerifierError } from "../../lib/server/errors.js";

const NO_USAGE = {
  calls: 1,
  attempts: 1,
  cacheHits: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  usd: null,
};

export class FakeTrackers {
  /** @type {Map<string, { body: any, steps: { key: string, step: unknown, score: number | null }[] }>} */
  trackers = new Map();
  /** @type {{ method: string, path: string, body: any, options: any }[]} */
  seen = [];
  /** What the next scoring of a step does instead: fail before it is stored, after it (unheard, or as the server's own fault), or leave it without a score. @type {("refuse" | "lose" | "break" | "unscored")[]} */
  next = [];
  /** Whether the judge refuses images. */
  blind = false;

  /** A connection to these trackers. */
  get connection() {
    return {
      post: (/** @type {string} */ path, /** @type {any} */ body, /** @type {any} */ options) =>
        Promise.resolve().then(() => this.#post(path, JSON.parse(JSON.stringify(body)), options)),
      get: (/** @type {string} */ path, /** @type {any} */ options) =>
        Promise.resolve().then(() => this.#get(path, options)),
      remove: () => Promise.reject(new Error("not used")),
    };
  }

  /** The texts of each tracker, in the order in which the trackers were made. */
  get curves() {
    return [...this.trackers.values()].map(({ steps }) => steps.map(({ step }) => step));
  }

  /** @param {string} path @param {any} body @param {any} options */
  #post(path, body, options) {
    this.seen.push({ method: "POST", path, body, options });
    if (path === "/v1/trackers") {
      const { id, ...rest } = body;
      if (this.blind && body.images !== undefined) {
        throw new VerifierError("invalid_request", "The request is wrong.", {
          status: 400,
          errors: [{ path: "/images", message: "must have no images, as judge evidence can't read them" }],
        });
      }
      const there = this.trackers.get(id);
      if (there !== undefined && JSON.stringify(there.body) !== JSON.stringify(rest)) {
        throw new VerifierError(
          "idempotency_conflict",
          `the tracker id "${id}" was started with another request`,
          {
            status: 409,
          },
        );
      }
      if (there === undefined) this.trackers.set(id, { body: rest, steps: [] });
      return answer({ id, length: there?.steps.length ?? 0, warnings: [] });
    }
    const id = path.split("/")[3] ?? "";
    const tracker = this.#find(id);
    const { idempotencyKey: key } = options;
    const event = this.next.shift();
    if (event === "refuse") throw new VerifierError("server_unreachable", "No server answers.");
    let at = tracker.steps.findIndex((each) => each.key === key);
    if (at === -1) {
      if (body.expectedLength !== undefined && body.expectedLength !== tracker.steps.length) {
        throw new VerifierError("length_conflict", "The tracker has another length.", {
          status: 409,
          length: tracker.steps.length,
        });
      }
      at = tracker.steps.push({ key, step: body.step, score: null }) - 1;
    } else if (JSON.stringify(tracker.steps[at]?.step) !== JSON.stringify(body.step)) {
      throw new VerifierError("idempotency_conflict", "The key stands for another step.", { status: 409 });
    }
    if (event === "break") throw new VerifierError("internal", "Something broke.", { status: 500 });
    if (event === "lose") throw new VerifierError("deadline_exceeded", "The deadline passed.");
    const stored = tracker.steps[at];
    if (stored !== undefined && event !== "unscored") stored.score ??= (at + 1) / 10;
    return answer({
      id,
      length: at + 1,
      step: this.#step(tracker, at),
      advice: at === 0 ? null : "rising",
      shortened: { steps: 0, leftOut: 0, characters: 0 },
      decision: "dec_1",
      judge: {
        profile: "evidence",
        kind: "evidence",
        model: "evidence",
        promptVersion: "1",
        coreVersion: "1",
      },
      channels: { logprobs: 1 },
      usage: NO_USAGE,
      warnings: [],
    });
  }

  /** @param {string} path @param {any} options */
  #get(path, options) {
    this.seen.push({ method: "GET", path, body: undefined, options });
    const id = path.split("/")[3] ?? "";
    const tracker = this.#find(id);
    const steps = tracker.steps.map((_, i) => this.#step(tracker, i));
    return answer({
      id,
      task: tracker.body.task,
      createdAt: "2026-12-01T00:00:00.000Z",
      criteria: [],
      length: steps.length,
      steps,
      curve: [],
      advice: steps.length > 1 ? "rising" : null,
      warnings: [],
    });
  }

  /** @param {string} id */
  #find(id) {
    const tracker = this.trackers.get(id);
    if (tracker === undefined) throw new VerifierError("not_found", `no tracker ${id}`, { status: 404 });
    return tracker;
  }

  /** @param {{ steps: { step: unknown, score: number | null }[] }} tracker @param {number} at */
  #step({ steps }, at) {
    const { key, step, score } =
      /** @type {{ key: string, step: unknown, score: number | null }} */ (steps[at]);
    return {
      index: at + 1,
      state: score === null ? "unscored" : "scored",
      score,
      standardError: null,
      ...(score === null ? { unscored: { reason: "timeout" } } : {}),
      characters: String(step).length,
      images: 0,
      keyHash: createHash("sha256").update(key).digest("hex"),
      createdAt: "2026-12-01T00:00:00.000Z",
    };
  }
}

/** @param {unknown} value */
function answer(value) {
  return { value, status: 200, headers: new Headers() };
}
