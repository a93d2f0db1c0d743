/**
 * Secrets planted wherever a caller or a judge can put one: none of them is in what the server writes to its log, keeps
 * in its store, or says in a problem.
 */
import { assert, assertEquals } from "@std/assert";
import { openDenoKvStore } from "../../store/deno_kv.ts";
import { echoKey, failure, say, smart, startStubJudge, type StubScript, tagged } from "../stub_judge.ts";
import { letterToken } from "../stub_answers.ts";
import { ask, withServer } from "./server.ts";

const JUDGE_KEY = "judge-key-93kd83hd8sk2js82";
const TOKEN = "server-token-8f7d6s5a4q3w2e1r";
const DELIMITER = "the same after every start";

/** How a secret looks in text, and the part that may be nowhere. */
const PLANTED: readonly (readonly [string, string])[] = [
  ["sk-live0planted1provider2key3", "sk-live0planted1provider2key3"],
  ["ghp_Planted0Personal1Access2Token3Abc", "ghp_Planted0Personal1Access2Token3Abc"],
  ["AKIAPLANTED0KEY1ABCD", "AKIAPLANTED0KEY1ABCD"],
  ["AIzaPlanted0Google1Key2Abcdefghijklmnopq", "AIzaPlanted0Google1Key2Abcdefghijklmnopq"],
  ["Authorization: Bearer planted.bearer.9f8e7d", "planted.bearer.9f8e7d"],
  ["Authorization: Basic cGxhbnRlZDpiYXNpYzEyMw==", "cGxhbnRlZDpiYXNpYzEyMw"],
  ['{"password": "planted-json-password-1"}', "planted-json-password-1"],
  ["Cookie: session=planted-cookie-42", "planted-cookie-42"],
  ["https://user:planted-url-password@example.com/x", "planted-url-password"],
  ["API_KEY=planted-assigned-key-7", "planted-assigned-key-7"],
  [
    "-----BEGIN PRIVATE KEY-----\nplantedPemBody0123456789\n-----END PRIVATE KEY-----",
    "plantedPemBody0123456789",
  ],
];
const TEXT = PLANTED.map(([text]) => text).join("\n");
const SECRETS = [...PLANTED.map(([, secret]) => secret), JUDGE_KEY, TOKEN, DELIMITER];

const JUDGES: Readonly<Record<string, StubScript>> = {
  "quotes what it reads": tagged(`I read ${TEXT} there.`, {
    score_A: letterToken(0.9),
    score_B: letterToken(0.2),
  }),
  "quotes it without log-probabilities": say(
    `I read ${TEXT} there.\n<score_A> B </score_A>\n<score_B> K </score_B>`,
  ),
  "quotes it behind its scores": tagged("", {
    score_A: letterToken(0.9),
    score_B: letterToken(0.2),
  }),
  "refuses with it": say("", { refusal: `I can't look at ${TEXT}` }),
  "gives no scores": say(`Only words: ${TEXT}`),
  "fails with it": failure(500, { error: { message: `crashed on ${TEXT}` } }),
  "fails with it as HTML": failure(502, `<pre>${TEXT}</pre>`),
  "echoes its key": echoKey,
  "answers a page": {
    kind: "raw",
    status: 200,
    headers: { "content-type": "text/html" },
    chunks: [`<p>${TEXT}</p>`],
  },
};

function leaks(text: string): readonly string[] {
  return SECRETS.filter((secret) => text.includes(secret));
}

Deno.test("no planted secret is in the server's log, in its store or in a problem", async () => {
  await using stub = startStubJudge();
  const settings = {
    judges: { stub: stub.profile({ apiKeyEnv: "STUB_KEY", retries: 0 }) },
    tokens: [{ name: "ci", tokenEnv: "ASSAY_TOKEN_CI", dailyCalls: 100_000 }],
    variables: { STUB_KEY: JUDGE_KEY, ASSAY_TOKEN_CI: TOKEN },
  };
  await withServer(settings, async (server, _again, path) => {
    const authorized = { authorization: `Bearer ${TOKEN}`, cookie: "session=planted-cookie-42" };
    const shared = {
      task: `Do it with ${TEXT}`,
      context: TEXT,
      criteria: [{ name: "Works", description: TEXT }],
    };
    const requests: readonly (readonly [string, Record<string, unknown>])[] = [
      ["/v1/compare", { ...shared, a: `quality=0.9 ${TEXT}`, b: `quality=0.2 ${TEXT}` }],
      ["/v1/select", {
        ...shared,
        candidates: [`quality=0.9 ${TEXT}`, "quality=0.2", `quality=0.4 ${TEXT}`],
      }],
      ["/v1/track", { ...shared, trajectory: { steps: [TEXT, "quality=0.4"] } }],
      ["/v1/gate", { ...shared, trajectory: `quality=0.9 ${TEXT}` }],
      ["/v1/session", {
        messages: [{ role: "user", content: shared.task }, { role: "assistant", content: TEXT }],
      }],
      ["/v1/best-of-n", { prompt: shared.task, n: 2 }],
    ];
    const told: string[] = [];
    for (const [name, script] of Object.entries(JUDGES)) {
      stub.play(script);
      for (const [at, request] of requests) {
        for (const accept of ["application/json", "text/event-stream"]) {
          const key = `${name}/${at}/${accept}`.replaceAll(" ", "_");
          const answer = await ask(server, at, request, { ...authorized, accept, "idempotency-key": key });
          assert(answer.status !== 500, `${key}: ${answer.text}`);
          if (answer.status >= 400) told.push(`${key}: ${answer.text}`);
        }
      }
      const started = await ask(server, "/v1/trackers", shared, authorized);
      assertEquals(started.status, 201, started.text);
      for (const step of [TEXT, `${name} ${TEXT}`]) {
        const update = await ask(server, `/v1/trackers/${started.body.id}/steps`, { step }, authorized);
        assertEquals(update.status, 200, update.text);
      }
    }
    stub.play(smart());
    await ask(server, "/v1/status/probe", {}, authorized);
    told.push(await ask(server, "/v1/status", undefined, authorized).then(({ text }) => text));
    told.push(
      await ask(server, "/nowhere?api_key=planted-assigned-key-7", undefined, authorized).then(({ text }) =>
        text
      ),
    );
    told.push(
      await ask(server, "/v1/compare", { ...shared, a: 1, [`x ${PLANTED[0]![0]}`]: TEXT }, authorized).then((
        { text },
      ) => text),
    );
    told.push(
      await ask(server, "/v1/compare", shared, { authorization: `Bearer wrong${TOKEN}` }).then(({ text }) =>
        text
      ),
    );
    await server.kill();
    for (const text of told) assertEquals(leaks(text), [], text.slice(0, 3000));
    assertEquals(leaks(server.output()), [], "in the log");

    const store = await openDenoKvStore(path);
    const found: string[] = [];
    let looked = 0;
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof store.list>> = await store.list(
        "",
        cursor === "" ? {} : { cursor },
      );
      for (const key of page.keys) {
        const text = key + new TextDecoder().decode((await store.get(key))?.value);
        looked++;
        // Words of an answer are tokens in the records; joined they are the answer.
        const joined = [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]).join("");
        for (const secret of new Set([...leaks(text), ...leaks(joined)])) {
          found.push(`${key.split("/").slice(0, 2).join("/")} holds ${secret}`);
        }
      }
      cursor = page.cursor;
    }
    await store.close();
    assert(looked > 50, `only ${looked} records`);
    assertEquals([...new Set(found)], []);
  });
});
