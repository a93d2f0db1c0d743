/**
 * `GET /v1/status` and `POST /v1/status/probe`: what this server is, and whether its judges really answer.
 *
 * @module
 */
import * as z from "zod";
import { probeJudges } from "../verifier/probe.ts";
import { parseRequest } from "../verifier/requests.ts";
import { jsonResponse } from "./answer.ts";
import { readOptionalJson } from "./body.ts";
import { storeFault } from "./health.ts";
import type { Operation, Services } from "./operation.ts";
import { openAllowance, watchCaller } from "./verb.ts";

/** Body of `POST /v1/status/probe`. */
export const probeRequest = z.strictObject({
  judge: z.string().min(1).optional().describe("Name of one judge; all when absent."),
}).describe("Which judges to probe.");

/** The two endpoints. */
export function statusOperations(services: Services): readonly Operation[] {
  return [
    {
      method: "get",
      path: "/v1/status",
      id: "getStatus",
      tag: "Server",
      access: "token",
      summary: "Show judges, versions, store and usage",
      description: "Holds no secret: of a key it says only whether there is one. Buys nothing.",
      answers: [{
        status: 200,
        description: "The state of the server.",
        content: { "application/json": { schema: "Status", example: STATUS_EXAMPLE } },
      }],
      handle: async (context) => {
        const { environment, meter, runtime, budgets } = services;
        const fault = await storeFault(services);
        const budget = fault === null ? { budget: await budgets.status(context.var.caller) } : {};
        return jsonResponse({
          name: "assay",
          runtime,
          startedAt: meter.startedAt.toISOString(),
          uptimeSeconds: Math.max(0, Math.round((Date.now() - meter.startedAt.getTime()) / 1000)),
          ...services.versions(),
          defaultJudge: environment.judges.defaultProfile,
          judges: environment.judges.profiles(),
          store: {
            kind: environment.store.kind,
            healthy: fault === null,
            ...(fault === null ? {} : { detail: fault }),
          },
          requests: { finished: meter.finished, failed: meter.failed },
          usage: meter.usage,
          ...budget,
        });
      },
    },
    {
      method: "post",
      path: "/v1/status/probe",
      id: "probeJudges",
      tag: "Server",
      access: "token",
      summary: "Ask the judges for one real score",
      description:
        "Buys one scored call per judge (or of one judge), after forgetting what was learnt about its capabilities. A " +
        "judge's failure is its entry's `code` and `detail`; the answer is 200 all the same.",
      body: {
        optional: true,
        schema: "ProbeRequest",
        examples: {
          all: { summary: "Every judge", value: {} },
          one: { summary: "One judge", value: { judge: "evidence" } },
        },
      },
      answers: [{
        status: 200,
        description: "What every judge answered.",
        content: { "application/json": { schema: "Probe", example: PROBE_EXAMPLE } },
      }],
      handle: async (context) => {
        const { judge } = parseRequest(
          probeRequest,
          await readOptionalJson(context.req.raw, services.bodyLimitBytes),
        );
        const { signal, stop } = watchCaller(context);
        const allowance = openAllowance(context, services);
        const options = {
          signal,
          ...(judge === undefined ? {} : { judge }),
          ...(allowance === null ? {} : { allowance }),
        };
        try {
          return jsonResponse({
            judges: await probeJudges(services.verbs.compare, services.environment, options),
          });
        } finally {
          stop();
          await allowance?.settle();
        }
      },
    },
  ];
}

const STATUS_EXAMPLE = {
  name: "assay",
  runtime: { name: "deno", version: "2.9.6" },
  startedAt: "2026-12-01T02:00:00.000Z",
  uptimeSeconds: 61,
  coreVersion: "0.1.0",
  promptVersion: "1",
  defaultJudge: "evidence",
  judges: [{
    name: "evidence",
    kind: "evidence",
    model: "evidence-2",
    family: null,
    host: null,
    hasKey: false,
    isDefault: true,
    learnt: {},
  }],
  store: { kind: "deno-kv", healthy: true },
  requests: { finished: 3, failed: 0 },
  usage: {
    calls: 6,
    attempts: 6,
    cacheHits: 2,
    inputTokens: 10800,
    cachedInputTokens: 0,
    outputTokens: 720,
    reasoningTokens: 0,
    usd: null,
  },
};

const PROBE_EXAMPLE = {
  judges: [{
    judge: "deepseek",
    ok: false,
    score: null,
    channel: null,
    latencyMs: 180,
    code: "judge_unauthorized",
    detail: "api.deepseek.com answered 401: the key in DEEPSEEK_API_KEY was refused",
    learnt: {},
  }],
};
