import { assertEquals, assertStringIncludes } from "@std/assert";
import { fakeApp } from "../tests/http_fakes.ts";
import { runCaptured } from "./testing.ts";

const SESSION = "ses-1";

Deno.test("reviews lists a server's reviews of a session, newest first, and adds them up", async () => {
  const { ask } = fakeApp();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    return await ask(pathname + search);
  });
  const remote = (...args: string[]) =>
    runCaptured(["reviews", ...args, "--server", `http://127.0.0.1:${server.addr.port}`]);
  const post = async (path: string, body: unknown) =>
    await (await ask(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })).json();
  try {
    assertStringIncludes((await remote(SESSION)).out, "Nobody has reviewed");
    const task = "\u001b[31mred\u001b[0m";
    const { id } = await post("/v1/reviews", {
      session: SESSION,
      task,
      purpose: "gate",
      fingerprint: "f",
      calls: 6,
    });
    await post(`/v1/reviews/${id}/settle`, { state: "done", calls: 4 });
    await post("/v1/reviews", { session: SESSION, task, purpose: "plan", fingerprint: "g", calls: 3 });
    const { status, out } = await remote(SESSION);
    assertEquals(status, 0);
    for (const text of ["gate", "done", "plan", "held", "2 reviews (1 by the gate), 7 calls"]) {
      assertStringIncludes(out, text);
    }
    assertEquals(out.includes("\u001b"), false);
    const { reviews } = JSON.parse((await remote(SESSION, "--limit", "1", "--json")).out);
    assertEquals(reviews.length, 1);
  } finally {
    await server.shutdown();
  }
});

Deno.test("reviews of this process's own store, and wrong words", async () => {
  assertStringIncludes((await runCaptured(["reviews", SESSION])).out, "Nobody has reviewed");
  for (const args of [[], ["a", "b"], ["a", "--limit", "201"], ["a", "--limit", "0.5"]]) {
    assertEquals((await runCaptured(["reviews", ...args])).status, 2, args.join(" "));
  }
});
