import { assertEquals, assertStringIncludes } from "@std/assert";
import { fakeApp, post } from "../tests/http_fakes.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../tests/verbs/fake_judge.ts";
import { SESSION_EXAMPLE, sessionOperation } from "./session.ts";
import { sessionAnswer, sessionResult } from "./session_schemas.ts";
import type { Services } from "./operation.ts";

function app() {
  const judge = fakeJudge({ answer: ({ tags }) => answerWith(tags, tags.map(() => 0.5), "progress") });
  return fakeApp({ environment: fakeEnvironment(judge) });
}

Deno.test("the documented examples of a session are answered as documented", async () => {
  const { ask } = app();
  const { examples } = sessionOperation({} as Services).body!;
  for (const [name, { value }] of Object.entries(examples)) {
    const response = await ask("/v1/session", post(value));
    assertEquals(response.status, 200, name);
    const result = sessionResult.parse(await response.json());
    assertEquals([result.task, result.mode], [
      "Make the failing test pass.",
      name === "log" ? "progress" : "acceptance",
    ]);
  }
  sessionAnswer.parse(SESSION_EXAMPLE);
});

Deno.test("a session over HTTP streams its progress, and names what is wrong with a log", async () => {
  const { ask } = app();
  const steps = { steps: ["a", "b"], task: "t" };
  const stream = await ask("/v1/session", post(steps, { accept: "text/event-stream" }));
  const text = await stream.text();
  assertStringIncludes(text, "event: checkpoint");
  assertStringIncludes(text, "event: result");
  const refused = await ask("/v1/session", post({ log: '{"type":"session","version":9}\n' }));
  const problem = await refused.json();
  assertEquals([refused.status, problem.errors[0].path], [400, "/log"]);
  assertStringIncludes(problem.detail, "format 9");
  const plan = await ask("/v1/session", post({ ...steps, dryRun: true }));
  assertEquals(Object.keys(await plan.json()), ["plan"]);
});
