/**
 * `POST /v1/track`: the progress curve of a finished trajectory.
 *
 * @module
 */
import { trackRequestSchema } from "../verifier/requests.ts";
import { EXAMPLE_RESULT, VERB_PROBLEMS } from "./examples.ts";
import type { Operation, Services } from "./operation.ts";
import { ACCEPT_PARAMETER, answerVerb } from "./verb.ts";

/** The endpoint. */
export function trackOperation(services: Services): Operation {
  return {
    method: "post",
    path: "/v1/track",
    id: "track",
    tag: "Verbs",
    access: "token",
    summary: "Follow the progress of a trajectory",
    description:
      "Scores how far the work has come at each checkpoint. With `causal` every checkpoint is scored from its own prefix, " +
      "so that later steps cannot leak into earlier scores.",
    parameters: [ACCEPT_PARAMETER],
    body: {
      schema: "TrackRequest",
      examples: {
        steps: {
          summary: "A trajectory in steps",
          value: {
            task: "Make the failing test pass.",
            trajectory: {
              steps: [
                "[Command] npm test\n[Output]\n1 failing",
                "Edited sum.js",
                "[Command] npm test\n[Output]\n1 passing",
              ],
            },
          },
        },
      },
    },
    answers: [{
      status: 200,
      description: "The curve, or the plan of a dry run.",
      content: {
        "application/json": { schema: "TrackAnswer", example: EXAMPLE_RESULT.track },
        "text/event-stream": { schema: null, example: EXAMPLE_RESULT.events },
      },
    }],
    problems: VERB_PROBLEMS,
    handle: (context) => answerVerb(context, services, trackRequestSchema, services.verbs.track),
  };
}
