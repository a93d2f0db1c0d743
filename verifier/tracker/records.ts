/**
 * What a tracker keeps in the store, and how it is read back: anything that isn't exactly a record is `null`, never a
 * half-read one.
 *
 * | key | record | changes |
 * |---|---|---|
 * | `tracker/<id>/start` | {@linkcode StartRecord}, later {@linkcode Tombstone} | once, by deletion |
 * | `tracker/<id>/step/<index, 10 digits>` | {@linkcode StepRecord} | never |
 * | `tracker/<id>/score/<index, 10 digits>` | {@linkcode ScoreRecord} | until it is scored |
 *
 * @module
 */
import * as z from "zod";
import { decodeRecord } from "../record.ts";
import type { JudgeChoice } from "../types.ts";

const FORMAT = 1;
const unit = z.number().min(0).max(1);
const count = z.int().min(0);

const startRecord = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  createdAt: z.string(),
  task: z.string(),
  context: z.string().nullable(),
  criteria: z.array(z.object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    weight: z.number(),
  })).min(1),
  groundTruthNote: z.string(),
  repeats: z.int().min(1),
  judge: z.custom<JudgeChoice | readonly JudgeChoice[]>((value) =>
    typeof value === "string" || (typeof value === "object" && value !== null)
  ),
  channel: z.enum(["any", "logprobs", "continuation"]),
  images: z.array(z.string()),
  seed: z.int(),
  deadlineMs: z.int().nullable(),
  promptCharacters: z.int().min(1000),
  /** Patterns that are taken out of every step before it is stored; `null` when the start gave none. */
  redact: z.array(z.string()).nullable().default(null),
  /** Name of the token that it was started with, and SHA-256 of the request; `null` without a name of the caller's own. */
  caller: z.string().nullable().default(null),
  bodyHash: z.string().nullable().default(null),
});

const stepRecord = z.object({
  format: z.literal(FORMAT),
  index: z.int().min(1),
  text: z.string(),
  images: z.array(z.string()),
  createdAt: z.string(),
  /** SHA-256 of the idempotency key, or `null` without one. */
  keyHash: z.string().nullable(),
  /** SHA-256 of what was sent. */
  bodyHash: z.string(),
  /** Made for each attempt to append, so that a writer knows its own record again. */
  nonce: z.string(),
});

const scoreRecord = z.object({
  format: z.literal(FORMAT),
  index: z.int().min(1),
  /** `null` when the scoring failed. */
  score: unit.nullable(),
  standardError: z.number().min(0).nullable(),
  scored: count,
  unscored: count,
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  advice: z.enum(["rising", "plateau", "falling", "done"]).nullable(),
  shortened: z.object({ steps: count, leftOut: count, characters: count }),
  /** How often it was tried, this time included. */
  attempts: z.int().min(1),
  scoredAt: z.string(),
  /** What is given back to whoever repeats the update. */
  answer: z.custom<Readonly<Record<string, unknown>>>((value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
  ),
});

const tombstone = z.object({ format: z.literal(FORMAT), deletedAt: z.string() });

/** Everything that is fixed when a tracker starts. */
export type StartRecord = z.output<typeof startRecord>;
/** One step, as it was sent (without secrets). */
export type StepRecord = z.output<typeof stepRecord>;
/** What became of the last scoring of one step. */
export type ScoreRecord = z.output<typeof scoreRecord>;
/** Stands in place of the start of a deleted tracker. */
export type Tombstone = z.output<typeof tombstone>;

/** Version of all records. */
export const RECORD_FORMAT = FORMAT;

/** `null` for what is neither a start nor a tombstone. */
export function decodeStart(bytes: Uint8Array): StartRecord | Tombstone | null {
  return decodeRecord<StartRecord>(startRecord, bytes) ?? decodeRecord<Tombstone>(tombstone, bytes);
}

/** `null` for anything but the step of this index. */
export function decodeStep(bytes: Uint8Array, index: number): StepRecord | null {
  const record = decodeRecord<StepRecord>(stepRecord, bytes);
  return record?.index === index ? record : null;
}

/** `null` for anything but the score of this index. */
export function decodeScore(bytes: Uint8Array, index: number): ScoreRecord | null {
  const record = decodeRecord<ScoreRecord>(scoreRecord, bytes);
  return record?.index === index && (record.score !== null || record.reason !== null) ? record : null;
}

const MADE_ID = /^trk_[0-9A-HJKMNP-TV-Z]{26}$/;
/** An id that a caller may choose. */
export const CHOSEN_ID = /^[a-z0-9][a-z0-9_-]{7,63}$/;

/** Whether this could be the id of a tracker. */
export function isTrackerId(id: string): boolean {
  return MADE_ID.test(id) || CHOSEN_ID.test(id);
}

/** Key of a tracker's start. */
export function startKey(id: string): string {
  return `tracker/${id}/start`;
}

/** Prefix of a tracker's keys of one kind. */
export function recordPrefix(id: string, kind: "step" | "score"): string {
  return `tracker/${id}/${kind}/`;
}

/** Key of one step or score. */
export function recordKey(id: string, kind: "step" | "score", index: number): string {
  return recordPrefix(id, kind) + String(index).padStart(10, "0");
}

/** The index that a key ends with; `null` for a key that nobody here wrote. */
export function indexOfKey(key: string): number | null {
  const digits = /\/(\d{10})$/.exec(key)?.[1];
  const index = Number(digits);
  return digits === undefined || index < 1 ? null : index;
}
