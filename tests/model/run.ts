/**
 * The judges and verbs against a real language model: `deno task test:model`.
 *
 * SmolLM2-135M has no judgement and doesn't keep the output contract, so nothing here asserts who wins. What is
 * asserted is that each thing a real server does ends in the right score, the right reason or the right error. It takes
 * minutes (the first time, with the build, up to half an hour), so it is not part of `deno task test`.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import { compare } from "../../verifier/compare.ts";
import { loadConfig } from "../../verifier/config/config.ts";
import { decodeLetter } from "../../verifier/core.ts";
import { createEnvironment } from "../../verifier/environment.ts";
import { AssayError } from "../../verifier/errors.ts";
import type { AnswerUsage, Judge, JudgeRequest } from "../../verifier/judges/judge.ts";
import { JudgeError } from "../../verifier/judges/judge.ts";
import { createJudgeRegistry } from "../../verifier/judges/registry.ts";
import { compareRequestSchema, parseRequest, trackRequestSchema } from "../../verifier/requests.ts";
import { track } from "../../verifier/track.ts";
import type { CompareResult } from "../../verifier/types.ts";
import { type Exchange, type RunningModel, startModel } from "./server.ts";
import { prepareModel } from "./setup.ts";

const TASK = "Write a Python function add(a, b) into add.py that returns the sum, and check it.";
const GOOD =
  "--- Agent Step 1 ---\nI write the function and run it.\n[Command] python3 -c 'from add import add; " +
  "print(add(2, 3))'\n[Output]\n5\n";
const POOR =
  "--- Agent Step 1 ---\nI think the function is fine as it is.\n[Command] cat add.py\n[Output]\n" +
  "cat: add.py: No such file or directory\n";
const REQUEST = { task: TASK, a: GOOD, b: POOR, criteria: { Correctness: "Does add.py work?" } };
/** Everything a small model may be unable to do. */
const READABLE = new Set(["no_tag", "no_letter", "low_letter_mass", "truncated"]);

const say = (line: string): void => console.log(line);

/** A check; what it returns is printed as what was seen. */
type Check = (t: Bench) => Promise<string>;

interface Bench {
  readonly model: RunningModel;
  readonly environment: Awaited<ReturnType<typeof createEnvironment>>;
  judge(profile: string): Judge;
  learnt(profile: string): Readonly<Record<string, boolean | number>>;
  /** Runs, and gives back what was sent meanwhile. */
  watch<T>(run: () => Promise<T>): Promise<{ value: T; sent: Exchange[] }>;
}

function promptOf(text: string, suffix = ""): JudgeRequest {
  return { prefix: text, suffix, images: [], tags: ["score_A", "score_B"], repeat: 0, maxTokens: null };
}

/** One answer with the usage of its attempts. */
async function ask(judge: Judge, request: JudgeRequest, signal = new AbortController().signal) {
  const attempts: (AnswerUsage | null)[] = [];
  const answer = await judge.answer(request, { signal, onAttempt: (usage) => attempts.push(usage) });
  return { answer, attempts };
}

const checks: Readonly<Record<string, Check>> = {
  "a free answer brings log-probabilities for every token, with 20 alternatives": async ({ judge }) => {
    const { answer, attempts } = await ask(judge("plain"), promptOf("Name three colours."));
    assert(answer.text.length > 0 && answer.tokens !== null);
    assertEquals(answer.tokens.map((token) => token.token).join("").trim(), answer.text.trim());
    assert(answer.tokens.every((token) => token.top_logprobs?.length === 20));
    assertEquals(attempts.length, 1);
    assert((attempts[0]?.inputTokens ?? 0) > 0 && (attempts[0]?.outputTokens ?? 0) >= answer.tokens.length);
    return `${answer.tokens.length} tokens, ${answer.finishReason}; usage ${JSON.stringify(attempts[0])}`;
  },

  "a streamed answer is the same answer, with its log-probabilities and usage": async ({ judge, watch }) => {
    const request = promptOf("Name three colours.");
    const whole = await ask(judge("plain"), request);
    const { value: streamed, sent } = await watch(() => ask(judge("streaming"), request));
    assertEquals(sent.length, 1);
    assertEquals(sent[0]!.body.stream, true);
    const events = sent[0]!.answer.split("\n").filter((line) => line.startsWith("data:")).length;
    assert(events > 3, `only ${events} events`);
    assertEquals(streamed.answer.text, whole.answer.text);
    assertEquals(streamed.answer.finishReason, whole.answer.finishReason);
    // Whole answers list the end of the turn as an empty token, streamed ones don't.
    const spelled = ({ answer }: typeof whole) => answer.tokens!.map(({ token }) => token).filter(Boolean);
    assertEquals(spelled(streamed), spelled(whole));
    assertEquals(streamed.attempts[0]?.outputTokens, whole.attempts[0]?.outputTokens);
    return `${events} events in ${sent[0]!.chunks} chunks, ${streamed.answer.tokens?.length} tokens; ` +
      `usage ${JSON.stringify(streamed.attempts[0])}`;
  },

  "a repeated prefix is counted as cached input": async ({ judge }) => {
    const prefix = "Notes on gardening. " +
      "Water the tomatoes in the morning, before the sun is high. ".repeat(40);
    const first = await ask(judge("short"), promptOf(prefix, "\nHow often?"));
    const second = await ask(judge("short"), promptOf(prefix, "\nWhich plants?"));
    const [before, after] = [first.attempts[0]!, second.attempts[0]!];
    assert((after.cachedInputTokens ?? 0) > 0.8 * (after.inputTokens ?? Infinity), JSON.stringify(after));
    assert((before.cachedInputTokens ?? 0) < 0.5 * (before.inputTokens ?? 0), JSON.stringify(before));
    return `first ${before.cachedInputTokens} of ${before.inputTokens} cached, ` +
      `second ${after.cachedInputTokens} of ${after.inputTokens}`;
  },

  "a compare that accepts only free log-probabilities says why nothing was scored": async (t) => {
    const request = parseRequest(compareRequestSchema, { ...REQUEST, channel: "logprobs", judge: "brief" });
    const { value: error, sent } = await t.watch(() =>
      assertRejects(() => compare(t.environment, request), AssayError)
    );
    assertEquals(error.code, "nothing_scored");
    const reasons = reasonsIn(error);
    assert(reasons.length > 0 && reasons.every((reason) => READABLE.has(reason)), error.message);
    assert(sent.every(({ body }) => body.grammar === undefined && body.messages.length === 1));
    return `${error.status} ${error.code}: ${error.message} (${sent.length} requests)`;
  },

  "an answer that never ends is asked for once more with twice the tokens, then it is truncated": async (
    t,
  ) => {
    const request = parseRequest(compareRequestSchema, { ...REQUEST, repeats: 1, judge: "stubborn" });
    const { value: error, sent } = await t.watch(() =>
      assertRejects(() => compare(t.environment, request), AssayError)
    );
    assertEquals(reasonsIn(error), ["truncated"]);
    assertEquals(sent.map(({ body }) => body.max_tokens), [24, 48]);
    return error.message;
  },

  "the continuation is one constrained letter, and its mass is measured before the constraint": async (t) => {
    const seen: string[] = [];
    for (const open of ["<score_A>", "<score_A> L </score_A>\n<score_B>"]) {
      const { value: token, sent } = await t.watch(async () =>
        await t.judge("plain").continuation!(
          promptOf(
            `${TASK}\n\nTrajectory A:\n${GOOD}\nTrajectory B:\n${POOR}\n`,
            "Rate both with a letter A to T.",
          ),
          open,
          { signal: new AbortController().signal, onAttempt: () => {} },
        )
      );
      assertEquals(sent.length, 1);
      assert(typeof sent[0]!.body.grammar === "string");
      assertEquals(sent[0]!.body.messages.at(-1), { role: "assistant", content: open });
      const first = token?.tokens?.[0];
      assert(first !== undefined, "no token came back");
      assert(/^ ?[A-T]?$/.test(first.token), `the grammar let ${JSON.stringify(first.token)} through`);
      const score = decodeLetter(first, "pairwise");
      if (score.kind === "scored") {
        assert(score.letterMass !== null && score.letterMass >= 0.5 && score.letterMass <= 1 + 1e-9);
        assertEquals(score.channel, "continuation");
      } else assertEquals(score.reason, "low_letter_mass");
      const likeliest = first.top_logprobs?.[0]?.token;
      seen.push(
        `after ${JSON.stringify(open)}: ` + (score.kind === "scored"
          ? `letter mass ${score.letterMass?.toFixed(3)}, score ${score.value.toFixed(3)}`
          : `${score.reason}${score.detail === undefined ? "" : ` (${score.detail})`}`) +
          `, likeliest token ${JSON.stringify(likeliest)}`,
      );
    }
    return seen.join("; ");
  },

  "an answer without tags goes on to the continuation, and ends in a score or in both reasons": async (t) => {
    const seen: string[] = [];
    // The model talks on or stops as the dice fall; a few answers are enough to see one that stops.
    for (let attempt = 0; attempt < 8; attempt++) {
      const criteria = { Correctness: `Does add.py work? (${attempt})` };
      const request = parseRequest(compareRequestSchema, {
        ...REQUEST,
        criteria,
        repeats: 1,
        judge: "brief",
      });
      const { value, sent } = await t.watch(() => compare(t.environment, request).catch((error) => error));
      const continued = sent.filter(({ body }) => body.grammar !== undefined);
      if (value instanceof AssayError) {
        assertEquals(value.code, "nothing_scored");
        assert(reasonsIn(value).every((reason) => READABLE.has(reason)), value.message);
        if (continued.length > 0) assert(/; continuation: \w+/.test(value.message), value.message);
        seen.push(reasonsIn(value).join("+"));
      } else {
        checkResult(value);
        seen.push(`scored ${JSON.stringify(value.channels)}`);
      }
      if (continued.length === 0) continue;
      assertEquals(continued[0]!.body.messages.at(-1).role, "assistant");
      const answer = value instanceof AssayError
        ? `${value.status} ${value.code}: ${value.message}`
        : value.winner;
      return `answers seen: ${seen.join(", ")}; the last: ${answer} (${sent.length} requests)`;
    }
    throw new Error(`the continuation was never tried: ${seen.join(", ")}`);
  },

  "a track ends the same way": async (t) => {
    const request = parseRequest(trackRequestSchema, {
      task: TASK,
      trajectory: { steps: ["I look around.", "I write add.py.", "I run it: 5."] },
      criteria: { Progress: "How far is the work?" },
      repeats: 1,
      judge: "brief",
    });
    const { value, sent } = await t.watch(() => track(t.environment, request).catch((error) => error));
    if (value instanceof AssayError) {
      assertEquals(value.code, "nothing_scored");
      return `${value.status} ${value.code}: ${value.message} (${sent.length} requests)`;
    }
    assertEquals(value.curve.length, 3);
    for (const point of value.curve) assertEquals(point.score === null, point.scored === 0);
    return `curve ${JSON.stringify(value.curve.map((point: { score: number | null }) => point.score))}, ` +
      `channels ${JSON.stringify(value.channels)}, ${sent.length} requests`;
  },

  "a prompt beyond the context is an error of this call, and teaches nothing": async (t) => {
    const long = "The quick brown fox jumps over the lazy dog. ".repeat(1200);
    const { value: error, sent } = await t.watch(() =>
      assertRejects(() => ask(t.judge("plain"), promptOf(long)), JudgeError)
    );
    assertEquals(error.status, 400);
    assertEquals(error.reason, "backend_error");
    assertEquals(sent.length, 1, "a bad request was repeated");
    assertEquals(t.learnt("plain"), {});
    return `${error.status}: ${error.message}`;
  },

  "an address or a model that isn't there is an error of this call, and teaches nothing": async (t) => {
    const { value: error, sent } = await t.watch(() =>
      assertRejects(() => ask(t.judge("nowhere"), promptOf("Hello.")), JudgeError)
    );
    assertEquals(error.status, 404);
    assertEquals(sent.length, 1, "a 404 was repeated");
    assertEquals(t.learnt("nowhere"), {});
    const { answer } = await ask(t.judge("short"), promptOf("Hello."));
    assert(answer.tokens !== null, "logprobs are still asked for");
    return `${error.status} ${error.reason}: ${error.message}`;
  },

  "an aborted call rejects with the caller's reason and frees the model": async ({ model, judge }) => {
    const seen: string[] = [];
    for (const profile of ["long", "longStreaming"]) {
      const controller = new AbortController();
      const reason = new Error("the caller went away");
      const attempts: (AnswerUsage | null)[] = [];
      const running = judge(profile).answer(promptOf(`Tell a very long story about ${profile}.`), {
        signal: controller.signal,
        onAttempt: (usage) => attempts.push(usage),
      });
      running.catch(() => {});
      await until(() => model.isBusy(), "the model is at work");
      const aborted = performance.now();
      controller.abort(reason);
      const error = await assertRejects(() => running);
      const rejected = performance.now() - aborted;
      assertEquals(error, reason);
      // llama-server looks for a closed connection after a second without any other request, so ask rarely.
      await until(async () => !(await model.isBusy()), "the model stops", 2500);
      assertEquals(attempts, [null], "an aborted attempt has no usage, but counts");
      seen.push(
        `${profile}: rejected in ${rejected.toFixed(0)} ms, model free after ${
          (performance.now() - aborted).toFixed(0)
        } ms`,
      );
    }
    return seen.join("; ");
  },
};

/** The reasons that an error of `nothing_scored` counts. */
function reasonsIn(error: AssayError): string[] {
  return [...error.message.matchAll(/(\w+) \(\d+[,)]/g)].map((match) => match[1]!);
}

/** What must hold of every result, whoever wins. */
function checkResult(result: CompareResult): void {
  const parts = result.calls.flatMap((call) => [call.a, call.b]);
  for (const part of parts) {
    if (part.kind === "unscored") assert(READABLE.has(part.reason), part.reason);
    else assert(part.value >= 0 && part.value <= 1 && part.channel in result.channels);
  }
  assertEquals(result.unscored, parts.filter((part) => part.kind === "unscored").length);
  assertEquals(result.rewardA === null, result.margin === null);
}

async function until(holds: () => Promise<boolean>, what: string, everyMs = 50): Promise<void> {
  for (let i = 0; i < 30_000 / everyMs; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`never happened: ${what}`);
}

async function benchOn(model: RunningModel): Promise<Bench> {
  const base = {
    kind: "openai-compatible",
    family: "llama.cpp",
    baseUrl: model.baseUrl,
    model: "smollm2",
    temperature: 0,
  };
  const profile = { ...base, stream: false, concurrency: 1, retries: 1, maxTokens: 200 };
  const text = JSON.stringify({
    defaultJudge: "plain",
    judges: {
      plain: profile,
      streaming: { ...profile, stream: true },
      short: { ...profile, maxTokens: 8 },
      stubborn: { ...profile, maxTokens: 24 },
      brief: { ...profile, maxTokens: 80, temperature: 1 },
      long: { ...profile, maxTokens: 6000 },
      longStreaming: { ...profile, maxTokens: 6000, stream: true },
      nowhere: { ...profile, baseUrl: `${model.baseUrl}/nowhere` },
    },
  });
  const env = () => undefined;
  const judges = createJudgeRegistry(loadConfig({ text, env }), { env });
  return {
    model,
    environment: await createEnvironment({
      judges,
      store: createMemoryStore(),
      delimiterSecret: "the same in every run",
    }),
    judge: (name) => judges.resolve(name),
    learnt: (name) => judges.profiles().find((known) => known.name === name)!.learnt,
    async watch(run) {
      const from = model.exchanges.length;
      const value = await run();
      return { value, sent: model.exchanges.slice(from) };
    },
  };
}

const files = await prepareModel(say);
const model = await startModel(files);
say(`llama-server with SmolLM2-135M-Instruct ready after ${model.loadedMs.toFixed(0)} ms`);
let failures = 0;
try {
  const bench = await benchOn(model);
  for (const [name, check] of Object.entries(checks)) {
    const started = performance.now();
    try {
      const seen = await check(bench);
      say(`ok      ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)\n        ${seen}`);
    } catch (error) {
      failures++;
      say(`FAILED  ${name}\n${error instanceof Error ? error.stack : error}`);
    }
  }
} finally {
  await model.stop();
}
say(failures === 0 ? `all ${Object.keys(checks).length} checks hold` : `${failures} checks failed`);
if (failures > 0) Deno.exitCode = 1;
