import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AssayError } from "../verifier/errors.ts";
import worker from "../worker.ts";
import { openWorker, schedulerPerRequest } from "./cloudflare.ts";

Deno.test("openWorker() says which bindings are missing, and refuses a store that Workers don't have", async () => {
  await assertRejects(() => openWorker({}), AssayError, "ASSAY_KV and ASSAY_OBJECTS");
  await assertRejects(() => openWorker({ ASSAY_STORE: "some/path" }), AssayError, '"deno-kv" on Workers');
  await assertRejects(() => openWorker({ ASSAY_CONFIG_JSON: "{" }), AssayError, "configuration");
});

Deno.test("a Worker that can't start answers 503 without a reason, logs it, and starts once it can", async () => {
  const logged: string[] = [];
  const error = console.error;
  console.error = (line: string) => logged.push(line);
  try {
    const request = () => new Request("http://127.0.0.1:8787/healthz");
    const refused = await worker.fetch(request(), {
      ASSAY_CONFIG_JSON: '{"judges": {"x": {"kind": "sk-12345678"}}}',
    });
    assertEquals([refused.status, refused.headers.get("content-type")], [503, "application/problem+json"]);
    const body = await refused.text();
    assertEquals(body.includes("kind") || body.includes("sk-"), false);
    assertStringIncludes(logged[0] ?? "", "/judges/x/kind");
    const started = await worker.fetch(request(), { ASSAY_STORE: "memory" });
    assertEquals(started.status, 200);
    await started.body?.cancel();
  } finally {
    console.error = error;
  }
});

Deno.test("schedulerPerRequest() lets no request wait for another one's slot, and joins only within one", async () => {
  const scheduler = schedulerPerRequest();
  const signal = new AbortController().signal;
  const { promise: gate, resolve: open } = Promise.withResolvers<string>();
  const call = (request: object, work: () => Promise<string>) =>
    scheduler.run({ pool: "p", concurrency: 1, request, key: "k", prefix: null, signal, call: work });
  const [one, two] = [{}, {}];
  const first = call(one, () => gate);
  assertEquals(await call(two, () => Promise.resolve("own")), { value: "own", joined: false });
  const joined = call(one, () => Promise.reject(new Error("must not run")));
  open("first");
  assertEquals([await first, await joined], [{ value: "first", joined: false }, {
    value: "first",
    joined: true,
  }]);
});
