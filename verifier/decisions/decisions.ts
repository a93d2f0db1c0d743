/**
 * Decisions: what a verb was asked, every call that was judged for it, and what came of it, so that a verdict can be
 * looked into and derived again. One record per invocation with at least one judged call, for failures too.
 *
 * A verb wraps its work in {@linkcode recordDecision} and passes the options it gets on; everything that scores with
 * them writes into the same decision, verbs called by verbs included.
 *
 * @module
 */
import { ulid } from "../ulid.ts";
import { coreVersion, type Direction, promptVersion } from "../core.ts";
import { boundCallTexts, captureText } from "./bounds.ts";
import type { AnswerEvidence } from "./evidence.ts";
import { type CallLabel, compareLabels, labelText } from "./label.ts";
import { writeDecision } from "./store.ts";
import type { Environment } from "../environment.ts";
import { StoreError } from "../../store/store.ts";
import { AssayError } from "../errors.ts";
import { redact } from "../redaction/redact.ts";
import { statisticOf } from "./statistics_record.ts";
import type { CallOptions, Channel, Score, Usage } from "../types.ts";
import { addUsage, noUsage } from "../usage.ts";

export { type CallLabel, labelText } from "./label.ts";

/** Version of decision records. */
export const DECISION_FORMAT = 1;
/** Prompts and answers held while a verb runs; of more calls an even spread in the order of their ends is held. */
const MOST_HELD_TEXTS = 128;
/** Characters of one text in a result, for example a steer text; the rubric is kept in full. */
const LONGEST_RESULT_TEXT = 4000;
/**
 * Calls up to which their evidence is kept: a call takes about 2.7 KB, half of it evidence, and a record of more than
 * 32 MB can't be sent to a Durable Object. A decision of more calls keeps its scores and can't be replayed.
 */
const MOST_CALLS_WITH_EVIDENCE = 10_000;
/** How long an answer waits for its decision to be stored. */
const STORE_PATIENCE_MS = 10_000;

/** One judged call as it was recorded. */
export interface DecisionCall {
  readonly label: CallLabel;
  /** Profile of the judge. */
  readonly judge: string;
  readonly tags: readonly string[];
  readonly direction: Direction;
  /** How the first score was read; `null` without one. */
  readonly channel: Channel | null;
  /** From the score cache, or from an identical call in flight. */
  readonly cached: boolean;
  /** One per tag, letter distributions included. */
  readonly scores: readonly Score[];
  /**
   * What decodes to these scores; `null` for a call that failed before there was anything to decode, where only tokens
   * with a secret among them would do, and in a decision of more than 10,000 calls.
   */
  readonly evidence: AnswerEvidence | null;
  /** Characters of the whole prompt. */
  readonly promptCharacters: number;
  /** Only for the calls whose texts are kept: head and tail of the prompt, without secrets. */
  readonly prompt?: string;
  /** The same of the answer; of a cached call what was kept of the judge's analysis. */
  readonly output?: string;
}

/** What a verb says of its request: settings, digests and lengths, never the big texts. */
export type Outline = Readonly<Record<string, unknown>>;

/** How a verb failed. */
export interface DecisionProblem {
  /** The error's code; `aborted` when the caller went away. */
  readonly code: string;
  readonly detail: string;
}

/** One decision as it is stored. */
export interface DecisionRecord {
  readonly format: typeof DECISION_FORMAT;
  /** The result's id. */
  readonly id: string;
  readonly verb: string;
  /** What the newest records are counted per: the verb, or the id of a session or tracker. */
  readonly topic: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly promptVersion: string;
  readonly coreVersion: string;
  /** By part; the verb's own stands under the empty name. */
  readonly outlines: Readonly<Record<string, Outline>>;
  /** The result without what `calls` hold; `null` after a failure. */
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly problem: DecisionProblem | null;
  readonly usage: Usage;
  readonly calls: readonly DecisionCall[];
}

/** What the scorer hands in. */
export interface RecordedCall
  extends Omit<DecisionCall, "promptCharacters" | "prompt" | "output" | "channel"> {
  /** Parts of the prompt. */
  readonly prompt: readonly string[];
  readonly output: string | null;
}

interface Held {
  readonly call: Omit<RecordedCall, "prompt" | "output">;
  readonly promptCharacters: number;
  texts: { readonly prompt: readonly string[]; readonly output: string | null } | null;
}

/** Collects one decision while its verb runs. */
export class Recording {
  /** `dec_` and a ULID: the id of the decision, of its statistics and of the result. */
  readonly id: string;
  /** Whether the record will be stored; if not, texts and evidence are not even collected. */
  readonly isKept: boolean;
  /** Whether somebody is told of scores before there is a result. */
  readonly isFollowed: boolean;
  readonly #part: string;
  readonly #state: {
    readonly outlines: Map<string, Record<string, unknown>>;
    readonly calls: Held[];
    readonly meters: (() => Usage)[];
    readonly ends: (() => Promise<string | null>)[];
    stride: number;
  };

  /**
   * @param parent the recording that this one is a part of, and the part's name
   * @param isKept false where only what statistics count is wanted
   * @param isFollowed true where scores are told as they come
   */
  constructor(
    startedAt: number,
    parent?: { readonly recording: Recording; readonly part: string },
    isKept = true,
    isFollowed = false,
  ) {
    this.isFollowed = parent?.recording.isFollowed ?? isFollowed;
    this.isKept = parent?.recording.isKept ?? isKept;
    this.id = parent?.recording.id ?? `dec_${ulid(startedAt)}`;
    this.#part = parent?.part ?? "";
    this.#state = parent === undefined
      ? { outlines: new Map(), calls: [], meters: [], ends: [], stride: 1 }
      : parent.recording.#state;
  }

  /** The same decision for a work within the verb: its calls and its outline carry the part's name. */
  part(name: string): Recording {
    const part = this.#part === "" ? name : `${this.#part}/${name}`;
    return new Recording(0, { recording: this, part });
  }

  /** Adds to what is said of the request. */
  outline(fields: Outline): void {
    const { outlines } = this.#state;
    outlines.set(this.#part, { ...outlines.get(this.#part), ...fields });
  }

  /** Where the usage of some of the calls can be asked for at the end. */
  meter(usage: () => Usage): void {
    this.#state.meters.push(usage);
  }

  /** What is begun when the decision is written, and waited for before its result is given back; it may have a warning. */
  atEnd(end: () => Promise<string | null>): void {
    this.#state.ends.push(end);
  }

  /** Begins everything that was left for the end. @returns warnings, each once */
  async end(): Promise<readonly string[]> {
    const warnings = await Promise.all(this.#state.ends.splice(0).map((end) => end()));
    return [...new Set(warnings.filter((warning) => warning !== null))];
  }

  /** Adds a finished call. */
  add({ prompt, output, label, ...call }: RecordedCall): void {
    const { calls } = this.#state;
    const part = this.#part === "" ? label.part : this.#part;
    calls.push({
      call: { ...call, label: part === undefined ? label : { ...label, part } },
      promptCharacters: prompt.reduce((sum, text) => sum + text.length, 0),
      texts: this.isKept ? { prompt, output } : null,
    });
    const state = this.#state;
    // Every so manieth call keeps its texts, and the newest one, which may be the last.
    const before = calls.length - 2;
    if (before >= 0 && before % state.stride !== 0) calls[before]!.texts = null;
    if (calls.length <= MOST_HELD_TEXTS * state.stride) return;
    state.stride *= 2;
    for (let i = state.stride / 2; i < calls.length - 1; i += state.stride) calls[i]!.texts = null;
  }

  /** Calls that were judged so far. */
  get size(): number {
    return this.#state.calls.length;
  }

  /** What was used so far. */
  usage(): Usage {
    return this.#state.meters.reduce((sum, meter) => addUsage(sum, meter()), noUsage());
  }

  /** The record, without secrets. */
  record(
    about: Pick<DecisionRecord, "verb" | "topic" | "startedAt" | "durationMs" | "result" | "problem">,
    takeOut: (text: string) => string,
  ): DecisionRecord {
    const calls = this.#state.calls.map((held) => ({ ...held, name: labelText(held.call.label) }))
      .sort((x, y) => compareLabels(x.call.label, y.call.label));
    const holding = calls.filter(({ texts }) => texts !== null);
    const bound = new Map(
      boundCallTexts(
        holding.map(({ name, call, texts }) => ({
          label: name,
          channel: channelOf(call.scores) ?? "",
          prompt: texts!.prompt,
          output: texts!.output ?? "",
        })),
        takeOut,
      ).map(({ index, prompt, output }) => [holding[index]!, { prompt, output }]),
    );
    return {
      format: DECISION_FORMAT,
      id: this.id,
      verb: about.verb,
      topic: about.topic,
      startedAt: about.startedAt,
      durationMs: about.durationMs,
      promptVersion: promptVersion(),
      coreVersion: coreVersion(),
      outlines: Object.fromEntries(
        [...this.#state.outlines].map(([part, { rubric, ...rest }]) => [part, {
          ...(this.isKept ? withoutSecrets(rest, takeOut, LONGEST_RESULT_TEXT) : {}),
          ...(rubric === undefined ? {} : { rubric: withoutSecrets(rubric, takeOut) }),
        }]),
      ),
      result: this.isKept ? withoutSecrets(about.result, takeOut, LONGEST_RESULT_TEXT) : null,
      problem: withoutSecrets(about.problem, takeOut, LONGEST_RESULT_TEXT),
      usage: this.usage(),
      calls: calls.map((held) => {
        const { label, judge, tags, direction, cached, scores, evidence } = held.call;
        return {
          label: withoutSecrets(label, takeOut),
          judge,
          tags,
          direction,
          channel: channelOf(scores),
          cached,
          scores: scores.map((score) => withoutSecretDetail(score, takeOut)),
          evidence: calls.length > MOST_CALLS_WITH_EVIDENCE ? null : evidence,
          promptCharacters: held.promptCharacters,
          ...bound.get(held),
        };
      }),
    };
  }
}

/** What a decision is about. */
export interface DecisionSubject {
  readonly verb: string;
  /** Id of the session or tracker; default: the verb. */
  readonly topic?: string;
}

/**
 * Runs a verb and stores its decision before the result is given back, so that an acknowledged result's decision can be
 * read. Within another verb's recording it only passes on. A store that fails costs the decision, never the verdict: the
 * result then says `decision not stored: …` among its `warnings`.
 *
 * An `AssayError` of a verb that judged something carries the decision's id in `decision`.
 *
 * @param run gets the options to pass on, `recording` among them; it rejects as the verb does
 */
export async function recordDecision<Result extends object>(
  environment: Environment,
  subject: DecisionSubject,
  options: CallOptions,
  run: (options: CallOptions & { readonly recording: Recording }) => Promise<Result>,
): Promise<Result> {
  const { recording } = options;
  if (recording !== undefined) return await recordPart(recording, options, run);
  const started = Date.now();
  const isKept = environment.decisions?.keep !== 0;
  const own = new Recording(started, undefined, isKept, options.onEvent !== undefined);
  const end = async (result: object | null, problem: DecisionProblem | null): Promise<Stored> => {
    const takeOut = environment.redact ?? redact;
    let ended: Promise<readonly string[]> | undefined;
    try {
      const record = own.size === 0 ? null : own.record({
        verb: subject.verb,
        topic: subject.topic ?? subject.verb,
        startedAt: new Date(started).toISOString(),
        durationMs: Math.max(0, Date.now() - started),
        result: result === null ? null : withoutCalls(result),
        problem,
      }, takeOut);
      // Begun together, so that the store can write scores and decision together.
      ended = own.end();
      const { isStored, warnings } = record === null ? NOTHING_STORED : await store(environment, record);
      return { isStored, warnings: [...await ended, ...warnings] };
    } catch (error) {
      // Whatever it is: a verdict that was paid for is not lost for want of a place to write it down.
      const reason = takeOut(error instanceof Error ? error.message : String(error));
      const warnings = [...await (ended ?? own.end()), `decision not stored: ${reason}`];
      return { isStored: false, warnings };
    }
  };
  let result: Result;
  try {
    result = await run({ ...options, recording: own });
  } catch (error) {
    const { isStored } = await end(null, problemOf(error, options.signal));
    if (error instanceof AssayError && isStored) error.decision = own.id;
    throw error;
  }
  const { warnings } = await end(result, null);
  if (warnings.length === 0 || !("warnings" in result) || !Array.isArray(result.warnings)) return result;
  return { ...result, warnings: [...new Set([...result.warnings, ...warnings])] };
}

interface Stored {
  readonly isStored: boolean;
  readonly warnings: readonly string[];
}

const NOTHING_STORED: Stored = { isStored: false, warnings: [] };

/** A verb within another's decision: its outcome is kept with its part, so that it can be derived again by itself. */
async function recordPart<Result extends object>(
  recording: Recording,
  options: CallOptions,
  run: (options: CallOptions & { readonly recording: Recording }) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await run({ ...options, recording });
    if (!("plan" in result)) recording.outline({ result: withoutCalls(result) });
    return result;
  } catch (error) {
    recording.outline({ problem: problemOf(error, options.signal) });
    throw error;
  }
}

/** @throws {StoreError} when it could not be stored */
async function store(environment: Environment, record: DecisionRecord): Promise<Stored> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new StoreError(`the store did not answer in ${STORE_PATIENCE_MS} ms`)),
    STORE_PATIENCE_MS,
  );
  const written = writeDecision(environment.store, record, statisticOf(record), environment.decisions);
  written.catch(() => {}); // it may fail after nobody waits any more
  try {
    const left = await Promise.race([written, late]);
    const warnings = left === null
      ? []
      : [`older decisions not removed: ${(environment.redact ?? redact)(left)}`];
    return { isStored: true, warnings };
  } finally {
    clearTimeout(timer);
  }
}

function problemOf(error: unknown, signal: AbortSignal | undefined): DecisionProblem {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof AssayError) return { code: error.code, detail };
  return { code: signal?.aborted ? "aborted" : "internal", detail };
}

/** A result's calls are the decision's own. */
function withoutCalls(result: object): Record<string, unknown> {
  const { calls: _, ...rest } = result as Record<string, unknown>;
  return rest;
}

function channelOf(scores: readonly Score[]): Channel | null {
  for (const score of scores) if (score.kind === "scored") return score.channel;
  return null;
}

/** Of a score only the detail of a failure is text that came from outside; all else is numbers and our own words. */
function withoutSecretDetail(score: Score, takeOut: (text: string) => string): Score {
  if (score.kind === "scored" || score.detail === undefined) return score;
  return { ...score, detail: takeOut(score.detail) };
}

/** A copy in which no string holds a secret or is longer than `most` characters (head and tail are kept). */
export function withoutSecrets<T>(value: T, takeOut: (text: string) => string, most = Infinity): T {
  const copy = (part: unknown): unknown => {
    if (typeof part === "string") return captureText([part], most, takeOut);
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.map(copy);
    return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, copy(field)]));
  };
  return copy(value) as T;
}
