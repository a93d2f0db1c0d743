/**
 * `/v1/decisions`: what was judged, and whether it would be judged the same today.
 *
 * @module
 */
import { listDecisions, readDecision } from "../verifier/decisions/store.ts";
import { AssayError } from "../verifier/errors.ts";
import { replayDecision } from "../verifier/decisions/replay.ts";
import { jsonResponse } from "./answer.ts";
import { DECISION_EXAMPLES } from "./decision_examples.ts";
import type { AppContext, Operation, Parameter, Services } from "./operation.ts";
import { readCount, readQuery } from "./query.ts";

/** Most decisions of one page. */
export const MAXIMUM_DECISION_PAGE = 500;
const DEFAULT_PAGE = 50;

const ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of the decision, which is its result's.",
  example: DECISION_EXAMPLES.decision.id,
};

/** The endpoints. */
export function decisionOperations({ environment }: Services): readonly Operation[] {
  const find = (context: AppContext) => readDecision(environment.store, context.req.param("id") ?? "");
  return [
    {
      method: "get",
      path: "/v1/decisions",
      id: "listDecisions",
      tag: "Decisions",
      access: "token",
      summary: "List decisions, newest first",
      description:
        "Every invocation of a verb that judged something has one, failures too. Of each verb, session and tracker the " +
        "newest are kept (200 unless configured otherwise). With `verb` a page may hold fewer than `limit` and still have " +
        "a cursor.",
      parameters: [
        {
          name: "verb",
          in: "query",
          required: false,
          description: "Only decisions of this verb.",
          example: "compare",
        },
        {
          name: "limit",
          in: "query",
          required: false,
          description: `Most decisions of the page, 1 to ${MAXIMUM_DECISION_PAGE}, default ${DEFAULT_PAGE}.`,
          example: "50",
        },
        {
          name: "cursor",
          in: "query",
          required: false,
          description: "As the page before gave it.",
          example: DECISION_EXAMPLES.list.cursor,
        },
      ],
      answers: [{
        status: 200,
        description: "One page.",
        content: { "application/json": { schema: "DecisionList", example: DECISION_EXAMPLES.list } },
      }],
      problems: ["invalid_request", "store_unavailable"],
      handle: async (context) => {
        const { verb, limit, cursor } = readQuery(context, ["verb", "limit", "cursor"]);
        if (verb !== undefined && !/^[a-z][a-z_-]{0,39}$/.test(verb)) {
          throw AssayError.field("/verb", "must be the name of a verb such as compare", verb);
        }
        return jsonResponse(
          await listDecisions(environment.store, {
            limit: readCount(limit, "/limit", { most: MAXIMUM_DECISION_PAGE, fallback: DEFAULT_PAGE }),
            ...(verb === undefined ? {} : { verb }),
            ...(cursor === undefined ? {} : { cursor }),
          }),
        );
      },
    },
    {
      method: "get",
      path: "/v1/decisions/{id}",
      id: "getDecision",
      tag: "Decisions",
      access: "token",
      summary: "Show one decision",
      description:
        "Scores and letter distributions of every call; prompt and answer of at most 32 calls and 30,000 characters, head " +
        "and tail of each. Secrets were taken out before anything was stored.",
      parameters: [ID],
      answers: [{
        status: 200,
        description: "The decision.",
        content: { "application/json": { schema: "Decision", example: DECISION_EXAMPLES.decision } },
      }],
      problems: ["not_found", "store_unavailable"],
      handle: async (context) => jsonResponse(await find(context)),
    },
    {
      method: "post",
      path: "/v1/decisions/{id}/replay",
      id: "replayDecision",
      tag: "Decisions",
      access: "token",
      summary: "Derive a decision again from its stored answers",
      description:
        "Decodes every stored answer with today's core, derives schedule and verdict from the scores and says where they " +
        "differ from what was stored (numbers by more than 1e-12). Buys nothing and changes nothing. Takes no body.",
      parameters: [ID],
      answers: [{
        status: 200,
        description: "What differs.",
        content: { "application/json": { schema: "Replay", example: DECISION_EXAMPLES.replay } },
      }],
      problems: ["not_found", "not_replayable", "store_unavailable"],
      handle: async (context) => jsonResponse(replayDecision(await find(context))),
    },
  ];
}
