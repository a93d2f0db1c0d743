/**
 * `POST /v1/select`: the best of N trajectories.
 *
 * @module
 */
import { selectRequestSchema } from "../verifier/requests.ts";
import { EXAMPLE_RESULT, VERB_PROBLEMS } from "./examples.ts";
import type { Operation, Services } from "./operation.ts";
import { ACCEPT_PARAMETER, answerVerb } from "./verb.ts";

/** The endpoint. */
export function selectOperation(services: Services): Operation {
  return {
    method: "post",
    path: "/v1/select",
    id: "select",
    tag: "Verbs",
    access: "token",
    summary: "Pick the best of several trajectories",
    description:
      "A tournament: a seeded ring, then everyone against the pivots (or every pair when that is not dearer). Gives each " +
      "candidate a strength with a standard error and the probability of being this judge's own best. Identical " +
      "candidates are judged once.",
    parameters: [ACCEPT_PARAMETER],
    body: {
      schema: "SelectRequest",
      examples: {
        three: {
          summary: "Three candidates",
          value: {
            task: "Print the sum of the numbers in data.txt.",
            candidates: [
              {
                id: "first",
                steps: ["[Command] awk '{s+=$1} END {print s}' data.txt\n[Output]\n42", "The sum is 42."],
              },
              { id: "second", text: "The sum is probably 40." },
              { id: "third", text: "[Command] cat data.txt\n[Output]\nNo such file\nI am done." },
            ],
          },
        },
      },
    },
    answers: [{
      status: 200,
      description: "The ranking, or the plan of a dry run.",
      content: {
        "application/json": { schema: "SelectAnswer", example: EXAMPLE_RESULT.select },
        "text/event-stream": { schema: null, example: EXAMPLE_RESULT.events },
      },
    }],
    problems: VERB_PROBLEMS,
    handle: (context) => answerVerb(context, services, selectRequestSchema, services.verbs.select),
  };
}
