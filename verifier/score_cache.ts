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

/** Keys that were written last, per store: what a read that began before has missed. */
const writtenLast = new WeakMap<Store, Set<string>>();
const MOST_WRITTEN_LAST = 1024;

function noteWritten(store: Store, key: string): void {
  let keys = writtenLast.get(store);
  if (keys === undefined) writtenLast.set(store, keys = new Set());
  keys.delete(key);
  keys.add(key);
  const [oldest] = keys;
  if (keys.size > MOST_WRITTEN_LAST && oldest !== undefined) keys.delete(oldest);
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
  /** Stores an answer if every part is scored; else does nothing. */
  write(key: string, answer: CachedAnswer): Promise<void>;
}

/** The cache over a store. @param mode `refresh` never reads, `off` neither reads nor writes */
export function createScoreCache(
  store: Store,
  mode: "use" | "refresh" | "off",
  warnings: Warnings,
): ScoreCache {
  let reads = mode === "use";
  let writes = mode !== "off";
  const cache: ScoreCache = {
    readAgain: (key) => writtenLast.get(store)?.has(key) ? cache.read(key) : Promise.resolve(null),
    async read(key) {
      if (!reads) return null;
      let bytes: Uint8Array | undefined;
      try {
        bytes = (await inTime(store.get(`score/${key}`)))?.value;
      } catch (error) {
        reads = false;
        warnings.add(`the score cache can't be read and is not used: ${(error as Error).message}`);
        return null;
      }
      if (bytes === undefined) return null;
      const answer = decodeRecord(bytes);
      if (answer === null) {
        warnings.add(`the score cache holds a corrupt record, which is ignored: score/${key}`);
      }
      return answer;
    },
    async write(key, answer) {
      if (!writes || answer.scores.some((score) => score.kind !== "scored")) return;
      try {
        await inTime(store.put(
          `score/${key}`,
          new TextEncoder().encode(JSON.stringify({
            format: FORMAT,
            scores: answer.scores,
            analysis: answer.analysis,
            evidence: answer.evidence,
          })),
        ));
        noteWritten(store, key);
      } catch (error) {
        writes = false;
        warnings.add(`the score cache can't be written: ${(error as Error).message}`);
      }
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
