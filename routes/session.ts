/**
 * `POST /v1/session`: how an agent's session progressed, or whether its work is accepted.
 *
 * @module
 */
import { session } from "../verifier/session/session.ts";
import { sessionRequestSchema, type SessionResult } from "../verifier/session/requests.ts";
import { EXAMPLE_RESULT, VERB_PROBLEMS } from "./examples.ts";
import type { Operation, Services } from "./operation.ts";
import { ACCEPT_PARAMETER, answerVerb } from "./verb.ts";

const { verb: _, id: __, unscored, judge, channels, usage, warnings, ...progress } = EXAMPLE_RESULT.track;

/** Example answer, checked against the schema by a test. */
export const SESSION_EXAMPLE: SessionResult = {
  id: "dec_01JD0000000000000000000020",
  verb: "session",
  mode: "progress",
  task: "Make the failing test pass.",
  source: {
    kind: "dsh",
    version: 4,
    id: "7f3c",
    steps: 3,
    range: { from: 13, to: 40 },
    counts: {
      lines: 42,
      events: 120,
      turns: 1,
      modelRequests: 3,
      toolCalls: 4,
      nestedCalls: 0,
      replacements: 0,
      compactions: 0,
      badLines: 0,
      unknownEvents: 0,
    },
    leftOut: { system: 1, plugin: 2 },
    redacted: 0,
  },
  shortened: { steps: 0, leftOut: 0, characters: 0 },
  progress,
  acceptance: null,
  unscored,
  judge,
  channels,
  usage,
  warnings,
};

const EXAMPLE_LOG = [
  '{"type":"session","version":4,"id":"7f3c","isSeeded":false}',
  '{"type":"user/message","seq":0,"data":{"content":[{"type":"text","text":"Make the failing test pass."}],"source":{"kind":"user"}},"surfaceOp":"append"}',
  '{"type":"assistant/message","seq":1,"data":{"turn":1,"step":1,"message":{"content":[{"type":"tool-call","id":"c1","name":"bash","arguments":"{\\"command\\":\\"npm test\\"}"}]}},"surfaceOp":"append"}',
  '{"type":"tool/call","seq":2,"data":{"turn":1,"step":1,"callId":"c1","name":"bash","arguments":"{\\"command\\":\\"npm test\\"}"}}',
  '{"type":"tool/result","seq":3,"data":{"message":{"role":"tool","toolCallId":"c1","content":[{"type":"text","text":"1 passing"}]}},"sourceEventSeqs":[2],"surfaceOp":"append"}',
].join("\n");

/** The endpoint. */
export function sessionOperation(services: Services): Operation {
  return {
    method: "post",
    path: "/v1/session",
    id: "session",
    tag: "Verbs",
    access: "token",
    summary: "Judge an agent's session",
    description:
      "Reads a DeepSeek Harness session log (formats 0 to 4), a chat transcript or steps. `progress` gives the curve of " +
      "`track`, `acceptance` the verdict of the gate. Results are matched to calls by id; replaced history, steering and " +
      "plugin messages, what a fork inherited and the verifier's own calls are no evidence. Lines that can't be read are " +
      "left out, counted and named. Secrets and what `redact` matches are taken out before anything is judged or stored.",
    parameters: [ACCEPT_PARAMETER],
    body: {
      schema: "SessionRequest",
      examples: {
        log: { summary: "A session log", value: { log: EXAMPLE_LOG } },
        acceptance: {
          summary: "A chat, measured by the gate's rule, without customer numbers",
          value: {
            mode: "acceptance",
            criteria: "coding",
            redact: ["customer-\\d{4,8}"],
            messages: [
              { role: "user", content: "Make the failing test pass." },
              { role: "assistant", content: "The test passes now." },
            ],
          },
        },
      },
    },
    answers: [{
      status: 200,
      description: "The curve or the verdict, or the plan of a dry run.",
      content: {
        "application/json": { schema: "SessionAnswer", example: SESSION_EXAMPLE },
        "text/event-stream": { schema: null, example: EXAMPLE_RESULT.events },
      },
    }],
    problems: VERB_PROBLEMS,
    handle: (context) => answerVerb(context, services, sessionRequestSchema, session),
  };
}
