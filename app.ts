/**
 * The Hono app: middleware, routes and the one error handler. Knows no runtime; `main.ts`, `worker.ts` and the command
 * line hand in what differs.
 *
 * @module
 */
import { Hono } from "hono";
import { type AccessToken, createGatekeeper } from "./routes/auth.ts";
import { rateLimitHeaders } from "./routes/rate_limit.ts";
import { bestOfNOperation } from "./routes/best_of_n.ts";
import { compareOperation } from "./routes/compare.ts";
import { criteriaOperations } from "./routes/criteria.ts";
import { decisionOperations } from "./routes/decisions.ts";
import { documentOperations } from "./routes/documents.ts";
import { gateOperation } from "./routes/gate.ts";
import { healthOperations } from "./routes/health.ts";
import { withIdempotency } from "./routes/idempotency.ts";
import { Meter } from "./routes/meter.ts";
import type { AppContext, AppTypes, Operation, Services, Verbs } from "./routes/operation.ts";
import { HttpError, problemResponse, toAssayError } from "./routes/problem.ts";
import { reviewOperations } from "./routes/reviews.ts";
import { sessionOperation } from "./routes/session.ts";
import { selectOperation } from "./routes/select.ts";
import { statisticsOperation } from "./routes/statistics.ts";
import { statusOperations } from "./routes/status.ts";
import { trackOperation } from "./routes/track.ts";
import { trackerOperations } from "./routes/trackers.ts";
import { describeFailure } from "./routes/verb.ts";
import { createBudgets, type DailyLimits } from "./verifier/budget/budget.ts";
import { compare } from "./verifier/compare.ts";
import { coreVersion, promptVersion } from "./verifier/core.ts";
import type { Environment } from "./verifier/environment.ts";
import { select } from "./verifier/select/select.ts";
import { track } from "./verifier/track.ts";

/** What an app is made of. */
export interface AppOptions {
  readonly environment: Environment;
  /** @default the verifier's own */
  readonly verbs?: Verbs;
  /** Version of the prompt texts and of the core; throws when the core can't run. @default the core's own */
  readonly versions?: Services["versions"];
  /** For the status page. */
  readonly runtime: { readonly name: string; readonly version: string | null };
  /** Accepted bearer tokens; with none, only this machine is answered. */
  readonly tokens: readonly AccessToken[];
  /** @default 67108864 */
  readonly bodyLimitBytes?: number;
  /** Milliseconds of silence after which an event stream gets a comment. @default 10000 */
  readonly keepAliveMs?: number;
  /** Writes one line for the operator; secrets are removed before. @default console.error */
  readonly log?: (line: string) => void;
}

/**
 * Builds the app. Call its `fetch` with a {@linkcode Connection} as second argument.
 *
 * @throws {RangeError} for a token or a limit that can't work
 */
export function createApp(options: AppOptions): Hono<AppTypes> {
  const bodyLimitBytes = options.bodyLimitBytes ?? 64 * 1024 * 1024;
  if (!Number.isSafeInteger(bodyLimitBytes) || bodyLimitBytes < 1) {
    throw new RangeError(
      `Cannot limit bodies: bodyLimitBytes must be a positive integer: current value is ${bodyLimitBytes}`,
    );
  }
  const log = options.log ?? console.error;
  const services: Services = {
    environment: options.environment,
    verbs: options.verbs ?? { compare, select, track },
    versions: options.versions ?? (() => ({ promptVersion: promptVersion(), coreVersion: coreVersion() })),
    runtime: options.runtime,
    bodyLimitBytes,
    keepAliveMs: options.keepAliveMs ?? 10_000,
    meter: new Meter(new Date()),
    budgets: createBudgets(options.environment.store, limitsOf(options.tokens), { log }),
    log,
  };
  const operations: readonly Operation[] = withIdempotency(services, [
    compareOperation(services),
    selectOperation(services),
    trackOperation(services),
    gateOperation(services),
    bestOfNOperation(services),
    sessionOperation(services),
    ...trackerOperations(services),
    ...reviewOperations(services),
    ...decisionOperations(services),
    statisticsOperation(services),
    ...criteriaOperations(services),
    ...statusOperations(services),
    ...healthOperations(services),
    ...documentOperations(() => operations),
  ]);
  const app = new Hono<AppTypes>();
  const admit = createGatekeeper(options.tokens);
  const openDocuments = options.tokens.length > 0;

  app.use(async function requestId(context, next) {
    const given = context.req.header("x-request-id");
    context.set(
      "requestId",
      given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : crypto.randomUUID(),
    );
    await next();
    context.res.headers.set("x-request-id", context.var.requestId);
  });

  app.use(async function authenticate(context, next) {
    const operation = match(operations, context);
    const open = operation?.access === "health" || (operation?.access === "document" && openDocuments);
    context.set("caller", open ? null : await admit(context.req.raw, context.env));
    await next();
  });

  app.use(async function budgetHeaders(context, next) {
    await next();
    const status = context.var.allowance?.status() ?? null;
    if (status === null) return;
    for (const [name, value] of Object.entries(rateLimitHeaders(status, Date.now()))) {
      context.res.headers.set(name, value);
    }
  });

  for (const operation of operations) {
    app.on(operation.method.toUpperCase(), honoPath(operation.path), operation.handle);
  }

  app.notFound((context) => {
    const methods = operations.filter((operation) => matchesPath(operation, context.req.path))
      .map(({ method }) => method.toUpperCase());
    if (methods.length === 0) {
      throw new HttpError("not_found", `There is nothing at ${context.req.path}. /docs lists what there is.`);
    }
    const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].join(", ");
    throw new HttpError(
      "method_not_allowed",
      `${context.req.path} can be called with ${allowed}: current method is ${context.req.method}.`,
      { headers: { allow: allowed } },
    );
  });

  app.onError((error, context) => {
    const known = toAssayError(error);
    if (known.code === "internal" && !hungUp(error, context)) services.log(describeFailure(context, error));
    return problemResponse(known);
  });
  return app;
}

function limitsOf(tokens: readonly AccessToken[]): Readonly<Record<string, DailyLimits>> {
  return Object.fromEntries(
    tokens.flatMap(({ name, budget }) => budget === undefined ? [] : [[name, budget]]),
  );
}

/** Whether a failure is only that the caller went away, which nobody needs to be told. */
function hungUp(error: unknown, context: AppContext): boolean {
  return context.req.raw.signal.aborted || (error instanceof DOMException && error.name === "AbortError");
}

/** The operation that a request means, whatever its method may make of it (HEAD counts as GET). */
function match(operations: readonly Operation[], context: AppContext): Operation | undefined {
  const method = context.req.method === "HEAD" ? "get" : context.req.method.toLowerCase();
  return operations.find((operation) =>
    operation.method === method && matchesPath(operation, context.req.path)
  );
}

function matchesPath(operation: Operation, path: string): boolean {
  const want = operation.path.split("/");
  const have = path.split("/");
  return want.length === have.length &&
    want.every((part, i) => part.startsWith("{") ? have[i] !== "" : part === have[i]);
}

/** `/v1/criteria/{name}` in Hono's form: `/v1/criteria/:name`. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
