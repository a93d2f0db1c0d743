/**
 * The schemas of the verbs' requests, and the one function that turns an unknown value into a typed request or into
 * an error that names every faulty field. Plain zod, so that the OpenAPI document is generated from the same text.
 *
 * @module
 */
import * as z from "zod";
import { AssayError, type FieldError, showValue } from "./errors.ts";
import { LONGEST_PATTERN, MOST_PATTERNS } from "./redaction/patterns.ts";
import { fieldErrors } from "./request_errors.ts";
import type { CompareRequest, SelectRequest, TrackRequest } from "./types.ts";

/** Most candidates of one `select`. */
export const MAXIMUM_CANDIDATES = 1000;
/** Most steps, messages or checkpoints of one trajectory. */
export const MAXIMUM_STEPS = 100_000;
/** Most images of the task, and of one trajectory. */
export const MAXIMUM_IMAGES = 16;
/** Most bytes of one image after decoding (20 MiB). */
export const MAXIMUM_IMAGE_BYTES = 20 * 1024 * 1024;
/** Most criteria of one rubric. */
export const MAXIMUM_CRITERIA = 12;
/** Most checkpoints of one `track`: each is one tag in the judge's answer. */
export const MAXIMUM_CHECKPOINTS = 100;

const IMAGE_HEAD = /^data:image\/(png|jpeg|webp|gif);base64,/i;
const IMAGE_RULE = "an https: URL or a base64 data: URL of a png, jpeg, webp or gif of at most 20 MiB";

/** Whether `url` is an image a judge may be given; the bytes of a `data:` URL are measured, not decoded. */
export function isImageUrl(url: string): boolean {
  if (/^https:\/\//i.test(url)) return url.length <= 8192 && URL.canParse(url);
  const head = IMAGE_HEAD.exec(url.slice(0, 40));
  if (head === null) return false;
  const length = url.length - head[0].length;
  if (length === 0 || Math.floor(length * 3 / 4) > MAXIMUM_IMAGE_BYTES + 2) return false;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(url.slice(head[0].length));
}

const image = z.string().refine(isImageUrl, { error: `must be ${IMAGE_RULE}` })
  .describe(`An image: ${IMAGE_RULE}.`);
const images = z.array(image).max(MAXIMUM_IMAGES);

const step = z.union([
  z.string(),
  z.strictObject({
    text: z.string().describe("The step as text."),
    images: images.optional().describe("Images the agent saw in this step."),
  }),
]);

const message = z.looseObject({ role: z.string().describe("system, user, assistant or tool.") })
  .describe("A chat message in OpenAI's or Anthropic's shape.");

/** A trajectory: text, or exactly one of `text`, `steps` and `messages`. */
export const trajectorySchema = z.union([
  z.string(),
  z.strictObject({
    id: z.string().min(1).max(200).optional().describe("The caller's name of it, given back in the ranking."),
    text: z.string().optional().describe("The whole trajectory as text."),
    steps: z.array(step).min(1).max(MAXIMUM_STEPS).optional().describe("The trajectory step by step."),
    messages: z.array(message).min(1).max(MAXIMUM_STEPS).optional().describe(
      "A chat transcript; system messages and the first user message are not part of the work.",
    ),
    images: images.optional().describe("Images that belong to this trajectory."),
  }).refine(
    (t) => [t.text, t.steps, t.messages].filter((x) => x !== undefined).length === 1,
    { error: "must have exactly one of text, steps and messages" },
  ),
]).describe("What an agent did: a string, or an object with exactly one of text, steps and messages.");

/** A rubric: built-in name, Markdown, object or array. */
export const criteriaSchema = z.union([
  z.string().min(1),
  z.array(z.union([
    z.string().min(1),
    z.strictObject({
      id: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, {
        error: "must be 1 to 40 letters, digits, hyphens or underscores",
      }).optional(),
      name: z.string().min(1).max(200).optional(),
      description: z.string().min(1),
      weight: z.number().positive().max(1e6).optional().describe("Relative weight, default 1."),
    }),
  ])).min(1).max(MAXIMUM_CRITERIA),
  z.record(z.string(), z.string()),
]).describe(
  "A built-in rubric's name, rubric Markdown, { name: description }, or an array of strings or { id?, name?, description, weight? }.",
);

/** A judge by name, or by profile with overrides. */
export const judgeChoice = z.union([
  z.string().min(1),
  z.strictObject({
    profile: z.string().min(1).optional().describe("Name of a configured judge."),
    model: z.string().min(1).max(200).optional(),
    effort: z.string().min(1).max(40).optional().describe(
      "Reasoning effort, as the judge's family names it.",
    ),
    maxTokens: z.int().min(1).max(1_000_000).optional().describe("Output tokens of one call."),
    temperature: z.number().min(0).max(2).optional(),
    baseUrl: z.string().min(1).max(2000).optional().describe("Only where the operator allows the host."),
    apiKey: z.string().min(1).max(2000).optional().describe("The caller's own key, only with baseUrl."),
    family: z.string().min(1).max(40).optional(),
  }),
]);

/** Patterns of what a judge must not see. */
export const redactPatterns = z.array(z.string().min(1).max(LONGEST_PATTERN)).max(MOST_PATTERNS);
/** What such a pattern may be, for descriptions. */
export const PATTERN_RULE =
  "A safe subset of regular expressions: no look-around, no back-references, no nested or ambiguous repetitions.";

const MAXIMUM_COUNT = Number.MAX_SAFE_INTEGER;

const shared = {
  task: z.string().regex(/\S/, { error: "must not be blank" })
    .describe("What the agent was asked."),
  context: z.string().optional().describe("More that the judge may know; untrusted like the rest."),
  criteria: criteriaSchema.default("general").describe("The rubric, default general."),
  groundTruthNote: z.string().optional().describe("Overrides the rubric's ground-truth note."),
  repeats: z.int().min(1).max(64).default(2).describe("Judged calls per pair and criterion, 1 to 64."),
  judge: z.union([judgeChoice, z.array(judgeChoice).min(1).max(5)]).optional()
    .describe(
      "Judge profile, default the server's default judge. A list of up to 5 different ones is an ensemble: every judge " +
        "answers every call, and the median over those that scored it counts.",
    ),
  channel: z.enum(["any", "logprobs", "continuation"]).default("any")
    .describe("The least that is accepted; a request gets an error instead of a silent downgrade."),
  images: images.default([]).describe("Images that belong to the task."),
  seed: z.int().default(0).describe("Everything random derives from it."),
  budget: z.strictObject({
    calls: z.int().min(0).max(MAXIMUM_COUNT).optional(),
    tokens: z.int().min(0).max(MAXIMUM_COUNT).optional(),
    usd: z.number().min(0).optional(),
  }).optional().describe("Refused with 422 over_budget before anything is bought."),
  deadlineMs: z.int().min(1).max(86_400_000).optional()
    .describe("Calls still open after this time are unscored with reason timeout."),
  dryRun: z.boolean().default(false).describe("Answers the plan and buys nothing."),
  cache: z.enum(["use", "refresh", "off"]).default("use").describe(
    "Score cache: refresh buys again and stores.",
  ),
  redact: redactPatterns.optional().describe(
    "When given, also as an empty list: known kinds of secrets and what these patterns match are taken out of task, " +
      `context and trajectories before anything is judged, compared or stored, and a warning counts the places. ${PATTERN_RULE}`,
  ),
};

/** Body of `POST /v1/compare`. */
export const compareRequestSchema = z.strictObject({
  ...shared,
  a: trajectorySchema,
  b: trajectorySchema,
}).meta({ id: "CompareRequest", description: "Judge one pair of trajectories." });

/** Body of `POST /v1/select`. */
export const selectRequestSchema = z.strictObject({
  ...shared,
  repeats: z.int().min(1).max(64).default(1).describe("Judged calls per pair and criterion, 1 to 64."),
  candidates: z.array(trajectorySchema).min(1).max(MAXIMUM_CANDIDATES).describe("1 to 1000 trajectories."),
  mode: z.enum(["pivot", "round_robin", "upstream"]).default("pivot")
    .describe("Schedule: pivot tournament, every pair, or the published reference bit for bit."),
  pivots: z.int().min(1).max(MAXIMUM_CANDIDATES).default(2).describe("Pivots of the second round."),
  prior: z.enum(["none", "agreement"]).default("none")
    .describe("agreement: candidates that agree with the others start higher."),
}).meta({ id: "SelectRequest", description: "Pick the best of several trajectories." });

/** Body of `POST /v1/track`. */
export const trackRequestSchema = z.strictObject({
  ...shared,
  trajectory: trajectorySchema,
  checkpoints: z.array(z.int().min(1)).min(1).max(MAXIMUM_CHECKPOINTS)
    .refine((steps) => new Set(steps).size === steps.length, { error: "must not repeat a step" })
    .optional().describe(
      "1-based steps after which progress is scored; default all up to 12 steps, else 10.",
    ),
  causal: z.boolean().default(false)
    .describe("Score each checkpoint from its own prefix, so that later steps can't leak."),
}).meta({ id: "TrackRequest", description: "Progress curve of a finished trajectory." });

/**
 * The type a schema parses to, without `undefined` in optional fields: `exactOptionalPropertyTypes` tells "absent"
 * from "undefined", JSON has only the first.
 */
export type Exact<T> = T extends readonly (infer U)[] ? readonly Exact<U>[]
  : T extends object ? { readonly [K in keyof T]: Exact<Exclude<T[K], undefined>> }
  : T;

const MAXIMUM_LISTED_ERRORS = 20;

/** Lengths that are checked before zod sees the value: one clear error, not one per element. */
const LENGTH_LIMITS: Readonly<Record<string, number>> = {
  candidates: MAXIMUM_CANDIDATES,
  checkpoints: MAXIMUM_CHECKPOINTS,
  criteria: MAXIMUM_CRITERIA,
  judge: 5,
  images: MAXIMUM_IMAGES,
  steps: MAXIMUM_STEPS,
  messages: MAXIMUM_STEPS,
};

function lengthErrors(value: unknown, path: string, depth: number, found: FieldError[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    const at = `${path}/${key}`;
    const limit = Object.hasOwn(LENGTH_LIMITS, key) ? LENGTH_LIMITS[key] : undefined;
    if (Array.isArray(child)) {
      if (limit !== undefined && child.length > limit) {
        found.push({
          path: at,
          message: `must have at most ${limit} entries`,
          value: `${child.length} entries`,
        });
      } else if (key === "candidates") {
        child.forEach((candidate, i) => lengthErrors(candidate, `${at}/${i}`, depth + 1, found));
      }
    } else if (depth === 0) {
      lengthErrors(child, at, depth + 1, found);
    }
  }
}

function refuse(errors: readonly FieldError[], total: number): never {
  const listed = errors.slice(0, MAXIMUM_LISTED_ERRORS);
  const first = listed[0];
  const head = first === undefined
    ? "the request can't be read"
    : `${first.path || "/"}: ${first.message}${first.value === undefined ? "" : ` (value: ${first.value})`}`;
  const rest = total > 1 ? `; ${total - 1} more ${total === 2 ? "error" : "errors"}` : "";
  const unlisted = total > listed.length ? `, ${total - listed.length} of them not listed` : "";
  throw new AssayError("invalid_request", head + rest + unlisted, { errors: listed });
}

/**
 * Validates an unknown value and fills in the defaults. Top-level fields that are `undefined` count as absent.
 *
 * @throws {AssayError} `invalid_request` with up to 20 field errors (JSON pointer, "must be …", shortened value); the
 * message counts the rest
 *
 * @example
 * ```ts
 * import { compareRequestSchema, parseRequest } from "./requests.ts";
 * const request = parseRequest(compareRequestSchema, { task: "Add a test", a: "did", b: "did not" });
 * console.log(request.repeats); // 2
 * ```
 */
export function parseRequest<S extends z.ZodType>(schema: S, value: unknown): Exact<z.output<S>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    refuse([{ path: "", message: "must be a JSON object", value: showValue(value) }], 1);
  }
  const present = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
  const tooLong: FieldError[] = [];
  lengthErrors(present, "", 0, tooLong);
  if (tooLong.length > 0) refuse(tooLong, tooLong.length);
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data as Exact<z.output<S>>;
  const { errors, total } = fieldErrors(schema, present, parsed.error.issues, MAXIMUM_LISTED_ERRORS);
  return refuse(errors, total);
}

// The shared result types and the schemas must say the same; these lines fail to compile when they drift apart.
type Assignable<From extends To, To> = From;
/** @ignore */
export type SchemaMatchesTypes = [
  Assignable<Exact<z.output<typeof compareRequestSchema>>, CompareRequest>,
  Assignable<Exact<z.output<typeof selectRequestSchema>>, SelectRequest>,
  Assignable<Exact<z.output<typeof trackRequestSchema>>, TrackRequest>,
];
