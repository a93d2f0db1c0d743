/**
 * The backend behind `--server`: the HTTP API, with live progress.
 *
 * @module
 */
import { createParser } from "eventsource-parser";
import { AssayError, type AssayErrorOptions, ERROR_STATUS, type ErrorCode } from "../verifier/errors.ts";
import type {
  CallOptions,
  CompareResult,
  PlanResult,
  ProgressEvent,
  SelectResult,
  TrackResult,
} from "../verifier/types.ts";
import type { DecisionRecord } from "../verifier/decisions/decisions.ts";
import type { DecisionPage } from "../verifier/decisions/store.ts";
import type { Replay } from "../verifier/decisions/replay.ts";
import { readAllStatistics, type Statistics } from "../verifier/decisions/statistics.ts";
import type { BestOfNResult } from "../verifier/best_of_n/requests.ts";
import type { GateResult } from "../verifier/gate/requests.ts";
import type { SessionResult } from "../verifier/session/requests.ts";
import type { TrackerResult, TrackerUpdateResult } from "../verifier/tracker/requests.ts";
import type { ReviewList } from "../verifier/reviews/requests.ts";
import type { Backend, StatusInfo } from "./backend.ts";
import { ServerError, UsageError } from "./io.ts";
import { escapeText } from "./text.ts";

/** Largest answer that is read, and longest single event. */
const MAXIMUM_ANSWER = 256 * 1024 * 1024;

/** Opens a server. Nothing is sent yet. @param idempotencyKey sent with verbs @throws {UsageError} for what is no http: or https: URL */
export function remoteBackend(url: string, token: string | undefined, idempotencyKey?: string): Backend {
  const base = readUrl(url);
  const headers: Record<string, string> = { "user-agent": "assay-cli" };
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new UsageError(
      `--idempotency-key must be 1 to 255 visible ASCII characters: ${escapeText(idempotencyKey)}`,
    );
  }
  if (token !== undefined && token !== "") headers.authorization = `Bearer ${token}`;

  const send = async (path: string, init: RequestInit, signal: AbortSignal): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(base + path, {
        ...init,
        headers: { ...headers, ...init.headers },
        // A redirect would carry the token and the trajectories to a host that nobody named.
        redirect: "manual",
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new ServerError(`cannot reach ${base}: ${shortReason(error)}`);
    }
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new ServerError(
        `${base} answers with a redirect (${response.status}), which is not followed; name its target with --server`,
      );
    }
    if (!response.ok) throw await readProblem(response, base);
    return response;
  };
  const json = async <T>(path: string, signal: AbortSignal, body?: unknown): Promise<T> => {
    const init = body === undefined
      ? {}
      : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await send(path, init, signal);
    try {
      return await response.json() as T;
    } catch {
      if (signal.aborted) throw signal.reason;
      throw new ServerError(
        `${base}${path} answered with something that is not JSON; is it an Assay server?`,
      );
    }
  };
  const verb = async <T>(
    path: string,
    request: unknown,
    options: CallOptions,
    key: string | undefined = idempotencyKey,
  ): Promise<T> => {
    const signal = options.signal ?? new AbortController().signal;
    const response = await send(path, {
      method: "POST",
      body: JSON.stringify(request),
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
    }, signal);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      return await response.json() as T;
    }
    return await readEvents<T>(response, base, options, signal);
  };
  return {
    place: base,
    compare: (request, options) => verb<CompareResult | PlanResult>("/v1/compare", request, options),
    select: (request, options) => verb<SelectResult | PlanResult>("/v1/select", request, options),
    track: (request, options) => verb<TrackResult | PlanResult>("/v1/track", request, options),
    gate: (request, options) => verb<GateResult | PlanResult>("/v1/gate", request, options),
    bestOfN: (request, options) => verb<BestOfNResult | PlanResult>("/v1/best-of-n", request, options),
    session: (request, options) => verb<SessionResult | PlanResult>("/v1/session", request, options),
    trackers: {
      start: (request, signal) => json<{ id: string; warnings: string[] }>("/v1/trackers", signal, request),
      update: (id, request, options) =>
        verb<TrackerUpdateResult | PlanResult>(
          `/v1/trackers/${encodeURIComponent(id)}/steps`,
          request,
          options,
          options.idempotencyKey,
        ),
      read: (id, signal) => json<TrackerResult>(`/v1/trackers/${encodeURIComponent(id)}`, signal),
      delete: async (id, signal) => {
        const response = await send(`/v1/trackers/${encodeURIComponent(id)}`, { method: "DELETE" }, signal);
        await response.body?.cancel();
      },
    },
    status: (signal) => json<StatusInfo>("/v1/status", signal),
    probe: async (judge, signal) => {
      const body = judge === undefined ? {} : { judge };
      return (await json<{ judges: Awaited<ReturnType<Backend["probe"]>> }>("/v1/status/probe", signal, body))
        .judges;
    },
    decisions: (options, signal) => json<DecisionPage>(`/v1/decisions${queryOf(options)}`, signal),
    decision: (id, signal) => json<DecisionRecord>(`/v1/decisions/${encodeURIComponent(id)}`, signal),
    replay: (id, signal) => json<Replay>(`/v1/decisions/${encodeURIComponent(id)}/replay`, signal, {}),
    statistics: (query, signal) =>
      readAllStatistics((cursor) =>
        json<Statistics>(
          `/v1/statistics${queryOf({ ...query, ...(cursor === undefined ? {} : { cursor }) })}`,
          signal,
        )
      ),
    reviews: (query, signal) => json<ReviewList>(`/v1/reviews${queryOf(query)}`, signal),
    close: () => Promise.resolve(),
  };
}

function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]]
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function readUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(
      `--server must be an http: or https: URL such as http://127.0.0.1:8787: ${escapeText(url)}`,
    );
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new UsageError("--server must not hold a user name or password; the token comes from ASSAY_TOKEN");
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, "");
}

function shortReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(": ").slice(-1)[0]!.split("\n", 1)[0]!;
}

async function readProblem(response: Response, base: string): Promise<Error> {
  const text = await response.text().catch(() => "");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  return toError(body) ??
    new ServerError(`${base} answered ${response.status} ${response.statusText}`.trim());
}

/** A problem document as the error it was; `null` for anything else. */
function toError(body: unknown): AssayError | null {
  if (typeof body !== "object" || body === null) return null;
  const problem = body as Record<string, unknown>;
  if (typeof problem.code !== "string" || typeof problem.detail !== "string") return null;
  const code: ErrorCode = Object.hasOwn(ERROR_STATUS, problem.code) ? problem.code as ErrorCode : "internal";
  const options: { -readonly [K in keyof AssayErrorOptions]: AssayErrorOptions[K] } = {};
  if (Array.isArray(problem.errors)) {
    options.errors = problem.errors as NonNullable<AssayErrorOptions["errors"]>;
  }
  if (problem.plan !== undefined) options.plan = problem.plan as NonNullable<AssayErrorOptions["plan"]>;
  if (typeof problem.retryAfterSeconds === "number") options.retryAfterSeconds = problem.retryAfterSeconds;
  return new AssayError(code, problem.detail, options);
}

async function readEvents<T>(
  response: Response,
  base: string,
  options: CallOptions,
  signal: AbortSignal,
): Promise<T> {
  let last: { readonly event: string; readonly data: unknown } | null = null;
  let broken: string | null = null;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      let value: unknown;
      try {
        value = JSON.parse(data);
      } catch {
        broken = `an event that is not JSON (${event ?? "message"})`;
        return;
      }
      if (event === "result" || event === "problem") last = { event, data: value };
      else options.onEvent?.({ type: event, ...(value as object) } as ProgressEvent);
    },
  });
  let size = 0;
  try {
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      size += text.length;
      if (size > MAXIMUM_ANSWER) throw new ServerError(`${base} sent more than ${MAXIMUM_ANSWER} bytes`);
      parser.feed(text);
      if (last !== null || broken !== null) break;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof ServerError) throw error;
    throw new ServerError(`the connection to ${base} broke before the result: ${shortReason(error)}`);
  }
  const end = last as { readonly event: string; readonly data: unknown } | null;
  if (broken !== null) throw new ServerError(`${base} sent ${broken}`);
  if (end === null) throw new ServerError(`${base} closed the connection before the result`);
  if (end.event === "problem") {
    throw toError(end.data) ?? new ServerError(`${base} reported a problem that can't be read`);
  }
  return end.data as T;
}
