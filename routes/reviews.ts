/**
 * `/v1/reviews`: what automatic reviews of an agent's session may buy.
 *
 * @module
 */
import { AssayError } from "../verifier/errors.ts";
import { redact } from "../verifier/redaction/redact.ts";
import { parseRequest } from "../verifier/requests.ts";
import { createReviewLedger } from "../verifier/reviews/ledger.ts";
import { MOST_LISTED } from "../verifier/reviews/records.ts";
import {
  MAXIMUM_NAME_CHARACTERS,
  reviewReserveSchema,
  reviewSettleSchema,
} from "../verifier/reviews/requests.ts";
import { jsonResponse } from "./answer.ts";
import { readJson } from "./body.ts";
import type { Operation, Services } from "./operation.ts";
import { readCount, readQuery } from "./query.ts";
import { REVIEW_EXAMPLES } from "./review_examples.ts";

const DEFAULT_LISTED = 50;

/** The endpoints. */
export function reviewOperations(services: Services): readonly Operation[] {
  const { environment, bodyLimitBytes, log } = services;
  const ledger = createReviewLedger(environment.store, { log, redact: environment.redact ?? redact });
  return [
    {
      method: "post",
      path: "/v1/reviews",
      id: "reserveReview",
      tag: "Reviews",
      access: "token",
      summary: "Ask whether a review may be bought, and hold its calls",
      description:
        "Refused (status 200) where the session has a review of the same evidence, done or under way, or where a limit " +
        "would be exceeded; any number of parallel requests hold no more than the limits. Settle what was granted: after " +
        "15 minutes a hold counts as bought, and its evidence is free again. Sessions of other tokens aren't seen.",
      body: {
        schema: "ReviewReserveRequest",
        examples: { compare: { summary: "Before a comparison", value: REVIEW_EXAMPLES.request } },
      },
      answers: [{
        status: 201,
        description: "It may be bought.",
        content: { "application/json": { schema: "ReviewGranted", example: REVIEW_EXAMPLES.granted } },
      }, {
        status: 200,
        description: "It may not.",
        content: { "application/json": { schema: "ReviewRefused", example: REVIEW_EXAMPLES.refused } },
      }],
      problems: ["store_unavailable"],
      isSettled: (answer) => (answer as { readonly granted: boolean }).granted,
      handle: async (context) => {
        const request = parseRequest(reviewReserveSchema, await readJson(context.req.raw, bodyLimitBytes));
        const answer = await ledger.reserve(context.var.caller, request);
        return jsonResponse(answer, answer.granted ? 201 : 200);
      },
    },
    {
      method: "post",
      path: "/v1/reviews/{id}/settle",
      id: "settleReview",
      tag: "Reviews",
      access: "token",
      summary: "Say what became of a review",
      description:
        "What was really bought takes the place of what was held, late ones too. Done keeps the evidence reviewed for 90 " +
        "days; failed and abandoned free it, and count as a review only if they bought anything. The same state again " +
        "gives the first answer, another one is 409 idempotency_conflict.",
      parameters: [{
        name: "id",
        in: "path",
        required: true,
        description: "Id of the review.",
        example: REVIEW_EXAMPLES.done.id,
      }],
      body: {
        schema: "ReviewSettleRequest",
        examples: { done: { summary: "It was bought", value: REVIEW_EXAMPLES.settlement } },
      },
      answers: [{
        status: 200,
        description: "The review.",
        content: { "application/json": { schema: "Review", example: REVIEW_EXAMPLES.done } },
      }],
      problems: ["not_found", "idempotency_conflict", "store_unavailable"],
      handle: async (context) => {
        const request = parseRequest(reviewSettleSchema, await readJson(context.req.raw, bodyLimitBytes));
        return jsonResponse(
          await ledger.settle(context.var.caller, context.req.param("id") ?? "", request),
        );
      },
    },
    {
      method: "get",
      path: "/v1/reviews",
      id: "listReviews",
      tag: "Reviews",
      access: "token",
      summary: "List a session's reviews, newest first",
      description:
        "With what the session has spent. Records that can't be read are left out and named in `warnings`.",
      parameters: [{
        name: "session",
        in: "query",
        required: true,
        description: "The session, as its reviews name it.",
        example: REVIEW_EXAMPLES.list.session,
      }, {
        name: "limit",
        in: "query",
        required: false,
        description: `Most reviews, 1 to ${MOST_LISTED}, default ${DEFAULT_LISTED}.`,
        example: "50",
      }],
      answers: [{
        status: 200,
        description: "The reviews; none of a session that nobody reviewed.",
        content: { "application/json": { schema: "ReviewList", example: REVIEW_EXAMPLES.list } },
      }],
      problems: ["invalid_request", "store_unavailable"],
      handle: async (context) => {
        const { session, limit } = readQuery(context, ["session", "limit"]);
        if (session === undefined) throw AssayError.field("/session", "must be present");
        if (session.length > MAXIMUM_NAME_CHARACTERS) {
          throw AssayError.field(
            "/session",
            `must have at most ${MAXIMUM_NAME_CHARACTERS} characters`,
            session,
          );
        }
        const most = readCount(limit, "/limit", { most: MOST_LISTED, fallback: DEFAULT_LISTED });
        return jsonResponse(await ledger.list(context.var.caller, session, most));
      },
    },
  ];
}
