/**
 * The score cache: fully scored answers by the identity of everything that made them. A cache that fails costs money,
 * never a result: what goes wrong is a warning.
 *
 * @module
 */
import { inTime } from "../store/patience.ts";
import type { Store } from "../store/store.ts";
import { coreVersion, promptVersion } from "./core.ts";
import { type AnswerEvidence, readEvidence } from "./decisions/evidence.ts";
import { sha256Hex } from "./prompt.ts";
import type { Warnings } from "./text.ts";
import type { Channel, Score } from "./types.ts";

/** What identifies one judged call. */
export interface CallIdentity {
  /** Identity of the prompt's prefix. */
  readonly prefixDigest: string;
  /** The criterion and the output contract. */
  readonly suffix: string;
  /** Tags in the order of the answer. */
  readonly tags: readonly string[];
  /** Direction of the scale. */
  readonly direction: "pairwise" | "progress";
  /** Kind of judge. */
  readonly judgeKind: string;
  /** The judge's canonical settings: model, effort, token budget, temperature, … */
  readonly judgeIdentity: string;
  /** 0-based. */
  readonly repeat: number;
  /** Digest of the images, empty without. */
  readonly imagesDigest: string;
  /** The least that the request accepts. */
  readonly channel: "any" | "logprobs" | "continuation";
}

/** A fully scored answer as it is kept. */
export interface CachedAnswer {
  /** One score per tag. */
  readonly scores: readonly Score[];
  /** What the judge wrote before its scores, shortened. */
  readonly analysis: string | null;
  /** What decodes to these scores, so that a decision made from the cache can be derived again. */
  readonly evidence: AnswerEvidence | null;
}

/** 2: with evidence. Records of an earlier format have other keys, so they are misses. */
const FORMAT = 2;
const CHANNELS: readonly string[] = ["logprobs", "continuation", "explicit_tag"] satisfies Channel[];

/** Key of a call: SHA-256 hex over its canonical identity, the versions of prompts and core included. */
export function callKey(identity: CallIdentity): Promise<string> {
  return sha256Hex(JSON.stringify([
    "assay-score",
    FORMAT,
    promptVersion(),
    coreVersion(),
    identity.prefixDigest,
    identity.suffix,
    identity.tags,
    identity.direction,
    identity.judgeKind,
    identity.judgeIdentity,
    identity.repeat,
    identity.imagesDigest,
    identity.channel,
  ]));
}

/** What reads of one store by this process may have missed. */
interface Recent {
  /** Keys that were written last: what a read that began before has missed. */
  readonly written: Set<string>;
  /** Answers that are still to be written, or being written. */
  readonly pending: Map<string, CachedAnswer>;
}

const recentOf = new WeakMap<Store, Recent>();
const MOST_WRITTEN_LAST = 1024;
/** Longest time that an answer waits for others to be written with. */
const LINGER_MS = 50;

function recentlyOf(store: Store): Recent {
  let recent = recentOf.get(store);
  if (recent === undefined) recentOf.set(store, recent = { written: new Set(), pending: new Map() });
  return recent;
}

function noteWritten({ written }: Recent, key: string): void {
  written.delete(key);
  written.add(key);
  const [oldest] = written;
  if (written.size > MOST_WRITTEN_LAST && oldest !== undefined) written.delete(oldest);
}

/** One request's view of the cache. */
export interface ScoreCache {
  /** The stored answer, or `null`; a corrupt record or a failing store is `null` with a warning. */
  read(key: string): Promise<CachedAnswer | null>;
  /**
   * The answer that was written while {@linkcode read} was looking for it, or `null`. Costs nothing where there is none:
   * an identical call may end between a miss and the moment one could have joined it.
   */
  readAgain(key: string): Promise<CachedAnswer | null>;
  /**
   * Stores an answer if every part is scored; else does nothing. Identical calls find it at once. A cache that lingers
   * doesn't wait for that: it writes within 50 ms, so that answers which come together are written together, and at its
   * {@linkcode end} at the latest.
   */
  write(key: string, answer: CachedAnswer): Promise<void>;
  /**
   * Begins to write what is still to be written, and waits for it. What comes later is written at once.
   * @returns why something could not be written
   */
  end(): Promise<string | null>;
}

/**
 * The cache over a store.
 * @param mode `refresh` never reads, `off` neither reads nor writes
 * @param lingers whether answers may wait for each other; who sets it must call `end`
 */
export function createScoreCache(
  store: Store,
  mode: "use" | "refresh" | "off",
  warnings: Warnings,
  lingers = false,
): ScoreCache {
  let reads = mode === "use";
  let failure: string | null = null;
  let ended = false;
  const recent = recentlyOf(store);
  /** Keys that were looked for in vain: a store need not look again before it writes. */
  const absent = new Set<string>();
  let waiting: (readonly [key: string, answer: CachedAnswer])[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const writing = new Set<Promise<void>>();

  async function put(key: string, answer: CachedAnswer): Promise<void> {
    try {
      const { scores, analysis, evidence } = answer;
      const record = new TextEncoder().encode(JSON.stringify({ format: FORMAT, scores, analysis, evidence }));
      // If another process has written it meanwhile, that is as good.
      await inTime(store.put(`score/${key}`, record, absent.has(key) ? { ifVersion: null } : {}));
      noteWritten(recent, key);
    } catch (error) {
      failure ??= `the score cache can't be written: ${(error as Error).message}`;
      warnings.add(failure);
    } finally {
      if (recent.pending.get(key) === answer) recent.pending.delete(key);
    }
  }

  function begin(key: string, answer: CachedAnswer): Promise<void> {
    const work = put(key, answer).finally(() => writing.delete(work));
    writing.add(work);
    return work;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const all = waiting;
    waiting = [];
    for (const [key, answer] of all) void begin(key, answer);
  }

  const cache: ScoreCache = {
    async readAgain(key) {
      if (!reads) return null;
      const pending = recent.pending.get(key);
      if (pending !== undefined) return pending;
      return recent.written.has(key) ? await cache.read(key) : null;
    },
    async read(key) {
      if (!reads) return null;
      const pending = recent.pending.get(key);
      if (pending !== undefined) return pending;
      let bytes: Uint8Array | undefined;
      try {
        bytes = (await inTime(store.get(`score/${key}`)))?.value;
      } catch (error) {
        reads = false;
        warnings.add(`the score cache can't be read and is not used: ${(error as Error).message}`);
        return null;
      }
      if (bytes === undefined) {
        absent.add(key);
        return null;
      }
      const answer = decodeRecord(bytes);
      if (answer === null) {
        warnings.add(`the score cache holds a corrupt record, which is ignored: score/${key}`);
      }
      return answer;
    },
    async write(key, answer) {
      if (mode === "off" || failure !== null || answer.scores.some((score) => score.kind !== "scored")) {
        return;
      }
      recent.pending.set(key, answer);
      if (!lingers || ended) return await begin(key, answer);
      waiting.push([key, answer]);
      timer ??= setTimeout(flush, LINGER_MS);
    },
    async end() {
      ended = true;
      flush();
      await Promise.all(writing);
      return failure;
    },
  };
  return cache;
}

function decodeRecord(bytes: Uint8Array): CachedAnswer | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { format, scores, analysis, evidence: found } = value as Record<string, unknown>;
  if (format !== FORMAT || !Array.isArray(scores) || scores.length === 0 || !scores.every(isScored)) {
    return null;
  }
  if (analysis !== null && typeof analysis !== "string") return null;
  const evidence = found === null ? null : readEvidence(found);
  if (evidence === null && found !== null) return null;
  return { scores, analysis, evidence };
}

const isShare = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= 1;

function isScored(value: unknown): value is Score {
  if (typeof value !== "object" || value === null) return false;
  const score = value as Record<string, unknown>;
  const letters = score.letters;
  return score.kind === "scored" && isShare(score.value) &&
    typeof score.channel === "string" && CHANNELS.includes(score.channel) &&
    (score.letterMass === null || typeof score.letterMass === "number") &&
    (score.entropy === null || typeof score.entropy === "number") &&
    (letters === null || (Array.isArray(letters) && letters.length === 20 && letters.every(isShare)));
}
