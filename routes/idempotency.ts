/**
 * `Idempotency-Key`: a request that creates or buys something can be sent again without buying again. The same key with
 * the same body gives the first answer, also while that is still being made; another body is a conflict. Only final
 * answers are kept (for a day): what may end otherwise next time leaves the key free.
 *
 * @module
 */
import { inTime } from "../store/patience.ts";
import { withoutSecrets } from "../verifier/decisions/decisions.ts";
import { AssayError } from "../verifier/errors.ts";
import { redact } from "../verifier/redaction/redact.ts";
import { readBytes } from "./body.ts";
import {
  type AnswerStore,
  type Claim,
  createAnswerStore,
  type KeptAnswer,
  type Ownership,
} from "./idempotency_store.ts";
import type { AppContext, Operation, Parameter, Services } from "./operation.ts";
import { problemResponse, toAssayError } from "./problem.ts";
import { acceptsEvents, watchCaller } from "./verb.ts";

/** Documentation of the header. */
export const IDEMPOTENCY_PARAMETER: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "1 to 255 visible ASCII characters, for example a UUID. For a day, the same key with the same body gives the " +
    "first answer with `Idempotent-Replayed: true`, also while that is being made, and buys nothing; with another " +
    "body it is 409 idempotency_conflict. Failures that may end otherwise next time (409, 429, 5xx) free the key. " +
    "`Idempotent-Kept: false` says that an answer could not be stored and may not be given again, " +
    "`Idempotent-Redacted: true` that a replayed answer lacks what looked like a secret in the first one.",
  example: "0b1c8f6e-9a4f-4f2c-8f43-5f0f6f2d8c11",
};

/** Operations that buy nothing, or know keys of their own. */
const EXEMPT: ReadonlySet<string> = new Set([
  "updateTracker",
  "probeJudges",
  "parseCriteria",
  "replayDecision",
]);
/** Answers that the same request would get again. */
const FINAL_FAILURES: ReadonlySet<number> = new Set([400, 403, 413, 415, 422]);
const KEPT_HEADERS = ["content-type", "cache-control", "location"];
/** How long a request without a deadline of its own waits for the first one. */
const PATIENCE_MS = 600_000;
/** How long writing an answer of any size may take; whoever asked waits for it. */
const LONGEST_KEEPING_MS = 60_000;
const FIRST_POLL_MS = 50;
const SLOWEST_POLL_MS = 1000;
/** After this long without a word from a request of this process, the store is asked too: it may have died silently. */
const LOCAL_WAIT_MS = 5000;
/** Answers that could not be stored are kept in memory, the newest so many. */
const MOST_UNSTORED = 50;

interface InFlight {
  readonly bodyHash: string;
  /** The final answer, or `null` when the key is free again. Never rejects. */
  readonly answer: Promise<KeptAnswer | null>;
}

/** Operations of which those that buy or create understand `Idempotency-Key`. */
export function withIdempotency(services: Services, operations: readonly Operation[]): readonly Operation[] {
  const answers = createAnswerStore(services.environment.store, { log: services.log });
  const flights = new Map<string, InFlight>();
  return operations.map((operation) => {
    if (operation.method !== "post" || operation.access !== "token" || EXEMPT.has(operation.id)) {
      return operation;
    }
    return {
      ...operation,
      parameters: [...operation.parameters ?? [], IDEMPOTENCY_PARAMETER],
      problems: [...operation.problems ?? [], "idempotency_conflict", "store_unavailable"],
      handle: (context) => {
        const key = context.req.header("idempotency-key");
        if (key === undefined) return operation.handle(context);
        return handleKeyed(context, key, { services, operation, answers, flights });
      },
    };
  });
}

interface Room {
  readonly services: Services;
  readonly operation: Operation;
  readonly answers: AnswerStore;
  readonly flights: Map<string, InFlight>;
}

async function handleKeyed(context: AppContext, key: string, room: Room): Promise<Response> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw AssayError.field("/Idempotency-Key", "must be 1 to 255 visible ASCII characters", key);
  }
  const { raw } = context.req;
  const bytes = await readBytes(raw, room.services.bodyLimitBytes);
  const { method, headers, signal } = raw;
  const body = bytes.length === 0 ? null : bytes;
  // The handler reads the body as if nobody had.
  context.req.raw = new Request(raw.url, { method, headers, body, signal });
  const scope = JSON.stringify([context.var.caller ?? "", method, context.req.path, key]);
  const id = await sha256Hex(new TextEncoder().encode(scope));
  const found = await take(context, id, await sha256Hex(bytes), bytes, room);
  return "answer" in found
    ? replay(context, room.operation, found.answer)
    : await work(context, id, found, room);
}

/** Waits until the key is ours or there is an answer. */
async function take(
  context: AppContext,
  id: string,
  bodyHash: string,
  bytes: Uint8Array,
  { answers, flights }: Room,
): Promise<{ readonly answer: KeptAnswer } | { readonly ownership: Ownership; readonly bodyHash: string }> {
  const caller = watchCaller(context);
  let limit: number | undefined;
  let pause = FIRST_POLL_MS;
  try {
    for (;;) {
      caller.signal.throwIfAborted();
      const flight = flights.get(id);
      if (flight !== undefined) {
        if (flight.bodyHash !== bodyHash) throw conflict();
        const answer = await firstOf(flight.answer, LOCAL_WAIT_MS, caller.signal);
        if (answer !== undefined && answer !== null) return { answer };
      }
      const claim = await claimInTime(answers, id, bodyHash);
      if (claim.kind === "mine") return { ownership: claim.ownership, bodyHash };
      if (claim.kind === "done") return { answer: claim.answer };
      if (claim.kind === "conflict") throw conflict();
      limit ??= Date.now() + patience(bytes);
      if (Date.now() >= limit) {
        throw new AssayError(
          "deadline_exceeded",
          "The first request with this Idempotency-Key is still being worked on.",
          { retryAfterSeconds: 1 },
        );
      }
      if (flights.has(id)) continue;
      await firstOf(new Promise<never>(() => {}), pause, caller.signal);
      pause = Math.min(SLOWEST_POLL_MS, pause * 1.5);
    }
  } finally {
    caller.stop();
  }
}

/** A claim that comes too late is given up, or nobody could take the key as long as this process lives. */
async function claimInTime(answers: AnswerStore, id: string, bodyHash: string): Promise<Claim> {
  const claiming = answers.claim(id, bodyHash);
  try {
    return await inTime(claiming);
  } catch (error) {
    claiming.then((late) => late.kind === "mine" ? late.ownership.release() : undefined, () => {});
    throw error;
  }
}

/** Does the work and keeps what is final. */
async function work(
  context: AppContext,
  id: string,
  { ownership, bodyHash }: { readonly ownership: Ownership; readonly bodyHash: string },
  { services, operation, flights }: Room,
): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<KeptAnswer | null>();
  const flight = { bodyHash, answer: promise };
  flights.set(id, flight);
  const forget = (): void => {
    if (flights.get(id) === flight) flights.delete(id);
  };
  const release = async (): Promise<void> => {
    await ownership.release();
    forget();
    resolve(null);
  };
  /** @returns the answer that counts, and whether it will be given again */
  const keep = async (
    answer: KeptAnswer,
  ): Promise<{ readonly answer: KeptAnswer; readonly kept: boolean }> => {
    const record = withoutSecretsIn(answer, services.environment.redact ?? redact);
    try {
      const first = await inTime(ownership.finish(record), LONGEST_KEEPING_MS);
      forget();
      resolve(first);
      return { answer: first === record ? answer : first, kept: true };
    } catch (error) {
      // It is paid for, so it is given, and remembered as long as this process lives.
      services.log(
        `${context.var.requestId} an answer can't be kept for its Idempotency-Key: ${
          error instanceof Error ? error.message : String(error)
        }`,
      );
      resolve(record);
      const unstored = [...flights].filter(([, other]) => SETTLED.has(other));
      for (const [old] of unstored.slice(0, Math.max(0, unstored.length - MOST_UNSTORED))) {
        flights.delete(old);
      }
      SETTLED.add(flight);
      return { answer, kept: false };
    }
  };

  let response: Response;
  try {
    response = await operation.handle(context);
  } catch (error) {
    const known = toAssayError(error);
    if (!FINAL_FAILURES.has(known.status)) {
      await release();
      throw error;
    }
    response = problemResponse(known);
  }
  if (response.body !== null && response.headers.get("content-type")?.startsWith("text/event-stream")) {
    return new Response(keepLastEvent(response.body, operation, keep, release), response);
  }
  const body = new Uint8Array(await response.arrayBuffer());
  if (!isFinal(operation, response.status, body)) {
    await release();
    return new Response(body, response);
  }
  const headers = Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  const { answer, kept } = await keep({ status: response.status, headers, body });
  const given = new Response(answer.body, { status: answer.status, headers: { ...answer.headers } });
  if (!kept) given.headers.set("idempotent-kept", "false");
  return given;
}

/** The answer as it may be kept: strings of a result lose what looks like a secret, and a header says so. */
function withoutSecretsIn(answer: KeptAnswer, takeOut: (text: string) => string): KeptAnswer {
  const text = new TextDecoder().decode(answer.body);
  if (takeOut(text) === text) return answer;
  const body = new TextEncoder().encode(JSON.stringify(withoutSecrets(JSON.parse(text), takeOut)));
  return { ...answer, headers: { ...answer.headers, "idempotent-redacted": "true" }, body };
}

/** Flights whose answer could not be stored. */
const SETTLED = new WeakSet<InFlight>();

function isFinal({ isSettled }: Operation, status: number, body: Uint8Array): boolean {
  if (status < 200 || status >= 300) return FINAL_FAILURES.has(status);
  return isSettled === undefined || isSettled(JSON.parse(new TextDecoder().decode(body)));
}

/** Passes events on as they come; the last one only when it is kept, so that whoever has seen it can ask again. */
function keepLastEvent(
  events: ReadableStream<Uint8Array>,
  operation: Operation,
  keep: (answer: KeptAnswer) => Promise<unknown>,
  release: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = events.getReader();
  let settled = false;
  const settle = async (how: () => Promise<unknown>): Promise<void> => {
    if (settled) return;
    settled = true;
    await how();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          await settle(release);
          controller.close();
          return;
        }
        const last = lastEvent(value);
        if (last !== null) {
          await settle(isFinal(operation, last.status, last.body) ? () => keep(last) : release);
        }
        controller.enqueue(value);
      } catch (error) {
        await settle(release);
        controller.error(error);
      }
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await settle(release);
    },
  }, { highWaterMark: 0 });
}

/** The answer in a chunk that is a `result` or `problem` event; `eventStream` sends one event per chunk. */
function lastEvent(chunk: Uint8Array): KeptAnswer | null {
  const decoder = new TextDecoder();
  const head = /\nevent: (result|problem)\n/.exec(decoder.decode(chunk.subarray(0, 300)));
  if (head === null) return null;
  const text = decoder.decode(chunk);
  const data = text.slice(text.indexOf("\ndata: ") + "\ndata: ".length).trimEnd();
  const isProblem = head[1] === "problem";
  return {
    status: isProblem ? Number((JSON.parse(data) as { status: unknown }).status) : 200,
    headers: {
      "content-type": isProblem ? "application/problem+json" : "application/json",
      "cache-control": "no-store",
    },
    body: new TextEncoder().encode(data),
  };
}

/** A kept answer in the form that this request asks for: an event stream gets the result as its only event. */
function replay(context: AppContext, operation: Operation, { status, headers, body }: KeptAnswer): Response {
  const streams = operation.answers.some(({ content }) =>
    content !== undefined && "text/event-stream" in content
  );
  const replayed = { "idempotent-replayed": "true" };
  if (!streams || status >= 300 || !acceptsEvents(context.req.header("accept"))) {
    return new Response(body, { status, headers: { ...headers, ...replayed } });
  }
  return new Response(`id: 1\nevent: result\ndata: ${new TextDecoder().decode(body)}\n\n`, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      ...("idempotent-redacted" in headers ? { "idempotent-redacted": "true" } : {}),
      ...replayed,
    },
  });
}

function conflict(): AssayError {
  return new AssayError(
    "idempotency_conflict",
    "This Idempotency-Key was used with another body. Take a new key for a new request.",
    { errors: [{ path: "/Idempotency-Key", message: "must be new for another body" }] },
  );
}

/** The body's own deadline, else a long time. */
function patience(bytes: Uint8Array): number {
  try {
    const { deadlineMs } = JSON.parse(new TextDecoder().decode(bytes)) as { deadlineMs?: unknown };
    if (typeof deadlineMs === "number" && deadlineMs > 0) return Math.min(deadlineMs, 86_400_000);
  } catch {
    // Whoever works on the same bytes says what is wrong with them.
  }
  return PATIENCE_MS;
}

/** The promise's value, or `undefined` after the time. @throws the signal's reason */
async function firstOf<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  const leave = (): void => reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
}

async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
