import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { fakeApp } from "../tests/http_fakes.ts";
import { type AccessToken, createGatekeeper, isLoopbackAddress, isLoopbackHost } from "./auth.ts";
import { HttpError } from "./problem.ts";

const TOKENS: readonly AccessToken[] = [{ name: "ci", value: "token-of-ci" }, {
  name: "dev",
  value: "dG9rZW4=",
}];

async function verdict(
  tokens: readonly AccessToken[],
  headers: Record<string, string>,
  options: { url?: string; remoteAddress?: string | null } = {},
): Promise<string | null | number> {
  const request = new Request(options.url ?? "http://127.0.0.1:8787/v1/status", { headers });
  const { remoteAddress = "127.0.0.1" } = options;
  try {
    return await createGatekeeper(tokens)(request, { remoteAddress });
  } catch (error) {
    if (error instanceof HttpError) return error.status;
    throw error;
  }
}

Deno.test("a gatekeeper knows each of its tokens by name, whatever the spelling of the scheme", async () => {
  assertEquals(await verdict(TOKENS, { authorization: "Bearer token-of-ci" }), "ci");
  assertEquals(await verdict(TOKENS, { authorization: "bearer dG9rZW4=" }), "dev");
  assertEquals(await verdict(TOKENS, { authorization: "BEARER   token-of-ci " }), "ci");
});

Deno.test("a gatekeeper refuses wrong tokens with 401 and malformed headers with 400", async () => {
  const long = "x".repeat(10_000);
  for (const wrong of ["token-of-c", "token-of-cii", "TOKEN-OF-CI", "x", long]) {
    assertEquals(await verdict(TOKENS, { authorization: `Bearer ${wrong}` }), 401, wrong.slice(0, 20));
  }
  for (
    const malformed of [
      "Bearer",
      "Bearer ",
      "Bearer a b",
      "Bearer token-of-ci, Bearer token-of-ci",
      "Bearer é",
    ]
  ) {
    assertEquals(await verdict(TOKENS, { authorization: malformed }), 400, malformed);
  }
  for (const other of ["Basic dG9rZW4=", "token-of-ci", "Bearertoken-of-ci"]) {
    assertEquals(await verdict(TOKENS, { authorization: other }), 401, other);
  }
  assertEquals(await verdict(TOKENS, {}), 401);
});

Deno.test("every refusal carries the challenge of RFC 6750", async () => {
  const { ask } = fakeApp({ tokens: TOKENS });
  const cases: [Record<string, string>, number, string][] = [
    [{}, 401, 'Bearer realm="assay"'],
    [{ authorization: "Bearer wrong" }, 401, 'Bearer realm="assay", error="invalid_token"'],
    [{ authorization: "Bearer a b" }, 400, 'Bearer realm="assay", error="invalid_request"'],
  ];
  for (const [headers, status, challenge] of cases) {
    const response = await ask("/v1/status", { headers });
    assertEquals([response.status, response.headers.get("www-authenticate")], [status, challenge]);
  }
});

Deno.test("with tokens, a local caller needs one too, and a remote one is welcome with it", async () => {
  assertEquals(await verdict(TOKENS, {}, { remoteAddress: "127.0.0.1" }), 401);
  const remote = { url: "https://assay.example/v1/status", remoteAddress: "203.0.113.9" };
  assertEquals(await verdict(TOKENS, { authorization: "Bearer token-of-ci" }, remote), "ci");
});

Deno.test("without tokens this machine is answered and no other", async () => {
  for (const remoteAddress of ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", null]) {
    assertEquals(await verdict([], {}, { remoteAddress }), null, String(remoteAddress));
  }
  for (
    const remoteAddress of [
      "192.168.1.4",
      "::ffff:10.0.0.1",
      "fe80::1",
      "128.0.0.1",
      "127.0.0.1.evil.example",
      "",
    ]
  ) {
    assertEquals(await verdict([], {}, { remoteAddress }), 403, remoteAddress);
  }
});

Deno.test("without tokens a name rebound to this machine is refused", async () => {
  assertEquals(await verdict([], {}, { url: "http://evil.example:8787/v1/status" }), 403);
  assertEquals(await verdict([], { host: "evil.example:8787" }), 403);
  assertEquals(await verdict([], { host: "127.0.0.1.evil.example" }), 403);
  assertEquals(await verdict([], { host: "localhost:8787" }, { url: "http://localhost:8787/" }), null);
  assertEquals(await verdict([], { host: "[::1]:8787" }, { url: "http://[::1]:8787/" }), null);
});

Deno.test("without tokens a Host header that no URL can hold is refused, and is no failure of the server", async () => {
  // Deno passes it on in a `url` that can't be parsed.
  const request = { url: "http://a b c @@:::/v1/status", headers: new Headers({ host: "a b c @@:::" }) };
  const error = await assertRejects(
    async () => await createGatekeeper([])(request as Request, { remoteAddress: "127.0.0.1" }),
    HttpError,
  );
  assertEquals(error.status, 403);
});

Deno.test("without tokens a page of another origin is refused", async () => {
  const host = "127.0.0.1:8787";
  assertEquals(await verdict([], { host, origin: "http://127.0.0.1:8787" }), null);
  for (
    const origin of ["http://evil.example", "http://127.0.0.1:3000", "null", "http://localhost:8787", ""]
  ) {
    assertEquals(await verdict([], { host, origin }), 403, origin);
  }
});

Deno.test("without tokens what a proxy forwards from elsewhere is refused", async () => {
  assertEquals(await verdict([], { "x-forwarded-for": "127.0.0.1" }), null);
  for (const name of ["cf-connecting-ip", "x-forwarded-for", "x-real-ip"]) {
    assertEquals(await verdict([], { [name]: "203.0.113.9" }), 403, name);
    assertEquals(await verdict([], { [name]: "127.0.0.1, 203.0.113.9" }), 403, name);
  }
});

Deno.test("health checks are open to everyone, documents to everyone once tokens are set", async () => {
  const open = fakeApp({ tokens: TOKENS });
  const local = fakeApp();
  for (const path of ["/healthz", "/readyz"]) {
    assertEquals((await open.ask(path, {}, "203.0.113.9")).status, 200);
    assertEquals((await local.ask(path, {}, "203.0.113.9")).status, 200);
  }
  for (const [path, status] of [["/docs", 200], ["/openapi.json", 200], ["/", 302]] as const) {
    assertEquals((await open.ask(path, {}, "203.0.113.9")).status, status);
    assertEquals((await local.ask(path, {}, "203.0.113.9")).status, 403);
  }
  for (const path of ["/v1/status", "/v1/criteria", "/nowhere", "/healthz/", "/docs/x"]) {
    assertEquals((await open.ask(path)).status, 401, path);
    assertEquals((await local.ask(path, {}, "203.0.113.9")).status, 403, path);
  }
  assertEquals((await open.ask("/healthz", { method: "POST" })).status, 401);
});

Deno.test("createGatekeeper() refuses tokens that could never be used, or not told apart", async () => {
  for (const value of ["", " ", "a b", "é", "a\n", "=a"]) {
    const error = assertThrows(() => createGatekeeper([{ name: "ci", value }]), RangeError, '"ci"');
    assertEquals(value.trim() !== "" && error.message.includes(`${value}"`), false);
  }
  assertThrows(
    () => createGatekeeper([{ name: "a", value: "x" }, { name: "a", value: "y" }]),
    RangeError,
    "twice",
  );
  assertThrows(
    () => createGatekeeper([{ name: "a", value: "x" }, { name: "b", value: "x" }]),
    RangeError,
    "twice",
  );
  await assertRejects(
    () => createGatekeeper(TOKENS)(new Request("http://x/"), { remoteAddress: null }),
    HttpError,
  );
});

Deno.test("isLoopbackHost() and isLoopbackAddress() know this machine's names and no others", () => {
  for (const name of ["localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1", "[::1]"]) {
    assertEquals(isLoopbackHost(name), true, name);
  }
  for (const name of ["", "localhost.evil.example", "notlocalhost", "0.0.0.0", "[::]", "127.0.0.1.nip.io"]) {
    assertEquals(isLoopbackHost(name), false, name);
  }
  assertEquals(isLoopbackAddress("1127.0.0.1"), false);
});
