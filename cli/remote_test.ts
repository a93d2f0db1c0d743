import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { AssayError } from "../verifier/errors.ts";
import type { ProgressEvent } from "../verifier/types.ts";
import { ServerError, UsageError } from "./io.ts";
import { remoteBackend } from "./remote.ts";
import { COMPARE } from "./testing.ts";

async function withServer(
  handler: (request: Request) => Response | Promise<Response>,
  test: (url: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  try {
    await test(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

const events = (...list: [string, unknown][]) =>
  new Response(
    ": keep-alive\n\n" +
      list.map(([event, data], i) => `id: ${i}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""),
    { headers: { "content-type": "text/event-stream; charset=utf-8" } },
  );
const plan = { pairs: 1, calls: 1, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: null };

Deno.test("remoteBackend() sends the request with the token and reports live progress before the result", async () => {
  let seen: unknown;
  let body: unknown;
  await withServer(async (request) => {
    body = await request.json();
    seen = [request.headers.get("authorization"), new URL(request.url).pathname];
    return events(["plan", { plan }], ["call", { done: 1, total: 1, repeat: 0, scores: [], cached: false }], [
      "result",
      COMPARE,
    ]);
  }, async (url) => {
    const got: ProgressEvent[] = [];
    const result = await remoteBackend(`${url}/`, "s3cret").compare({ task: "t" }, {
      onEvent: (event) => got.push(event),
    });
    assertEquals(result, COMPARE);
    assertEquals(got.map(({ type }) => type), ["plan", "call"]);
    assertEquals(body, { task: "t" });
    assertEquals(seen, ["Bearer s3cret", "/v1/compare"]);
  });
});

Deno.test("remoteBackend() takes a plain JSON answer too", async () => {
  await withServer(() => Response.json({ plan }), async (url) => {
    assertEquals(await remoteBackend(url, undefined).select({}, {}), { plan });
  });
});

Deno.test("remoteBackend() turns problems, in the status or as the last event, into the errors they were", async () => {
  const problem = {
    code: "over_budget",
    detail: "too much",
    plan,
    errors: [{ path: "/budget/calls", message: "must be more" }],
  };
  for (
    const respond of [
      () => Response.json(problem, { status: 422 }),
      () => events(["plan", { plan }], ["problem", problem]),
    ]
  ) {
    await withServer(respond, async (url) => {
      const error = await assertRejects(
        () => remoteBackend(url, undefined).track({}, {}),
        AssayError,
        "too much",
      );
      assertEquals([error.code, error.plan?.calls, error.errors[0]?.path], [
        "over_budget",
        1,
        "/budget/calls",
      ]);
    });
  }
});

Deno.test("remoteBackend() says what is wrong with a server that isn't one of ours or breaks off", async () => {
  const cases: [() => Response, string][] = [
    [() => new Response("<h1>hi</h1>", { status: 404 }), "answered 404"],
    [() => Response.json({ code: "future_code", detail: "new thing" }, { status: 400 }), "new thing"],
    [
      () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
      "redirect (302)",
    ],
    [() => events(["plan", { plan }]), "closed the connection before the result"],
    [
      () =>
        new Response("event: result\ndata: {oops\n\n", { headers: { "content-type": "text/event-stream" } }),
      "not JSON (result)",
    ],
  ];
  for (const [respond, message] of cases) {
    await withServer(respond, async (url) => {
      const error = await assertRejects(() => remoteBackend(url, "t").compare({}, {}), Error, message);
      assert(error instanceof ServerError || error instanceof AssayError);
    });
  }
  await withServer(() => new Response("hello"), async (url) => {
    await assertRejects(
      () => remoteBackend(url, undefined).status(new AbortController().signal),
      ServerError,
      "is it an Assay server?",
    );
  });
});

Deno.test("remoteBackend() reports an unreachable server with its address", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  await assertRejects(
    () => remoteBackend(`http://127.0.0.1:${port}`, undefined).compare({}, {}),
    ServerError,
    `cannot reach http://127.0.0.1:${port}`,
  );
});

Deno.test("remoteBackend() aborts the request in flight and rejects with the signal's reason", async () => {
  const reached = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  await withServer((request) => {
    request.signal.addEventListener("abort", () => gone.resolve());
    reached.resolve();
    return new Response(
      new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(": hi\n\n")) }),
      {
        headers: { "content-type": "text/event-stream" },
      },
    );
  }, async (url) => {
    const controller = new AbortController();
    const reason = new DOMException("interrupted", "AbortError");
    const pending = remoteBackend(url, undefined).compare({}, { signal: controller.signal });
    await reached.promise;
    controller.abort(reason);
    assertEquals(await pending.then(() => null, (error) => error), reason);
    await gone.promise;
  });
});

Deno.test("remoteBackend() refuses what is no server's address", () => {
  assertThrows(
    () => remoteBackend("localhost:8787", undefined),
    UsageError,
    "--server must be an http: or https: URL",
  );
  assertThrows(() => remoteBackend("http://u:p@localhost/", undefined), UsageError, "ASSAY_TOKEN");
});

Deno.test("remoteBackend() sends the idempotency key with verbs, and refuses one that no header can carry", async () => {
  const seen: (string | null)[] = [];
  await withServer((request) => {
    seen.push(request.headers.get("idempotency-key"));
    return Response.json({ plan });
  }, async (url) => {
    await remoteBackend(url, undefined, "run-7").compare({}, {});
    await remoteBackend(url, undefined).compare({}, {});
    await remoteBackend(url, undefined, "run-7").status(new AbortController().signal);
  });
  assertEquals(seen, ["run-7", null, null]);
  for (const key of ["", "a b", "x".repeat(256)]) {
    assertThrows(() => remoteBackend("http://localhost", undefined, key), UsageError, "--idempotency-key");
  }
});
