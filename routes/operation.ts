/**
 * One endpoint: what it does, what the OpenAPI document says of it, and its handler, in one value. The app registers
 * handlers from the same list that the document is generated from, so neither can know a route the other doesn't.
 *
 * @module
 */
import type { Context } from "hono";
import type { Budgets, RequestAllowance } from "../verifier/budget/budget.ts";
import type { Environment } from "../verifier/environment.ts";
import type { ErrorCode } from "../verifier/errors.ts";
import type {
  CallOptions,
  CompareRequest,
  CompareResult,
  PlanResult,
  SelectRequest,
  SelectResult,
  TrackRequest,
  TrackResult,
} from "../verifier/types.ts";
import type { Connection } from "./connection.ts";
import type { Meter } from "./meter.ts";
import type { SchemaName } from "./openapi.ts";

/** Hono's type of our contexts. */
export interface AppTypes {
  Bindings: Connection;
  Variables: {
    requestId: string;
    /** Name of the token that was used; `null` for a local caller without one. */
    caller: string | null;
    /** The request's share of its token's daily budget; absent without one. */
    allowance?: RequestAllowance;
  };
}

/** What a handler gets. */
export type AppContext = Context<AppTypes>;

/** A verb of the verifier. @throws {AssayError} */
export type Verb<Request, Result> = (
  environment: Environment,
  request: Request,
  options: CallOptions,
) => Promise<Result | PlanResult>;

/** The verbs that routes call. */
export interface Verbs {
  readonly compare: Verb<CompareRequest, CompareResult>;
  readonly select: Verb<SelectRequest, SelectResult>;
  readonly track: Verb<TrackRequest, TrackResult>;
}

/** Everything the handlers use. Built once. */
export interface Services {
  readonly environment: Environment;
  readonly verbs: Verbs;
  /** Version of the prompt texts and of the core. @throws when the core can't run */
  readonly versions: () => { readonly promptVersion: string; readonly coreVersion: string };
  readonly runtime: { readonly name: string; readonly version: string | null };
  readonly bodyLimitBytes: number;
  readonly keepAliveMs: number;
  readonly meter: Meter;
  /** Daily budgets of the tokens. */
  readonly budgets: Budgets;
  /** Writes one line for the operator. */
  readonly log: (line: string) => void;
}

/** What one status code of an operation answers with. */
export interface Answer {
  readonly status: number;
  readonly description: string;
  /** Media type to the name of its schema (`null`: plain text) and an example. */
  readonly content?: Readonly<
    Record<string, { readonly schema: SchemaName | null; readonly example?: unknown }>
  >;
}

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly required: boolean;
  readonly example: string;
}

/** One endpoint. */
export interface Operation {
  readonly method: "get" | "post" | "delete";
  /** In OpenAPI's form: `/v1/criteria/{name}`. */
  readonly path: string;
  readonly id: string;
  readonly tag: "Verbs" | "Trackers" | "Reviews" | "Decisions" | "Criteria" | "Server" | "Documents";
  readonly summary: string;
  readonly description: string;
  /** `token`: a bearer token where any is configured. `document`: readable without one. `health`: open to everyone. */
  readonly access: "token" | "document" | "health";
  readonly parameters?: readonly Parameter[];
  readonly body?: {
    /** A request without a body is one with an empty object. */
    readonly optional?: true;
    readonly schema: SchemaName;
    readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  };
  readonly answers: readonly Answer[];
  /** Problems beside those that every operation of its kind can have. */
  readonly problems?: readonly ErrorCode[];
  /** Whether a success would come out the same next time, default yes; else it leaves an Idempotency-Key free. */
  readonly isSettled?: (answer: unknown) => boolean;
  readonly handle: (context: AppContext) => Response | Promise<Response>;
}
