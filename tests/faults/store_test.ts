/**
 * The store goes down, or holds what nobody can read: reading degrades, what was promised to be written fails loudly,
 * and the service goes on.
 */
import { assert, assertEquals } from "@std/assert";
import { startApp, startEnvironment } from "../../runtime/start.ts";
import { createMemoryStore } from "../../store/memory.ts";
import { type Store, StoreError } from "../../store/store.ts";
import { loadConfig } from "../../verifier/config/config.ts";
import { say, smart, startStubJudge, type StubJudge, unsupported } from "../stub_judge.ts";

type What = "nothing" | "writing" | "everything";

/** A memory store of which some part is down. */
function fragileStore() {
  const inner = createMemoryStore();
  const state = { down: "nothing" as What };
  const check = (write: boolean): void => {
    if (state.down === "everything" || (write && state.down === "writing")) {
      throw new StoreError("the disk is gone");
    }
  };
  const store: Store = {
    kind: "fragile",
    get: async (key) => (check(false), await inner.get(key)),
    list: async (prefix, options) => (check(false), await inner.list(prefix, options)),
    put: async (key, value, options) => (check(true), await inner.put(key, value, options)),
    delete: async (key, options) => (check(true), await inner.delete(key, options)),
    commit: async (writes) => (check(true), await inner.commit(writes)),
    close: () => inner.close(),
  };
  return { inner, state, store };
}

const VARIABLES: Readonly<Record<string, string>> = {
  ASSAY_TOKEN_CI: "token-of-ci",
  ASSAY_TOKEN_DEV: "token-of-dev",
};

async function world(stub: StubJudge) {
  const { inner, state, store } = fragileStore();
  const env = (name: string): string | undefined => VARIABLES[name];
  const config = {
    defaultJudge: "stub",
    judges: { stub: stub.profile({ retries: 0 }) },
    server: {
      tokens: [
        { name: "ci", tokenEnv: "ASSAY_TOKEN_CI", dailyCalls: 1000 },
        { name: "dev", tokenEnv: "ASSAY_TOKEN_DEV" },
      ],
    },
  };
  const found = {
    env,
    store,
    config: loadConfig({ text: JSON.stringify(config), env }),
    runtime: { name: "test", version: null },
  };
  const app = startApp(found, await startEnvironment(found));
  const ask = async (
    path: string,
    body?: unknown,
    { token = "dev", method = body === undefined ? "GET" : "POST", ...headers }: Record<string, string> = {},
  ) => {
    const request = new Request(`http://127.0.0.1:8787${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer token-of-${token}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await app.fetch(request, { remoteAddress: null });
    const text = await response.text();
    // deno-lint-ignore no-explicit-any
    const parsed: any = text === "" ? null : JSON.parse(text);
    return { status: response.status, body: parsed, text, headers: response.headers };
  };
  return { ask, inner, state };
}

const COMPARE = { task: "the task", a: "quality=0.9", b: "quality=0.2", criteria: ["It works."] };
const KEY = { "idempotency-key": "k" };

/** Keeps the operator's lines from the test's output. */
async function quietly<T>(work: (lines: string[]) => Promise<T>): Promise<T> {
  const write = console.error;
  const lines: string[] = [];
  console.error = (...parts: unknown[]) => void lines.push(parts.join(" "));
  try {
    return await work(lines);
  } finally {
    console.error = write;
  }
}

Deno.test("with the store down, verdicts go on with a warning, promised writes are 503, and it recovers by itself", async () => {
  await using stub = startStubJudge(smart());
  await quietly(async () => {
    const { ask, state } = await world(stub);
    const tracker = (await ask("/v1/trackers", { task: "t", criteria: ["It works."] })).body.id;
    assertEquals((await ask(`/v1/trackers/${tracker}/steps`, { step: "quality=0.5" })).status, 200);
    assertEquals((await ask("/v1/compare", COMPARE)).body.winner, "A");

    state.down = "everything";
    const ready = await ask("/readyz");
    assertEquals([ready.status, ready.body.code], [503, "store_unavailable"]);
    assertEquals(ready.body.checks, { core: "ok", store: "the store could not be reached" });
    assertEquals((await ask("/healthz")).status, 200);
    const status = (await ask("/v1/status")).body;
    assertEquals([status.store.healthy, "budget" in status], [false, false]);

    const degraded = await ask("/v1/compare", COMPARE);
    assertEquals([degraded.status, degraded.body.winner, degraded.body.usage.cacheHits], [200, "A", 0]);
    const warnings = degraded.body.warnings.join("\n");
    assert(/cache can't be read/.test(warnings) && /decision not stored/.test(warnings), warnings);

    const bought = stub.calls.length;
    const promised: readonly (readonly [string, unknown, Record<string, string>])[] = [
      ["/v1/compare", COMPARE, { token: "ci" }],
      ["/v1/compare", COMPARE, KEY],
      ["/v1/compare", COMPARE, { ...KEY, accept: "text/event-stream" }],
      ["/v1/trackers", { task: "t" }, {}],
      [`/v1/trackers/${tracker}/steps`, { step: "quality=0.6" }, {}],
      [`/v1/trackers/${tracker}`, undefined, {}],
      ["/v1/decisions", undefined, {}],
      ["/v1/statistics", undefined, {}],
    ];
    for (const [path, body, headers] of promised) {
      const refused = await ask(path, body, headers);
      assertEquals(
        [refused.status, refused.body.code],
        [503, "store_unavailable"],
        `${path} ${refused.text}`,
      );
      assertEquals(refused.headers.get("retry-after"), "1");
      assert(!refused.text.includes("disk"), "the inside is not told");
    }
    assertEquals(stub.calls.length, bought, "nothing was bought that could not be counted or kept");

    state.down = "nothing";
    assertEquals((await ask("/readyz")).status, 200);
    assertEquals((await ask(`/v1/trackers/${tracker}`)).body.length, 1, "the refused step was not stored");
    const cached = await ask("/v1/compare", COMPARE, { token: "ci", ...KEY });
    assertEquals([cached.status, cached.body.usage.calls], [200, 0]);
    assertEquals((await ask("/v1/status", undefined, { token: "ci" })).body.budget.spent.calls, 0);
  });
});

Deno.test("a store that can be read but not written: readiness says which part", async () => {
  await using stub = startStubJudge(smart());
  await quietly(async () => {
    const { ask, state } = await world(stub);
    await ask("/v1/compare", COMPARE);
    state.down = "writing";
    const ready = await ask("/readyz");
    assertEquals([ready.status, ready.body.checks.store], [503, "the store can be read, but not written"]);
    const cached = await ask("/v1/compare", COMPARE);
    assertEquals([cached.status, cached.body.usage.calls], [200, 0], "what is cached is served");
    assertEquals((await ask("/v1/trackers", { task: "t" })).status, 503);
    state.down = "nothing";
    assertEquals((await ask("/readyz")).status, 200);
  });
});

const GARBAGE: readonly (readonly [string, (whole: Uint8Array) => Uint8Array])[] = [
  ["truncated", (whole) => whole.slice(0, Math.floor(whole.length / 2))],
  ["empty", () => new Uint8Array(0)],
  ["bytes that are no text", () => Uint8Array.of(0xff, 0, 0xfe, 10, 0xff)],
  ["foreign JSON", () => new TextEncoder().encode('{"hello":["world",null,1e999]}')],
  ["a list", () => new TextEncoder().encode("[1,2,3]")],
];

for (const [name, spoil] of GARBAGE) {
  Deno.test(`records spoilt under every prefix (${name}) are skipped and reported, and the service goes on`, async () => {
    await using stub = startStubJudge();
    await quietly(async (lines) => {
      const { ask, inner } = await world(stub);
      // Something of everything: a learnt capability, scores, decisions, statistics, a tracker, a budget, a key.
      stub.play((call) =>
        "logprobs" in call.body
          ? unsupported("logprobs")
          : say("<score_A> B </score_A>\n<score_B> K </score_B>")
      );
      await ask("/v1/compare", { ...COMPARE, cache: "off" });
      stub.play(smart());
      const first = await ask("/v1/compare", COMPARE, { token: "ci", ...KEY });
      assertEquals(first.status, 200, first.text);
      const tracker = (await ask("/v1/trackers", { task: "t", criteria: ["It works."] })).body.id;
      for (const step of ["quality=0.3", "quality=0.5"]) await ask(`/v1/trackers/${tracker}/steps`, { step });

      const keys = (await inner.list("", { limit: 1000 })).keys.filter((key) => !key.startsWith("secret/"));
      const prefixes = new Set(keys.map((key) => key.split("/")[0]));
      for (
        const prefix of ["score", "capability", "decision", "tracker", "budget", "idempotency", "statistic"]
      ) {
        assert(prefixes.has(prefix), `${prefix} is not among ${[...prefixes]}`);
      }
      for (const key of keys) {
        const whole = (await inner.get(key))!.value;
        await inner.put(key, spoil(whole));
      }

      const again = await ask("/v1/compare", COMPARE, { token: "ci", ...KEY });
      assertEquals([again.status, again.body.winner, again.body.usage.cacheHits], [200, "A", 0], again.text);
      assert(again.body.warnings.some((warning: string) => /corrupt/.test(warning)), again.text);
      for (const part of ["budget/", "idempotency/"]) {
        assert(lines.some((line) => line.includes(part)), `${part} is not among ${lines.join("\n")}`);
      }
      const served: readonly string[] = [
        "/readyz",
        "/v1/status",
        "/v1/decisions",
        "/v1/statistics",
        "/v1/criteria",
      ];
      for (const path of served) assertEquals((await ask(path)).status, 200, path);
      assertEquals((await ask("/v1/status", undefined, { token: "ci" })).body.budget.spent.calls, 2);

      const old = await ask(`/v1/trackers/${tracker}`);
      assert(old.status === 404 || /can't be read|corrupt/.test(old.body.detail), old.text);
      const anew = await ask("/v1/trackers", { task: "t", criteria: ["It works."] });
      assertEquals(anew.status, 201);
      assertEquals((await ask(`/v1/trackers/${anew.body.id}/steps`, { step: "quality=0.3" })).status, 200);
      assertEquals((await ask(`/v1/decisions/${again.body.id}`)).status, 200);
      const lost = await ask(`/v1/decisions/${first.body.id}`);
      assert(lost.status === 404 || /can't be read|corrupt/.test(lost.body.detail), lost.text);
    });
  });
}
