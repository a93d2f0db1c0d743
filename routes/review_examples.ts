/**
 * Example answers of the review ledger for the OpenAPI document.
 *
 * @module
 */
import type {
  Review,
  ReviewList,
  ReviewReservation,
  ReviewReserveRequest,
} from "../verifier/reviews/requests.ts";

const request: ReviewReserveRequest = {
  session: "ses-42",
  task: "ses-42/17",
  purpose: "compare",
  fingerprint: "sha256:9f2c",
  calls: 6,
  limits: { task: { reviews: 2, calls: 96 }, session: { reviews: 8, calls: 240 } },
};

const done: Review = {
  id: "rev_01JD0000000000000000000000_0123456789abcdef0123456789abcdef",
  task: request.task,
  purpose: "compare",
  fingerprint: request.fingerprint,
  state: "done",
  calls: 6,
  outcome: { winner: "A", margin: 0.2 },
  at: "2026-01-31T12:00:00.000Z",
  settledAt: "2026-01-31T12:00:09.000Z",
};

const spent = { reviews: 1, calls: 6 };

const granted: ReviewReservation = { id: done.id, granted: true, spent: { task: spent, session: spent } };
const refused: ReviewReservation = {
  granted: false,
  reason: "reviewed",
  review: done,
  spent: { task: spent, session: spent },
};

const list: ReviewList = {
  session: request.session,
  spent: { ...spent, gate: { reviews: 0, calls: 0 }, routed: spent },
  reviews: [done],
  warnings: [],
};

/** One example of each request and answer. */
export const REVIEW_EXAMPLES = {
  request,
  settlement: { state: "done", calls: 6, outcome: done.outcome },
  done,
  granted,
  refused,
  list,
} as const;
