/**
 * `POST /v1/compare`: which of two trajectories is better.
 *
 * @module
 */
import { compareRequestSchema } from "../verifier/requests.ts";
import type { Operation, Services } from "./operation.ts";
import { EXAMPLE_RESULT, VERB_PROBLEMS } from "./examples.ts";
import { ACCEPT_PARAMETER, answerVerb } from "./verb.ts";

/** The endpoint. */
export function compareOperation(services: Services): Operation {
  return {
    method: "post",
    path: "/v1/compare",
    id: "compare",
    tag: "Verbs",
    access: "token",
    summary: "Compare two trajectories",
    description:
      "Grades both sides on every criterion and reads the distribution over the grades. Every other repeat swaps the " +
      "sides, so that a judge's taste for the first place shows as `slotBias`. Buys criteria × repeats calls. In a trajectory's text, lines that start with `[Command]` and `[Output]` tell what was run from what was said.",
    parameters: [ACCEPT_PARAMETER],
    body: {
      schema: "CompareRequest",
      examples: {
        text: {
          summary: "Two trajectories as text",
          value: {
            task: "Make the failing test pass.",
            a: "[Command] npm test\n[Output]\n1 passing\nDone: the test passes.",
            b: "I changed the file. It should work now.",
            criteria: "coding",
          },
        },
        redact: {
          summary: "Without secrets and customer numbers",
          value: {
            task: "Tell customer-4711 when the parcel comes.",
            a: "[Command] track --customer customer-4711\n[Output]\ntomorrow\nIt comes tomorrow.",
            b: "It should come soon.",
            redact: ["customer-\\d{4,8}"],
          },
        },
        dryRun: {
          summary: "What would it cost",
          value: { task: "Make the failing test pass.", a: "ran the test", b: "did not", dryRun: true },
        },
      },
    },
    answers: [{
      status: 200,
      description: "The verdict, or the plan of a dry run.",
      content: {
        "application/json": { schema: "CompareAnswer", example: EXAMPLE_RESULT.compare },
        "text/event-stream": { schema: null, example: EXAMPLE_RESULT.events },
      },
    }],
    problems: VERB_PROBLEMS,
    handle: (context) => answerVerb(context, services, compareRequestSchema, services.verbs.compare),
  };
}
