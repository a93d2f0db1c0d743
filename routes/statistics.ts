/**
 * `GET /v1/statistics`: what was judged, and what it cost.
 *
 * @module
 */
import { AssayError } from "../verifier/errors.ts";
import {
  DEFAULT_STATISTIC_PAGE,
  MAXIMUM_STATISTIC_PAGE,
  readStatistics,
  readTimes,
  STATISTIC_GROUPS,
} from "../verifier/decisions/statistics.ts";
import { jsonResponse } from "./answer.ts";
import { DECISION_EXAMPLES } from "./decision_examples.ts";
import type { Operation, Services } from "./operation.ts";
import { readCount, readQuery } from "./query.ts";

/** The endpoint. */
export function statisticsOperation({ environment }: Services): Operation {
  return {
    method: "get",
    path: "/v1/statistics",
    id: "getStatistics",
    tag: "Decisions",
    access: "token",
    summary: "Add up what was judged",
    description:
      "Counts, tokens, money, cache hits, channels and missing scores of every invocation that judged something, by day, " +
      "verb, judge, session or rubric. Records are kept for 400 days (unless configured otherwise), longer than decisions, " +
      "under the same ids. Rates are null where there is nothing to divide by, and money is null where any of it is " +
      "unknown. One answer adds up at most `limit` records; with a `cursor` there are more, and all counts may be added to " +
      "those of the next page (rates may not).",
    parameters: [
      {
        name: "from",
        in: "query",
        required: false,
        description: "A day or an ISO 8601 time, inclusive; default 30 days before `to`.",
        example: "2026-12-01",
      },
      {
        name: "to",
        in: "query",
        required: false,
        description: "A time, exclusive, or a day, which is then counted whole; default now.",
        example: "2026-12-31",
      },
      {
        name: "group",
        in: "query",
        required: false,
        description: `${STATISTIC_GROUPS.join(", ")}; default day.`,
        example: "verb",
      },
      {
        name: "limit",
        in: "query",
        required: false,
        description: `Most records, 1 to ${MAXIMUM_STATISTIC_PAGE}, default ${DEFAULT_STATISTIC_PAGE}.`,
        example: "900",
      },
      {
        name: "cursor",
        in: "query",
        required: false,
        description: "As the page before gave it.",
        example: "01JD0000000000000000000000",
      },
    ],
    answers: [{
      status: 200,
      description: "The sums.",
      content: { "application/json": { schema: "Statistics", example: DECISION_EXAMPLES.statistics } },
    }],
    problems: ["invalid_request", "store_unavailable"],
    handle: async (context) => {
      const query = readQuery(context, ["from", "to", "group", "limit", "cursor"]);
      const group = STATISTIC_GROUPS.find((name) => name === (query.group ?? "day"));
      if (group === undefined) {
        throw AssayError.field("/group", `must be one of ${STATISTIC_GROUPS.join(", ")}`, query.group);
      }
      return jsonResponse(
        await readStatistics(environment.store, {
          ...readTimes(query.from, query.to),
          group,
          limit: readCount(query.limit, "/limit", {
            most: MAXIMUM_STATISTIC_PAGE,
            fallback: DEFAULT_STATISTIC_PAGE,
          }),
          ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
        }),
      );
    },
  };
}
