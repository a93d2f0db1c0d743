/**
 * `POST /v1/gate`: may an agent end its turn with this work?
 *
 * @module
 */
import { gate } from "../verifier/gate/gate.ts";
import { gateRequestSchema, type GateResult } from "../verifier/gate/requests.ts";
import { EXAMPLE_RESULT } from "./examples.ts";
import type { Operation, Services } from "./operation.ts";
import { ACCEPT_PARAMETER, answerVerb } from "./verb.ts";

/** Example answers, checked against the schema by a test. */
export const GATE_EXAMPLES: Readonly<Record<"steer" | "open", GateResult>> = {
  steer: {
    id: "dec_01JD0000000000000000000010",
    verb: "gate",
    decision: "steer",
    score: 0.31,
    baselineScore: 0.02,
    threshold: 0.65,
    criteria: [{
      id: "correctness",
      name: "Correctness",
      weight: 1,
      score: 0.31,
      baseline: 0.02,
      floor: 0.65,
      scored: 1,
      unscored: 0,
    }],
    failing: [{
      id: "correctness",
      name: "Correctness",
      score: 0.31,
      floor: 0.65,
      analysis: "The last test run shows two failures.",
    }],
    steer: "The verifier did not accept this work: score 0.310, at least 0.650 is required.\n…",
    unscored: 0,
    judge: EXAMPLE_RESULT.compare.judge,
    channels: { logprobs: 2 },
    usage: EXAMPLE_RESULT.compare.usage,
    warnings: [],
  },
  open: {
    id: "dec_01JD0000000000000000000011",
    verb: "gate",
    decision: "open",
    score: null,
    baselineScore: null,
    threshold: 0.65,
    criteria: [{
      id: "correctness",
      name: "Correctness",
      weight: 1,
      score: null,
      baseline: null,
      floor: 0.65,
      scored: 0,
      unscored: 1,
    }],
    failing: [],
    reason: "judge deepseek gave no usable score: unauthorized (2, for example: The judge answered 401)",
    code: "judge_unauthorized",
    unscored: 2,
    judge: EXAMPLE_RESULT.compare.judge,
    channels: {},
    usage: EXAMPLE_RESULT.compare.usage,
    warnings: [],
  },
};

/** The endpoint. */
export function gateOperation(services: Services): Operation {
  return {
    method: "post",
    path: "/v1/gate",
    id: "gate",
    tag: "Verbs",
    access: "token",
    summary: "Accept finished work, or say what it lacks",
    description:
      "Measures the work against an attempt in which nothing was done or checked, criteria × repeats calls. Accepted is " +
      "what beats it, has a mean of at least `threshold` and every criterion at its floor. The gate **fails open**: a judge " +
      "that is down, slow, refuses the key or can't be read, a budget that is too small and an abort all answer 200 with " +
      "`open` and the reason. It never steers because verification failed. A rubric that can't be read is replaced by " +
      "`coding`, with a warning; only other faults of the request are 4xx.",
    parameters: [ACCEPT_PARAMETER],
    body: {
      schema: "GateRequest",
      examples: {
        text: {
          summary: "Finished work as text",
          value: {
            task: "Make the failing test pass.",
            trajectory: "[Command] npm test\n[Output]\n1 passing\nDone: the test passes.",
            criteria: "coding",
            threshold: 0.6,
          },
        },
        floors: {
          summary: "One criterion may be weaker",
          value: {
            task: "Make the failing test pass.",
            trajectory: { steps: ["[Command] npm test\n[Output]\n1 passing"] },
            criteria: "coding",
            floors: { specification: 0.5 },
          },
        },
      },
    },
    answers: [{
      status: 200,
      description: "The decision, whichever it is, or the plan of a dry run.",
      content: {
        "application/json": { schema: "GateAnswer", example: GATE_EXAMPLES.steer },
        "text/event-stream": { schema: null, example: EXAMPLE_RESULT.events },
      },
    }],
    problems: [],
    isSettled: (answer) => (answer as { readonly decision?: unknown }).decision !== "open",
    handle: (context) => answerVerb(context, services, gateRequestSchema, gate),
  };
}
