/** The command line with a configured model judge: money, missing parts, failures. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { failure, smart, startStubJudge, type StubScript } from "../tests/stub_judge.ts";
import { type Outcome, runCaptured, widest } from "./testing.ts";

const CSV = fromFileUrl(new URL("../examples/csv-summary", import.meta.url));
const PRICE = { inputPerMillion: 1000, cachedInputPerMillion: 100, outputPerMillion: 2000 };

async function withJudge(
  script: StubScript,
  args: readonly string[],
  profile: Record<string, unknown> = {},
): Promise<Outcome> {
  await using stub = startStubJudge(script);
  const folder = await Deno.makeTempDir({ prefix: "assay-test-" });
  try {
    const config = join(folder, "assay.config.json");
    const judge = stub.profile({ retries: 0, apiKeyEnv: "STUB_KEY", ...profile });
    await Deno.writeTextFile(
      config,
      JSON.stringify({ defaultJudge: "stub", judges: { stub: judge }, store: { kind: "memory" } }),
    );
    return await runCaptured([...args, "--config", config], {
      env: { STUB_KEY: "sk-very-secret-value", ASSAY_STORE: "" },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a priced judge's cost is shown, an unpriced one's is unknown", async () => {
  const priced = await withJudge(smart(), ["select", CSV], { price: PRICE });
  assertEquals(priced.status, 0, priced.err);
  assert(
    /Used {3}\d+ calls; [\d,]+ tokens in .*out; \$\d/s.test(priced.out.replace(/\n +/g, " ")),
    priced.out,
  );
  assert(widest(priced.out) <= 80, priced.out);
  const unpriced = await withJudge(smart(), ["select", CSV]);
  assertStringIncludes(unpriced.out, "cost unknown");
});

Deno.test("a budget in dollars refuses with the plan before anything is bought", async () => {
  const { status, out, err } = await withJudge(
    () => {
      throw new Error("no call may be made");
    },
    ["select", CSV, "--budget-usd", "0.0001"],
    { price: PRICE },
  );
  assertEquals([status, out], [2, ""]);
  assertStringIncludes(err, "cost           $");
});

Deno.test("parts that failed are counted with their reasons, and the rest is ranked", async () => {
  const { status, out, err } = await withJudge(
    (call) => call.index % 5 === 4 ? failure(500) : smart(),
    ["select", CSV, "--mode", "round_robin"],
  );
  assertEquals(status, 0, err);
  assertStringIncludes(out, "missing and left out of all means: backend_error");
});

Deno.test("a refused key is exit status 3, and no output holds the key", async () => {
  const { status, out, err } = await withJudge(failure(401), [
    "compare",
    join(CSV, "checked.json"),
    join(CSV, "unchecked.json"),
  ]);
  assertEquals([status, out], [3, ""]);
  assertStringIncludes(err, "unauthorized");
  assert(!err.includes("sk-very-secret-value"));
});

Deno.test("probe shows which judge works, and exits with 3 when one doesn't", async () => {
  const { status, out } = await withJudge(failure(401), ["probe"]);
  assertEquals(status, 3);
  assert(/evidence +yes/.test(out), out);
  assert(/stub +no/.test(out), out);
  assert(widest(out) <= 80, out);
  assertEquals((await withJudge(smart(), ["probe", "--judge", "stub"])).status, 0);
});

Deno.test("status shows hosts and whether keys are set, never a key", async () => {
  const { status, out } = await withJudge(smart(), ["status"]);
  assertEquals(status, 0);
  assert(/stub \* .*127\.0\.0\.1.* set/.test(out), out);
  assert(!out.includes("sk-very-secret-value"));
});

Deno.test("a faulty configuration is told with its places, and a missing one with its path", async () => {
  const folder = await Deno.makeTempDir({ prefix: "assay-test-" });
  try {
    const config = join(folder, "bad.json");
    await Deno.writeTextFile(
      config,
      '{"judges": {"a": {"kind": "openai-compatible", "modle": "x"}}, "sever": {}}',
    );
    const faulty = await runCaptured(["status", "--config", config]);
    assertEquals([faulty.status, faulty.out], [2, ""]);
    for (const text of ["/judges/a", "server"]) assertStringIncludes(faulty.err, text);
    await Deno.writeTextFile(config, "{");
    assertEquals((await runCaptured(["status", "--config", config])).status, 2);
    const missing = await runCaptured(["status", "--config", join(folder, "none.json")]);
    assertEquals(missing.status, 2);
    assertStringIncludes(missing.err, "none.json");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("what the configuration warns of goes to the command's own standard error", async () => {
  const { status, out, err } = await runCaptured(["status", "--json"], {
    env: { ASSAY_CONFIG_JSON: '{"store":{"kind":"memory"}}', ASSAY_STORE: "memory" },
  });
  assertEquals(status, 0);
  JSON.parse(out);
  assertStringIncludes(err, "ASSAY_STORE is set but not used");
});
