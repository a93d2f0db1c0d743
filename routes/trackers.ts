/**
 * `/v1/trackers`: runs that are followed step by step.
 *
 * @module
 */
import { AssayError } from "../verifier/errors.ts";
import { parseRequest } from "../verifier/requests.ts";
import { deleteTracker, readTracker, startTracker, updateTracker } from "../verifier/tracker/tracker.ts";
import { followTracker, parseEventId } from "../verifier/tracker/events.ts";
import { trackerStartSchema, trackerUpdateSchema } from "../verifier/tracker/requests.ts";
import { jsonResponse } from "./answer.ts";
import { readJson } from "./body.ts";
import { eventStream } from "./events.ts";
import type { AppContext, Operation, Parameter, Services } from "./operation.ts";
import { problemDocument, toAssayError } from "./problem.ts";
import { TRACKER_EXAMPLES } from "./tracker_examples.ts";
import { ACCEPT_PARAMETER, answerVerb } from "./verb.ts";

const ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of the tracker.",
  example: TRACKER_EXAMPLES.update.id,
};

const KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "1 to 255 visible ASCII characters. The same key with the same step gives the first answer, and scores the step " +
    "again where that had no score; with another step it is 409 idempotency_conflict.",
  example: "run-7/step-12",
};

const LAST_EVENT: Parameter = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "Id of the last event that was read: the stream goes on behind it.",
  example: "7;5,6",
};

/** The endpoints. */
export function trackerOperations(services: Services): readonly Operation[] {
  const { environment } = services;
  return [
    {
      method: "post",
      path: "/v1/trackers",
      id: "startTracker",
      tag: "Trackers",
      access: "token",
      summary: "Start following a run",
      description:
        "Task, criteria and judge are fixed from here on. Nothing is judged yet. Steps are stored as they come, and " +
        "survive restarts, without known kinds of secrets and what `redact` matches. With an `id` of the caller's own it can be sent again: one tracker is made.",
      body: {
        schema: "TrackerStartRequest",
        examples: {
          start: {
            summary: "A tracker",
            value: { task: "Make the failing test pass.", criteria: "coding" },
          },
          redact: {
            summary: "Without customer numbers in what is stored",
            value: { task: "Make the failing test pass.", redact: ["customer-\\d{4,8}"] },
          },
          id: {
            summary: "With an id of one's own",
            value: { id: "ses-42-main", task: "Make the failing test pass.", criteria: "coding" },
          },
        },
      },
      answers: [{
        status: 201,
        description: "The tracker was made.",
        content: { "application/json": { schema: "TrackerStarted", example: TRACKER_EXAMPLES.started } },
      }, {
        status: 200,
        description: "The same request had made it before.",
        content: { "application/json": { schema: "TrackerStarted", example: TRACKER_EXAMPLES.again } },
      }],
      problems: ["idempotency_conflict", "store_unavailable"],
      handle: async (context) => {
        const request = parseRequest(
          trackerStartSchema,
          await readJson(context.req.raw, services.bodyLimitBytes),
        );
        const started = await startTracker(environment, request, context.var.caller);
        const response = jsonResponse(started, started.created ? 201 : 200);
        response.headers.set("location", `/v1/trackers/${started.id}`);
        return response;
      },
    },
    {
      method: "post",
      path: "/v1/trackers/{id}/steps",
      id: "updateTracker",
      tag: "Trackers",
      access: "token",
      summary: "Append one step and score the run up to it",
      description:
        "The step is stored before it is scored, and stays whatever becomes of the scoring: a failed one leaves it " +
        "`unscored` with the reason, with status 200. Repeat the request with the same `Idempotency-Key`, or send " +
        '`{ "retry": index }`, to score it again. Concurrent updates are put in order; none is lost. With event ' +
        "streams the first event is `appended`.",
      parameters: [ID, KEY, ACCEPT_PARAMETER],
      body: {
        schema: "TrackerUpdateRequest",
        examples: {
          step: {
            summary: "One step",
            value: { step: "$ npm test\n1 failing", expectedLength: 0 },
          },
          retry: { summary: "Score a step again", value: { retry: 1 } },
        },
      },
      answers: [{
        status: 200,
        description: "The step with its score, or the plan of a dry run.",
        content: {
          "application/json": { schema: "TrackerUpdateAnswer", example: TRACKER_EXAMPLES.update },
          "text/event-stream": { schema: null },
        },
      }],
      problems: ["not_found", "length_conflict", "idempotency_conflict", "store_unavailable"],
      handle: (context) => {
        const key = readIdempotencyKey(context);
        return answerVerb(
          context,
          services,
          trackerUpdateSchema,
          (_, request, options) =>
            updateTracker(environment, idOf(context), request, {
              ...options,
              ...(key === undefined ? {} : { idempotencyKey: key }),
              onAppended: ({ index }, length) => options.onEvent?.({ type: "appended", index, length }),
            }),
        );
      },
    },
    {
      method: "get",
      path: "/v1/trackers/{id}",
      id: "readTracker",
      tag: "Trackers",
      access: "token",
      summary: "Show a tracker",
      description:
        "All steps with their scores. Records that can't be read are left out and named in `warnings`.",
      parameters: [ID],
      answers: [{
        status: 200,
        description: "The tracker.",
        content: { "application/json": { schema: "TrackerResult", example: TRACKER_EXAMPLES.result } },
      }],
      problems: ["not_found", "store_unavailable"],
      handle: async (context) => jsonResponse(await readTracker(environment, idOf(context))),
    },
    {
      method: "delete",
      path: "/v1/trackers/{id}",
      id: "deleteTracker",
      tag: "Trackers",
      access: "token",
      summary: "Delete a tracker",
      description: "Removes all its steps and scores.",
      parameters: [ID],
      answers: [{ status: 204, description: "It is gone." }],
      problems: ["not_found", "store_unavailable"],
      handle: async (context) => {
        await deleteTracker(environment, idOf(context));
        return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
      },
    },
    {
      method: "get",
      path: "/v1/trackers/{id}/events",
      id: "followTracker",
      tag: "Trackers",
      access: "token",
      summary: "Follow a tracker live",
      description:
        "Server-sent events: `start`, then for each step `step` when it is stored and `score` when its score or the " +
        "reason for having none is there. First the log is replayed, then it is followed for some minutes; the last " +
        "event is `end` with the reason (`time`, `deleted`). Come back with `Last-Event-ID` to go on.",
      parameters: [ID, LAST_EVENT],
      answers: [{
        status: 200,
        description: "The events.",
        content: { "text/event-stream": { schema: null, example: TRACKER_EXAMPLES.events } },
      }],
      problems: ["not_found", "invalid_request", "store_unavailable"],
      handle: (context) => followEvents(context, services),
    },
  ];
}

function idOf(context: AppContext): string {
  return context.req.param("id") ?? "";
}

function readIdempotencyKey(context: AppContext): string | undefined {
  const key = context.req.header("idempotency-key");
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw AssayError.field("/Idempotency-Key", "must be 1 to 255 visible ASCII characters", key);
}

async function followEvents(context: AppContext, services: Services): Promise<Response> {
  const last = context.req.header("last-event-id");
  const from = last === undefined || last === "" ? undefined : parseEventId(last);
  let lastId = "0";
  return await eventStream({
    signal: context.req.raw.signal,
    keepAliveMs: services.keepAliveMs,
    run: async (emit, signal) => {
      const reason = await followTracker(
        services.environment,
        idOf(context),
        ({ type, ...data }, id) => {
          lastId = id;
          emit({ event: type, data, id });
        },
        { signal, ...(from === undefined ? {} : { from }) },
      );
      return { event: "end", data: { reason }, id: lastId };
    },
    onFailure: (error) => ({ event: "problem", data: problemDocument(toAssayError(error)), id: lastId }),
  });
}
