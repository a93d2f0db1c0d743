import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type Config, familyOf, loadConfig, readTokens } from "./config.ts";
import { AssayError } from "../errors.ts";

const none = (): undefined => undefined;
const from = (variables: Record<string, string>) => (name: string): string | undefined => variables[name];
const load = (document: unknown, variables: Record<string, string> = {}): Config =>
  loadConfig({ text: JSON.stringify(document), env: from(variables) });
const failing = (document: unknown, variables: Record<string, string> = {}): AssayError =>
  assertThrows(() => load(document, variables), AssayError);
const JUDGE = { kind: "openai-compatible", baseUrl: "https://llm.example.com/v1", model: "m" };

Deno.test("loadConfig() without anything gives the embedded default", () => {
  const config = loadConfig({ env: none });
  assertEquals([config.source, config.defaultJudge, Object.keys(config.judges)], ["embedded", "evidence", [
    "evidence",
  ]]);
  assertEquals(config.server, { host: "127.0.0.1", port: 8787, bodyLimitBytes: 67_108_864, tokens: [] });
  assertEquals([config.store, config.allowRequestBackends, config.warnings], [{ kind: "deno-kv" }, [], []]);
  assertEquals(loadConfig({ env: none, defaultStore: { kind: "cloudflare" } }).store, { kind: "cloudflare" });
});

Deno.test("loadConfig() reads the documented example as it stands, but for the budgets that come later", () => {
  const config = load({
    defaultJudge: "deepseek",
    judges: {
      deepseek: {
        kind: "openai-compatible",
        family: "deepseek",
        baseUrl: "https://api.deepseek.com",
        model: "deepseek-flash",
        apiKeyEnv: "DEEPSEEK_API_KEY",
        effort: "high",
        maxTokens: 32768,
        temperature: 1,
        concurrency: 16,
        timeoutMs: 120000,
        deadlineMs: 600000,
        retries: 4,
        price: { inputPerMillion: 0.15, cachedInputPerMillion: 0.003, outputPerMillion: 0.6 },
        calibration: { pairAccuracy: 0.78, passRate: 0.8, source: "where these were measured" },
      },
      local: {
        kind: "openai-compatible",
        family: "llama.cpp",
        baseUrl: "http://127.0.0.1:8080/v1",
        model: "any",
      },
      evidence: { kind: "evidence" },
    },
    server: {
      host: "127.0.0.1",
      port: 8787,
      bodyLimitBytes: 67108864,
      tokens: [{ name: "ci", tokenEnv: "ASSAY_TOKEN_CI" }],
    },
    store: { kind: "deno-kv", path: "…" },
    allowRequestBackends: [],
  });
  assertEquals([config.source, config.defaultJudge], ["document", "deepseek"]);
  assertEquals(Object.keys(config.judges), ["evidence", "deepseek", "local"]);
  const { local } = config.judges;
  assert(local?.kind === "openai-compatible");
  assertEquals([local.concurrency, local.timeoutMs, local.deadlineMs, local.retries, local.temperature], [
    8,
    120_000,
    600_000,
    4,
    1,
  ]);
});

Deno.test("readTokens() gives each token its daily budget, and none where no limit is set", () => {
  const budgeted = { name: "ci", tokenEnv: "A", dailyCalls: 5000, dailyTokens: 0, dailyUsd: 0.5 };
  const config = load({ server: { tokens: [budgeted, { name: "dev", tokenEnv: "B" }] } });
  assertEquals(readTokens(config, from({ A: "x", B: "y" })), [
    { name: "ci", value: "x", budget: { calls: 5000, tokens: 0, usd: 0.5 } },
    { name: "dev", value: "y" },
  ]);
});

Deno.test("loadConfig() refuses a daily budget that is no amount", () => {
  const wrong = [["dailyCalls", -1], ["dailyCalls", 1.5], ["dailyTokens", "many"], ["dailyUsd", -0.1], [
    "dailyUsd",
    null,
  ]];
  for (const [field, value] of wrong) {
    const error = failing({ server: { tokens: [{ name: "ci", tokenEnv: "T", [field as string]: value }] } });
    assertEquals(error.errors[0]?.path, `/server/tokens/0/${field}`);
  }
});

Deno.test("loadConfig() builds a judge, a token, a store and an allow-list from the environment", () => {
  const config = loadConfig({
    env: from({
      ASSAY_JUDGE_BASE_URL: "https://api.deepseek.com",
      ASSAY_JUDGE_MODEL: "deepseek-flash",
      ASSAY_JUDGE_API_KEY: "sk-secret-secret",
      ASSAY_TOKEN: "t0ken",
      ASSAY_STORE: "memory",
      ASSAY_HOST: "0.0.0.0",
      ASSAY_PORT: "9000",
      ASSAY_ALLOW_REQUEST_BACKENDS: "llm.example.com, http://127.0.0.1:8000",
    }),
  });
  assertEquals([config.source, config.defaultJudge], ["environment", "env"]);
  const { env } = config.judges;
  assert(env?.kind === "openai-compatible");
  assertEquals([env.family, env.apiKeyEnv], ["deepseek", "ASSAY_JUDGE_API_KEY"]);
  assertEquals([config.server.host, config.server.port, config.server.tokens], ["0.0.0.0", 9000, [{
    name: "env",
    tokenEnv: "ASSAY_TOKEN",
  }]]);
  assertEquals([config.store, config.allowRequestBackends], [{ kind: "memory" }, [
    "llm.example.com",
    "http://127.0.0.1:8000",
  ]]);
  assert(!JSON.stringify(config).includes("secret") && !JSON.stringify(config).includes("t0ken"));
});

Deno.test("loadConfig() takes any other ASSAY_STORE for a path, and the family where it is named", () => {
  const config = loadConfig({
    env: from({
      ASSAY_STORE: "/data/kv",
      ASSAY_JUDGE_BASE_URL: "http://gpu:8000/v1",
      ASSAY_JUDGE_MODEL: "q",
      ASSAY_JUDGE_FAMILY: "vllm",
    }),
  });
  assertEquals(config.store, { kind: "deno-kv", path: "/data/kv" });
  const { env } = config.judges;
  assert(env?.kind === "openai-compatible");
  assertEquals([env.family, env.apiKeyEnv], ["vllm", undefined]);
});

Deno.test("loadConfig() names the variable that is missing or wrong", () => {
  const paths = (variables: Record<string, string>): string[] =>
    assertThrows(() => loadConfig({ env: from(variables) }), AssayError).errors.map((error) => error.path);
  assertEquals(paths({ ASSAY_JUDGE_MODEL: "m" }), ["/ASSAY_JUDGE_BASE_URL"]);
  assertEquals(paths({ ASSAY_JUDGE_BASE_URL: "https://a" }), ["/ASSAY_JUDGE_MODEL"]);
  assertEquals(paths({ ASSAY_JUDGE_API_KEY: "k" }), ["/ASSAY_JUDGE_BASE_URL", "/ASSAY_JUDGE_MODEL"]);
  assertEquals(
    paths({ ASSAY_JUDGE_BASE_URL: "https://a", ASSAY_JUDGE_MODEL: "m", ASSAY_JUDGE_FAMILY: "gpt" }),
    ["/ASSAY_JUDGE_FAMILY"],
  );
  for (const port of ["-1", "65536", "80.5", "http", "1e3"]) {
    assertEquals(paths({ ASSAY_PORT: port }), ["/ASSAY_PORT"]);
  }
});

Deno.test("with a document only the listener is still taken from the environment, and the rest is warned about", () => {
  const config = load({ server: { host: "10.0.0.1", port: 1 } }, {
    ASSAY_HOST: "127.0.0.1",
    ASSAY_PORT: "2",
    ASSAY_TOKEN: "x",
    ASSAY_STORE: "memory",
    ASSAY_JUDGE_BASE_URL: "nonsense",
  });
  assertEquals([config.server.host, config.server.port, config.server.tokens, config.store.kind], [
    "127.0.0.1",
    2,
    [],
    "deno-kv",
  ]);
  assertEquals(config.defaultJudge, "evidence");
  assertEquals(config.warnings.length, 1);
  assert(config.warnings[0]?.includes("ASSAY_JUDGE_BASE_URL, ASSAY_TOKEN, ASSAY_STORE are set but not used"));
  assertEquals(
    load({ server: { tokens: [{ name: "a", tokenEnv: "ASSAY_TOKEN" }] } }, { ASSAY_TOKEN: "x" }).warnings,
    [],
  );
});

Deno.test("loadConfig() collects every fault with its path, its value and the nearest known name", () => {
  const error = failing({
    defaultJudge: "deepseak",
    judges: {
      deepseek: { ...JUDGE, baseUrl: "ftp://a", modle: "x", price: { inputPerMillion: -1 } },
      local: { kind: "llama" },
      "bad name": JUDGE,
      list: [],
    },
    sever: {},
    server: { port: 70_000, tokens: [{ name: "a b", tokenEnv: "T" }] },
    store: { kind: "redis" },
    allowRequestBackends: ["https://a/b", "good.example"],
  });
  const byPath = new Map(error.errors.map((one) => [one.path, one]));
  assertEquals(
    [...byPath.keys()].sort(),
    [
      "/allowRequestBackends/0",
      "/judges/bad name",
      "/judges/deepseek/baseUrl",
      "/judges/deepseek/modle",
      "/judges/deepseek/price/cachedInputPerMillion",
      "/judges/deepseek/price/inputPerMillion",
      "/judges/deepseek/price/outputPerMillion",
      "/judges/list",
      "/judges/local/kind",
      "/server/port",
      "/server/tokens/0/name",
      "/sever",
      "/store/kind",
      "/defaultJudge",
    ].sort(),
  );
  assert(byPath.get("/sever")?.message.includes("did you mean server?"));
  assert(byPath.get("/judges/deepseek/modle")?.message.includes("did you mean model?"));
  assertEquals(byPath.get("/server/port")?.value, "70000");
  for (const one of error.errors) assert(error.message.includes(one.path));
});

Deno.test("a key in the document is refused and never repeated", () => {
  const key = "sk-live-abcdefghijklmnop";
  const errors = [
    failing({ judges: { j: { ...JUDGE, apiKey: key } } }),
    failing({ judges: { j: { ...JUDGE, apiKeyEnv: key } } }),
    failing({ judges: { j: { ...JUDGE, secret: key } } }),
    failing({ judges: { j: { ...JUDGE, modl: key } } }),
    failing({ judges: { j: { ...JUDGE, baseUrl: `https://u:${key}@a/` } } }),
    failing({ server: { tokens: [{ name: "a", tokenEnv: key }] } }),
    failing({ server: { tokens: [{ name: "a", token: key }] } }),
    assertThrows(() => loadConfig({ text: `{"apiKey": "${key}"`, env: none }), AssayError),
    assertThrows(() => loadConfig({ text: `{"a": ${key}}`, env: none }), AssayError),
  ];
  for (const error of errors) {
    assert(!JSON.stringify([error.message, error.errors]).includes("abcdefghij"), error.message);
  }
  assert(errors[0]?.message.includes("apiKeyEnv"));
});

Deno.test("the name of a variable is in capitals, so that most pasted keys are refused as names", () => {
  for (const name of ["sk-abc", "abcdef0123456789", "9A", "", "A B", "A=B"]) {
    const [error] = failing({ judges: { j: { ...JUDGE, apiKeyEnv: name } } }).errors;
    assertEquals([error?.path, error?.value], ["/judges/j/apiKeyEnv", undefined]);
  }
});

Deno.test("loadConfig() says where a text stops being JSON, and reads one with a byte order mark", () => {
  const error = assertThrows(() => loadConfig({ text: '{"judges": }', env: none }), AssayError);
  assertEquals(error.code, "invalid_json");
  assert(error.message.includes("at line 1, column 12"), error.message);
  const places: readonly [string, string][] = [
    ['{\n  "a": 1,\n}', "line 3, column 1"],
    ['{\n "a" 1}', "line 2, column 6"],
    ["{'a': 1}", "line 1, column 2"],
    ['{"a": 1', "line 1, column 8"],
    ["", "line 1, column 1"],
    ['{"a": 1}\n x', "line 2, column 2"],
    ['{"a": tru}', "line 1, column 10"],
    ['{\n"a": "b\n"}', "line 2, column 8"],
  ];
  for (const [text, place] of places) {
    assert(
      assertThrows(() => loadConfig({ text, env: none }), AssayError).message.includes(`at ${place}.`),
      text,
    );
  }
  assertEquals(loadConfig({ text: "\uFEFF{}", env: none }).defaultJudge, "evidence");
  for (const document of [null, [], 7, "x"]) assertEquals(failing(document).code, "invalid_request");
});

Deno.test("the default judge is the only one there is, or has to be named", () => {
  assertEquals(load({ judges: { a: JUDGE } }).defaultJudge, "a");
  assertEquals(load({}).defaultJudge, "evidence");
  assertEquals(failing({ judges: { a: JUDGE, b: JUDGE } }).errors[0]?.path, "/defaultJudge");
  assertEquals(load({ defaultJudge: "evidence", judges: { a: JUDGE, b: JUDGE } }).defaultJudge, "evidence");
  assert(
    failing({ defaultJudge: "constructor", judges: { a: JUDGE } }).message.includes(
      "must be one of evidence, a",
    ),
  );
});

Deno.test("loadConfig() checks base URLs, effort against thinking, and names of profiles and tokens", () => {
  for (const baseUrl of ["", "a", "file:///etc", "https://u@a/", "https://a/?x", "https://a/#y"]) {
    assertEquals(
      failing({ judges: { a: { ...JUDGE, baseUrl } } }).errors[0]?.path,
      "/judges/a/baseUrl",
      baseUrl,
    );
  }
  assertEquals(
    failing({ judges: { a: { ...JUDGE, effort: "off", thinking: true } } }).errors[0]?.path,
    "/judges/a/thinking",
  );
  load({ judges: { a: { ...JUDGE, effort: "high", thinking: true } } });
  assertEquals(failing({ judges: { a: { ...JUDGE, effort: "hi" } } }).errors[0]?.path, "/judges/a/effort");
  for (const name of ["", "a/b", "-a", "é", "x".repeat(65)]) {
    assertEquals(failing({ judges: { [name]: JUDGE } }).code, "invalid_request");
  }
  assertEquals(
    failing({ server: { tokens: [{ name: "a", tokenEnv: "A" }, { name: "a", tokenEnv: "B" }] } }).errors[0]
      ?.path,
    "/server/tokens/1/name",
  );
});

Deno.test("no other judge may go by the name of the evidence judge", () => {
  assertEquals(failing({ judges: { evidence: JUDGE } }).errors[0]?.path, "/judges/evidence/kind");
  load({ judges: { evidence: { kind: "evidence" } } });
});

Deno.test("a __proto__ in the document is a fault, not a prototype", () => {
  const error = assertThrows(
    () => loadConfig({ text: '{"judges":{"__proto__":{"kind":"evidence"}}}', env: none }),
    AssayError,
  );
  assertEquals(error.errors[0]?.path, "/judges/__proto__");
});

Deno.test("readTokens() reads the values, and a variable that isn't set is an error", () => {
  const config = load({ server: { tokens: [{ name: "a", tokenEnv: "A" }, { name: "b", tokenEnv: "B" }] } });
  assertEquals(readTokens(config, from({ A: " x ", B: "y" })), [{ name: "a", value: "x" }, {
    name: "b",
    value: "y",
  }]);
  const error = assertThrows(() => readTokens(config, from({ A: "x", B: " " })), AssayError);
  assertEquals(error.errors.map((one) => [one.path, one.value]), [["/server/tokens/1/tokenEnv", '"B"']]);
});

Deno.test("familyOf() goes by the host alone", () => {
  assertEquals(familyOf("https://api.deepseek.com/v1"), "deepseek");
  assertEquals(familyOf("https://api.openai.com/v1"), "openai");
  assertEquals(familyOf("https://openrouter.ai/api/v1"), "openrouter");
  assertEquals(familyOf("https://evil.example/api.deepseek.com"), "generic");
  assertEquals(familyOf("nonsense"), "generic");
});

Deno.test("loadConfig() answers any JSON with a configuration or an AssayError", () => {
  const keys = fc.constantFrom(
    "judges",
    "server",
    "store",
    "defaultJudge",
    "allowRequestBackends",
    "kind",
    "tokens",
    "baseUrl",
    "model",
    "x",
  );
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom("evidence", "openai-compatible", "https://a"),
      fc.dictionary(keys, tie("node"), { maxKeys: 5 }),
      fc.array(tie("node"), { maxLength: 3 }),
    ),
  })).node;
  fc.assert(fc.property(value, (document) => {
    try {
      const config = load(document);
      assert(Object.hasOwn(config.judges, config.defaultJudge));
    } catch (error) {
      assert(error instanceof AssayError);
    }
  }));
});
