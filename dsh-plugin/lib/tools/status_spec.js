// @ts-check
/**
 * What the host and the model are told of `verifier_status`. What it does is loaded by the first call.
 *
 * @module
 */
import { anything, array, boolean, integer, nullable, number, object, optional, string } from "./output.js";
import { usage } from "./results.js";

const limit = nullable(number());
const amounts = object({ calls: number(), tokens: number(), usd: number() });

/** The server's own account of itself, as `GET /v1/status` gives it. */
export const server = object({
  runtime: object({ name: string(), version: nullable(string()) }),
  startedAt: string(),
  uptimeSeconds: number(),
  coreVersion: string(),
  promptVersion: string(),
  defaultJudge: string(),
  judges: array(object({
    name: string(),
    kind: string(),
    model: string(),
    family: nullable(string()),
    host: nullable(string()),
    hasKey: boolean(),
    isDefault: boolean(),
    learnt: anything(),
  })),
  store: object({
    kind: string(),
    healthy: boolean(),
    detail: optional(string()),
  }),
  requests: object({ finished: integer(), failed: integer() }),
  usage,
  budget: optional(object({
    day: string(),
    resetsAt: string(),
    limits: object({ calls: limit, tokens: limit, usd: limit }),
    spent: amounts,
    held: amounts,
  })),
});

/** Whether there is a verifier, what it is, and what this plugin is set to. @type {import("./register.js").ToolSpec} */
export const status = {
  name: "verifier_status",
  description: "Whether the verifier can be reached, its judges, budget left and settings. Costs nothing.",
  parameters: { type: "object", properties: {} },
  output: object({
    statement: string(),
    reachable: boolean(),
    code: nullable(string()),
    detail: nullable(string()),
    url: string(),
    pluginVersion: string(),
    server: nullable(server),
    settings: array(
      object({ name: string(), value: anything(), source: string() }),
    ),
    gate: nullable(object({ on: boolean(), mode: string(), threshold: number() })),
    problems: array(string()),
    autostart: object({
      enabled: boolean(),
      state: string(),
      detail: nullable(string()),
    }),
    workingDirectory: nullable(string()),
  }),
  concurrencySafe: true,
  title: () => "Verifier status",
  work: () => import("./status.js"),
};
