import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "../verifier/errors.ts";
import { readJson, readOptionalJson } from "./body.ts";

function request(chunks: readonly Uint8Array[], headers: Record<string, string> = {}): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  return new Request("http://127.0.0.1/", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    duplex: "half",
  } as RequestInit);
}

function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const sorted = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((end, i) => bytes.slice(sorted[i], end));
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("readJson() reads the same document however it is cut into chunks", async () => {
  await fc.assert(fc.asyncProperty(
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.array(fc.nat(), { maxLength: 8 }),
    async (text, cuts) => {
      const bytes = bytesOf(JSON.stringify({ text }));
      assertEquals(await readJson(request(split(bytes, cuts)), 10_000), { text });
    },
  ));
});

Deno.test("readJson() names the first byte that is not UTF-8 and its offset, however the body is cut", async () => {
  const cases: [number[], number, string][] = [
    [[0xff], 0, "0xff"],
    [[0xff, 0xfe, 0x22, 0x00], 0, "0xff"], // UTF-16 with its byte order mark
    [[0x22, 0x80, 0x22], 1, "0x80"],
    [[0x22, 0xc3, 0x28, 0x22], 1, "0xc3"],
    [[0x22, 0xc0, 0xaf, 0x22], 1, "0xc0"], // overlong
    [[0x22, 0xe0, 0x9f, 0xbf, 0x22], 1, "0xe0"], // overlong
    [[0x22, 0xc3, 0xa9, 0xed, 0xa0, 0x80, 0x22], 3, "0xed"], // a surrogate
    [[0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1, "0xf4"], // past U+10FFFF
    [[0x22, 0xe6, 0x97], 3, "the body ends inside a character"],
  ];
  for (const [bytes, offset, what] of cases) {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const chunks = split(Uint8Array.from(bytes), [cut]);
      const error = await assertRejects(() => readJson(request(chunks), 100), AssayError);
      assertEquals(error.code, "invalid_json");
      assertStringIncludes(error.message, `${what} at offset ${offset}`, `${bytes} cut at ${cut}`);
    }
  }
});

Deno.test("readJson() accepts a body of exactly the limit and refuses one byte more", async () => {
  const body = bytesOf('"12345678"');
  assertEquals(await readJson(request([body]), body.length), "12345678");
  const error = await assertRejects(() => readJson(request([body]), body.length - 1), AssayError);
  assertEquals(error.code, "body_too_large");
  assertStringIncludes(error.message, `${body.length - 1} bytes`);
});

Deno.test("readJson() refuses by Content-Length alone when that is over the limit, and reads nothing", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    cancel() {
      cancelled = true;
    },
  });
  const announced = new Request("http://127.0.0.1/", {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": "101" },
    body,
    duplex: "half",
  } as RequestInit);
  const error = await assertRejects(() => readJson(announced, 100), AssayError);
  assertEquals(error.code, "body_too_large");
  assert(cancelled);
});

Deno.test("readJson() takes application/json in any spelling and nothing else", async () => {
  for (
    const type of ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']
  ) {
    assertEquals(await readJson(request([bytesOf("1")], { "content-type": type }), 10), 1);
  }
  for (
    const type of [
      "text/json",
      "application/jsonx",
      "application/json; charset=utf-16",
      "multipart/form-data",
    ]
  ) {
    const error = await assertRejects(
      () => readJson(request([bytesOf("1")], { "content-type": type }), 10),
      AssayError,
    );
    assertEquals(error.code, "unsupported_media_type");
  }
  const absent = new Request("http://127.0.0.1/", { method: "POST", body: bytesOf("1") });
  assertStringIncludes((await assertRejects(() => readJson(absent, 10), AssayError)).message, "absent");
});

Deno.test("readJson() holds a body that breaks off against the caller, not against the server", async () => {
  const broken = new Request("http://127.0.0.1/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new ReadableStream({
      pull(controller) {
        controller.error(new TypeError("connection lost"));
      },
    }),
    duplex: "half",
  } as RequestInit);
  const error = await assertRejects(() => readJson(broken, 10), AssayError, "broke off after 0 bytes");
  assertEquals(error.code, "invalid_json");
  assertEquals((error.cause as Error).message, "connection lost");
});

Deno.test("readOptionalJson() takes no body for an empty object, and any body as readJson() does", async () => {
  const post = (init: RequestInit = {}) => new Request("http://127.0.0.1/", { method: "POST", ...init });
  assertEquals(await readOptionalJson(post(), 10), {});
  assertEquals(await readOptionalJson(post({ headers: { "content-length": "0" } }), 10), {});
  assertEquals(await readOptionalJson(request([bytesOf('{"a":1}')]), 10), { a: 1 });
  const cases = [
    [post({ headers: { "content-type": "application/json" } }), "invalid_json"],
    [post({ headers: { "content-type": "text/plain" }, body: "{}" }), "unsupported_media_type"],
  ] as const;
  for (const [faulty, code] of cases) {
    assertEquals((await assertRejects(() => readOptionalJson(faulty, 10), AssayError)).code, code);
  }
});
