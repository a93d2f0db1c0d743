/**
 * What the verbs' routes share: parse, call one verb, answer with JSON or with live progress.
 *
 * @module
 */
import type * as z from "zod";
import type { RequestAllowance } from "../verifier/budget/budget.ts";
import { type Exact, parseRequest } from "../verifier/requests.ts";
import type { PlanResult, ProgressEvent, SharedResult } from "../verifier/types.ts";
import { jsonResponse, toJson } from "./answer.ts";
import { readJson } from "./body.ts";
import { eventStream, type ServerEvent } from "./events.ts";
import type { AppContext, Parameter, Services, Verb } from "./operation.ts";
import { problemDocument, toAssayError } from "./problem.ts";

/** Documentation of the header that asks for live progress. */
export const ACCEPT_PARAMETER: Parameter = {
  name: "Accept",
  in: "header",
  required: false,
  description:
    "`text/event-stream` answers with live progress: events `plan`, `call`, `pair`, `checkpoint` and `draft` as they " +
    "happen, then exactly one `result` or `problem`. Every event has an `id`; comments keep the connection alive.",
  example: "text/event-stream",
};

/**
 * Answers one verb's request. The caller's disconnect aborts the verb in both forms of answer.
 *
 * @throws {AssayError} when the request is refused, or the verb fails before its first event
 */
export async function answerVerb<S extends z.ZodType, Result extends Pick<SharedResult, "usage">>(
  context: AppContext,
  services: Services,
  schema: S,
  verb: Verb<Exact<z.output<S>>, Result>,
): Promise<Response> {
  const request = parseRequest(schema, await readJson(context.req.raw, services.bodyLimitBytes));
  const allowance = openAllowance(context, services);
  const run = async (signal: AbortSignal, onEvent?: (event: ProgressEvent) => void) => {
    try {
      const options = {
        signal,
        ...(onEvent === undefined ? {} : { onEvent }),
        ...(allowance === null ? {} : { allowance }),
      };
      const result = await verb(services.environment, request, options);
      count(services, result);
      return result;
    } catch (error) {
      services.meter.failed++;
      throw error;
    } finally {
      await allowance?.settle();
    }
  };
  if (!acceptsEvents(context.req.header("accept"))) {
    const caller = watchCaller(context);
    try {
      return jsonResponse(await run(caller.signal));
    } finally {
      caller.stop();
    }
  }
  return await eventStream({
    // A stream's own cancellation tells of a reader who leaves; the request's signal of one who does so before.
    signal: context.req.raw.signal,
    keepAliveMs: services.keepAliveMs,
    run: async (emit, linked) => {
      const result = await run(linked, (event) => emit(toServerEvent(event)));
      toJson(result);
      return { event: "result", data: result };
    },
    onFailure: (error) => {
      const known = toAssayError(error);
      if (known.code === "internal") services.log(describeFailure(context, error));
      return { event: "problem", data: problemDocument(known) };
    },
  });
}

/** The request's share of its caller's daily budget, or `null`; the answer's headers will tell what is left. */
export function openAllowance(context: AppContext, services: Services): RequestAllowance | null {
  const allowance = services.budgets.open(context.var.caller);
  if (allowance !== null) context.set("allowance", allowance);
  return allowance;
}

/** A signal that aborts when the caller hangs up before there is an answer. Call `stop` when there is one. */
export function watchCaller(
  context: AppContext,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const watch = context.env.watch?.();
  const { signal } = context.req.raw;
  if (watch === undefined) return { signal, stop: () => {} };
  return { signal: AbortSignal.any([signal, watch.signal]), stop: watch.stop };
}

/** The operator's line for a failure that nobody foresaw. */
export function describeFailure(context: AppContext, error: unknown): string {
  const text = error instanceof Error ? error.stack ?? String(error) : String(error);
  const cause = error instanceof Error && error.cause instanceof Error
    ? `\n  caused by ${error.cause.stack}`
    : "";
  return `${context.var.requestId} ${context.req.method} ${context.req.path}: ${text}${cause}`;
}

function count(services: Services, result: Pick<SharedResult, "usage"> | PlanResult): void {
  services.meter.finished++;
  if (!("plan" in result)) services.meter.add(result.usage);
}

function toServerEvent({ type, ...data }: ProgressEvent): ServerEvent {
  return { event: type, data };
}

/** Whether an Accept header names `text/event-stream` with a quality above 0. A bare wildcard doesn't ask for it. */
export function acceptsEvents(header: string | undefined): boolean {
  return (header ?? "").split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return type === "text/event-stream" && (quality === undefined || Number(quality) > 0);
  });
}
