/**
 * The OpenAPI 3.1 document, from the list of operations and zod's own JSON Schema writer (draft 2020-12, which is
 * OpenAPI 3.1's dialect). Loaded when somebody asks for it, so that it costs a start nothing.
 *
 * @module
 */
import * as z from "zod";
import { ERROR_STATUS, type ErrorCode } from "../verifier/errors.ts";
import {
  compareRequestSchema,
  criteriaSchema,
  selectRequestSchema,
  trackRequestSchema,
  trajectorySchema,
} from "../verifier/requests.ts";
import { criteriaParseRequest } from "./criteria.ts";
import { IDEMPOTENCY_PARAMETER } from "./idempotency.ts";
import type { Operation } from "./operation.ts";
import { PROBLEM_TITLES } from "./problem.ts";
import * as schemas from "./schemas.ts";
import { probeRequest } from "./status.ts";
import { trackerStartSchema, trackerUpdateSchema } from "../verifier/tracker/requests.ts";
import { reviewReserveSchema, reviewSettleSchema } from "../verifier/reviews/requests.ts";
import { gateRequestSchema } from "../verifier/gate/requests.ts";
import { sessionRequestSchema } from "../verifier/session/requests.ts";
import * as sessions from "./session_schemas.ts";
import { bestOfNRequestSchema } from "../verifier/best_of_n/requests.ts";
import * as drafts from "./best_of_n_schemas.ts";
import * as gates from "./gate_schemas.ts";
import * as reviews from "./review_schemas.ts";
import * as trackers from "./tracker_schemas.ts";
import * as decisions from "./decision_schemas.ts";

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
/** A JSON object. */
export type JsonObject = { readonly [name: string]: Json };

/** Schemas of requests by component name: described as callers may send them (defaults are optional). */
const REQUESTS = {
  Trajectory: trajectorySchema,
  Criteria: criteriaSchema,
  CompareRequest: compareRequestSchema,
  SelectRequest: selectRequestSchema,
  TrackRequest: trackRequestSchema,
  GateRequest: gateRequestSchema,
  BestOfNRequest: bestOfNRequestSchema,
  SessionRequest: sessionRequestSchema,
  TrackerStartRequest: trackerStartSchema,
  TrackerUpdateRequest: trackerUpdateSchema,
  ReviewReserveRequest: reviewReserveSchema,
  ReviewSettleRequest: reviewSettleSchema,
  CriteriaParseRequest: criteriaParseRequest,
  ProbeRequest: probeRequest,
} satisfies Record<string, z.ZodType>;

/** Schemas of answers by component name. */
const ANSWERS = {
  Score: schemas.score,
  Plan: schemas.plan,
  PlanResult: schemas.planResult,
  Usage: schemas.usage,
  CompareResult: schemas.compareResult,
  CompareAnswer: schemas.compareAnswer,
  SelectResult: schemas.selectResult,
  SelectAnswer: schemas.selectAnswer,
  TrackResult: schemas.trackResult,
  TrackAnswer: schemas.trackAnswer,
  GateResult: gates.gateResult,
  GateAnswer: gates.gateAnswer,
  BestOfNResult: drafts.bestOfNResult,
  BestOfNAnswer: drafts.bestOfNAnswer,
  DraftEvent: drafts.draftEvent,
  SessionResult: sessions.sessionResult,
  SessionAnswer: sessions.sessionAnswer,
  TrackerStarted: trackers.trackerStarted,
  TrackerUpdated: trackers.trackerUpdated,
  TrackerUpdateAnswer: trackers.trackerUpdateAnswer,
  TrackerResult: trackers.trackerResult,
  Review: reviews.review,
  ReviewGranted: reviews.reviewGranted,
  ReviewRefused: reviews.reviewRefused,
  ReviewList: reviews.reviewList,
  AppendedEvent: schemas.progressEvents.appended,
  CallEvent: schemas.progressEvents.call,
  PairEvent: schemas.progressEvents.pair,
  CheckpointEvent: schemas.progressEvents.checkpoint,
  Rubric: schemas.rubric,
  ParsedCriteria: schemas.parsedCriteria,
  RubricList: schemas.rubricList,
  Status: schemas.status,
  Probe: schemas.probe,
  Health: schemas.health,
  Readiness: schemas.readiness,
  DecisionList: decisions.decisionList,
  Decision: decisions.decision,
  Replay: decisions.replay,
  Statistics: decisions.statistics,
  Problem: schemas.problem,
} satisfies Record<string, z.ZodType>;

/** Name of a schema under `components`. Operations name theirs, so that a start doesn't build those of answers. */
export type SchemaName = keyof typeof REQUESTS | keyof typeof ANSWERS;

/** A component's schema. */
export function schemaNamed(name: string): z.ZodType | undefined {
  return ({ ...REQUESTS, ...ANSWERS } as Readonly<Record<string, z.ZodType>>)[name];
}

/** What every operation of a kind can answer with, beside its own problems. */
function problemsOf(operation: Operation): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(operation.problems);
  if (operation.access === "token") codes.add("unauthorized").add("forbidden");
  if (operation.access === "document") codes.add("forbidden");
  if (operation.body !== undefined) {
    for (
      const code of ["invalid_json", "invalid_request", "body_too_large", "unsupported_media_type"] as const
    ) {
      codes.add(code);
    }
  }
  codes.add("internal");
  return [...codes];
}

function componentSchemas(): JsonObject {
  const merged: Record<string, Json> = {};
  for (const [io, group] of [["input", REQUESTS], ["output", ANSWERS]] as const) {
    const registry = z.registry<{ id?: string | undefined }>();
    for (const [id, schema] of Object.entries(group)) registry.add(schema, { id });
    const written = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
    for (const [id, schema] of Object.entries(written.schemas)) {
      // `$schema` and `$id` are for documents that stand alone; `id` comes from a schema's own metadata.
      const { $schema: _schema, $id: _id, id: _meta, ...rest } = schema as Record<string, Json>;
      merged[id] = rest;
    }
  }
  return merged;
}

function reference(name: SchemaName | null): JsonObject {
  return name === null ? { type: "string" } : { $ref: `#/components/schemas/${name}` };
}

/** The OpenAPI document of these operations. */
export function openApiDocument(operations: readonly Operation[], version: string): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = describe(operation);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Assay",
      version,
      summary: "An LLM-as-a-Verifier: grades the work of AI agents.",
      description:
        "Scores are 0 to 1, candidate indices count from 0, steps and checkpoints from 1, times are ISO 8601 " +
        "in UTC, money is US dollars and null when unknown. A part that could not be scored has a reason, never a number.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This server" }],
    tags: [
      { name: "Verbs", description: "What Assay is for." },
      { name: "Trackers", description: "Runs that are followed step by step." },
      {
        name: "Reviews",
        description: "What automatic reviews of a session may buy, and what became of them.",
      },
      { name: "Decisions", description: "What was judged, why, and what it cost." },
      { name: "Criteria", description: "What the work is graded on." },
      { name: "Server", description: "State and health." },
      { name: "Documents", description: "This description, for programs and for people." },
    ],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "A token of the server's configuration (`ASSAY_TOKEN` or `server.tokens`). A server without any " +
            "answers its own machine only, and then no token is needed.",
        },
      },
    },
  };
}

const header = (description: string): JsonObject => ({ description, schema: { type: "string" } });
/** Only for tokens with a daily budget. */
const BUDGET_HEADERS: JsonObject = {
  "RateLimit": header(
    "Of a token with a daily budget: what is left (r) of calls, tokens and millionths of a dollar, and the seconds " +
      "until it begins anew (t).",
  ),
  "RateLimit-Policy": header("Of a token with a daily budget: its limits (q) per window of seconds (w)."),
};
const RETRY_HEADERS: JsonObject = { "Retry-After": header("Seconds until it is worth asking again.") };
const REPLAY_HEADERS: JsonObject = {
  "Idempotent-Replayed": header("`true` on an answer that was made for an earlier request with this key."),
};

function takesKey({ parameters }: Operation): boolean {
  return parameters?.includes(IDEMPOTENCY_PARAMETER) ?? false;
}

function describe(operation: Operation): JsonObject {
  const responses: Record<string, Json> = {};
  for (const answer of operation.answers) {
    const content = Object.entries(answer.content ?? {}).map(([type, { schema, example }]) => [
      type,
      { schema: reference(schema), ...(example === undefined ? {} : { example: plain(example) }) },
    ]);
    responses[String(answer.status)] = {
      description: answer.description,
      headers: {
        "X-Request-Id": { description: "The request's own id, or a new one.", schema: { type: "string" } },
        ...(operation.problems?.includes("budget_exhausted") ? BUDGET_HEADERS : {}),
        ...(takesKey(operation) ? REPLAY_HEADERS : {}),
      },
      ...(content.length === 0 ? {} : { content: Object.fromEntries(content) as JsonObject }),
    };
  }
  const byStatus = Map.groupBy(problemsOf(operation), (code) => ERROR_STATUS[code]);
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[String(status)] = {
      description: codes.map((code) => `\`${code}\`: ${PROBLEM_TITLES[code]}.`).join(" "),
      ...(codes.includes("budget_exhausted") ? { headers: { ...BUDGET_HEADERS, ...RETRY_HEADERS } } : {}),
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    };
  }
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    ...(operation.access === "token" ? {} : { security: [] }),
    parameters: [
      ...(operation.parameters ?? []).filter(({ name }) => name !== "Accept").map((
        { example, ...parameter },
      ) => ({
        ...parameter,
        schema: { type: "string" },
        example,
      })),
      {
        name: "X-Request-Id",
        in: "header",
        required: false,
        description:
          "Given back in the answer and in the log if it is 1 to 128 visible ASCII characters; else a new one is made.",
        schema: { type: "string" },
      },
    ],
    ...(operation.body === undefined ? {} : {
      requestBody: {
        required: operation.body.optional !== true,
        content: {
          "application/json": {
            schema: reference(operation.body.schema),
            examples: plain(operation.body.examples),
          },
        },
      },
    }),
    responses,
  };
}

/** A deep copy that JSON can hold. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
