import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { redact, REDACTED } from "./redact.ts";

const R = REDACTED;

Deno.test("redact() takes the secret out and leaves the rest", () => {
  const cases: readonly [string, string][] = [
    ["Bearer abc.def-123", `Bearer ${R}`],
    ["bearer   XYZ==", `bearer   ${R}`],
    ["Authorization: Basic dXNlcjpwYXNz", `Authorization: ${R}`],
    ['{"authorization": "Bearer abc123"}', `{"authorization": "${R}"}`],
    ["api_key=abc&x=1", `api_key=${R}&x=1`],
    ["OPENAI_API_KEY=abc next", `OPENAI_API_KEY=${R} next`],
    ['API-KEY: "q w" rest', `API-KEY: ${R} rest`],
    ["apikey:abc,next", `apikey:${R},next`],
    ["x-api-key: abcdef", `x-api-key: ${R}`],
    ["access_token = abc; x", `access_token = ${R}; x`],
    ["password:hunter2", `password:${R}`],
    ['secret="s p" after', `secret=${R} after`],
    ["key sk-ABCDEF1234567890 end", `key ${R} end`],
    ["Incorrect API key provided: sk-test-123*****9.", `Incorrect API key provided: ${R}.`],
    ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", R],
    ["github_pat_11ABCDEFG0123456789_abc", R],
    ["AKIAIOSFODNN7EXAMPLE", R],
    ["AIzaSyA1234567890abcdefghijklmnopqrstuvw", R],
    ["xoxb-1234567890-abcdef", R],
    ["hf_abcdefghijklmnopqrstuv", R],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJl", R],
    ['{"token":"abc","n":1}', `{"token":"${R}","n":1}`],
    ['{"client_secret": "abc"}', `{"client_secret": "${R}"}`],
    ["{'apiKey': 'abc'}", `{'apiKey': '${R}'}`],
    ['"{\\"api_key\\":\\"abc\\"}"', `"{\\"api_key\\":\\"${R}\\"}"`],
    ["Cookie: a=b; c=d\nnext", `Cookie: ${R}\nnext`],
    ["Set-Cookie: sid=1; Path=/", `Set-Cookie: ${R}`],
    ["https://user:pw@host/x", `https://${R}@host/x`],
    ["postgres://u@db:5432", `postgres://${R}@db:5432`],
    ["GET /x?key=abc123&y=2", `GET /x?key=${R}&y=2`],
    ["a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- z", `a ${R} z`],
    ["cut -----BEGIN PRIVATE KEY-----\nMII", `cut ${R}`],
  ];
  for (const [text, expected] of cases) assertEquals(redact(text), expected);
});

Deno.test("redact() leaves ordinary text alone", () => {
  for (
    const text of [
      "",
      "Bearer authentication is required",
      "The token limit is 4096 tokens; max_tokens: 128",
      '{"usage":{"total_tokens":5},"max_tokens":10}',
      "Unknown token: 'foo' at line 3",
      "risk-averse-people ask-someone-else",
      "The secret of success: work",
      "email me at someone@example.com",
      "https://example.com/a@b",
      "-----END CERTIFICATE-----",
      "A cookie is a small cake",
      "top_logprobs must be <= 20",
      "basic research",
      "日本語 🙂 \u0000 \ud800",
    ]
  ) {
    assertEquals(redact(text), text);
  }
});

Deno.test("redact() takes out known values wherever they stand, URL-encoded too", () => {
  assertEquals(redact("xyzABC and xyzABC!", ["xyzABC"]), `${R} and ${R}!`);
  assertEquals(redact("?q=p%2Fq%3D%3D-rest", ["p/q==-rest"]), `?q=${R}`);
  // Two or three characters would take out half of any text.
  assertEquals(redact("abc", ["abc"]), "abc");
});

Deno.test("redact() leaves no known secret of any kind in any text", () => {
  const secret = fc.stringMatching(/^[!-~]{4,60}$/);
  const place = fc.constantFrom(
    (s: string) => s,
    (s: string) => `Bearer ${s}`,
    (s: string) => `{"message":"${s}"}`,
    encodeURIComponent,
  );
  fc.assert(fc.property(secret, place, fc.string(), fc.string(), (value, put, before, after) => {
    const found = redact(`${before} ${put(value)} ${after}`, [value]);
    // What stands in for a secret may itself spell a short one.
    assert(REDACTED.includes(value) || !found.includes(value));
  }));
});

Deno.test("redact() changes nothing when it is done twice", () => {
  const piece = fc.constantFrom(
    "Bearer abc123",
    "sk-abcdefgh1",
    "token=abc",
    '{"token":"abc"}',
    "Cookie: x",
    "a://u:p@h",
    "-----END X-----",
    "password: p",
    "-----BEGIN X-----",
    "text",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
    const once = redact(pieces.join("\n"));
    assertEquals(redact(once), once);
  }));
});

Deno.test("redact() gets through a megabyte of the pieces that quadratic patterns choke on", () => {
  // A quadratic pattern would take minutes here, a linear one takes milliseconds.
  for (
    const piece of [
      "-----BEGIN ",
      "://",
      "://a:b",
      '"token":"',
      '\\"token\\":\\"',
      "Bearer ",
      "sk-",
      "cookie:",
      "eyJaaaaaaaa.",
      "api_key_",
      "a-",
      'token="',
      "password='",
      "AKIA",
      "?key=",
    ]
  ) {
    const text = piece.repeat(Math.ceil((1 << 20) / piece.length));
    assert(redact(text).length > 0);
  }
});

Deno.test("redact() finds secrets behind line ends that are written as escapes", () => {
  const lines = [
    "ghp_Planted0Personal1Access2Token3Abc",
    "AKIAPLANTED0KEY1ABCD",
    "API_KEY=planted-key-7",
    "password: planted-word-8",
    "Cookie: session=planted-cookie",
    "Bearer planted.9f8e7d",
    "the end",
  ];
  for (const text of [JSON.stringify(lines.join("\n")), JSON.stringify(JSON.stringify(lines.join("\t")))]) {
    const clean = redact(text);
    assertEquals(/planted|Planted|PLANTED/.test(clean.replaceAll("[redacted]", "")), false, clean);
  }
  const kept = redact(JSON.stringify("Cookie: a=b\nnext line"));
  assertEquals(kept, '"Cookie: [redacted]\\nnext line"');
});
