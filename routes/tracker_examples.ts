/**
 * Example answers of the trackers for the OpenAPI document.
 *
 * @module
 */
import type { TrackerResult, TrackerStep, TrackerUpdateResult } from "../verifier/tracker/requests.ts";
import { EXAMPLE_RESULT } from "./examples.ts";

const step: TrackerStep = {
  index: 1,
  state: "scored",
  score: 0.35,
  standardError: 0.02,
  characters: 42,
  images: 0,
  keyHash: "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069",
  createdAt: "2026-01-31T12:00:00.000Z",
};

const update: TrackerUpdateResult = {
  id: "trk_01JD0000000000000000000000",
  length: 1,
  step,
  advice: null,
  shortened: { steps: 0, leftOut: 0, characters: 0 },
  decision: "dec_01JD0000000000000000000003",
  judge: EXAMPLE_RESULT.track.judge,
  channels: { logprobs: 2 },
  usage: EXAMPLE_RESULT.track.usage,
  warnings: [],
};

const result: TrackerResult = {
  id: update.id,
  task: "Make the failing test pass.",
  createdAt: "2026-01-31T11:59:00.000Z",
  criteria: [{
    id: "correctness",
    name: "Correctness",
    description: "The tests pass and were run.",
    weight: 1,
  }],
  length: 1,
  steps: [step],
  curve: [{ step: 1, score: 0.35, standardError: 0.02 }],
  advice: null,
  warnings: [],
};

const events = [
  `id: 0\nevent: start\ndata: {"id":"${update.id}","task":"Make the failing test pass.","createdAt":"2026-01-31T11:59:00.000Z"}\n`,
  'id: 1;1\nevent: step\ndata: {"step":{"index":1,"state":"pending","score":null}}\n',
  'id: 1\nevent: score\ndata: {"step":{"index":1,"state":"scored","score":0.35},"advice":null}\n',
  'id: 1\nevent: end\ndata: {"reason":"time"}\n',
].join("\n");

/** One example of each answer. */
export const TRACKER_EXAMPLES = {
  started: { id: update.id, created: true, length: 0, warnings: [] },
  again: { id: "ses-42-main", created: false, length: 1, warnings: [] },
  update,
  result,
  events,
} as const;
