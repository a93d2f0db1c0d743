/**
 * Pictures of the user's messages, which the host keeps beside its log: they reach a judge that reads pictures.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startJudged } from "./judged.ts";
import { gateMessages, toolOutcomes } from "./log.ts";
import { startModel } from "./model.ts";
import { createScene, gateOn, hostTest } from "./scene.ts";

/** One red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** The host refuses pictures for a model that can't read them, and its own default can't. */
const seeingModel = (url: string): string =>
  `- id: llm-pi-ai
  config:
    providers:
      stub:
        displayName: Stub
        apiKeyEnv: DEEPSEEK_API_KEY
        api: openai-completions
        baseURL: ${url}
        models:
          - id: stub-vision
            input: [text, image]
- id: agent-default-model
  config:
    provider: stub
    model: stub-vision
`;

for (const readsImages of [true, false]) {
  const what = readsImages
    ? "sees the user's picture"
    : "that reads no pictures judges without, and the user is told";
  hostTest(`a judge ${what}, in the gate and in verifier_session`, async (host) => {
    await using server = await startJudged(undefined, { readsImages });
    await using model = startModel([
      { calls: [{ name: "bash", arguments: { command: "echo red > colour.txt; echo quality=0.9" } }] },
      { calls: [{ name: "verifier_session", arguments: { mode: "acceptance" } }] },
      { text: "It is red." },
    ]);
    await using scene = await createScene(host, { model, server, patch: gateOn() + seeingModel(model.url) });
    const [, said] = await scene.drive([
      { do: "create", agent: "a" },
      { do: "say", agent: "a", text: "Write the colour of this picture into colour.txt.", png: PNG },
    ]);
    assertEquals(said, { end: "completed" });
    assert(JSON.stringify(model.requests[0]!.messages).includes("image_url"), "the agent sees it");
    const session = await scene.session();
    const outcome = toolOutcomes(session).find(({ name }) => name === "verifier_session")!;
    assertEquals(outcome.isError, false, outcome.text);
    // Three criteria each, asked by the tool (twice, with the sides swapped) and by the gate.
    assert(server.judge.calls.length >= 6);
    const url = `data:image/png;base64,${PNG}`;
    for (const { body } of server.judge.calls) assertEquals(JSON.stringify(body).includes(url), readsImages);
    const notices = gateMessages(session).filter(({ purpose }) => purpose === "notice");
    if (readsImages) {
      assertEquals(notices, []);
    } else {
      assertStringIncludes(outcome.text, "images");
      assertEquals(notices.length, 1);
      assertMatch(notices[0]!.text, /images/);
    }
  });
}
