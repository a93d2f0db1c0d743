import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "../errors.ts";
import { checkRequestBackend, parseAllowedBackend } from "./allowed_backends.ts";

const ALLOWED = ["llm.example.com", "gpu.example.com:8443", "http://127.0.0.1:8080", "https://[2001:db8::1]"];
const check = (url: string): string => checkRequestBackend(url, ALLOWED, "/judge/baseUrl");

Deno.test("parseAllowedBackend() reads hosts in canonical spelling only", () => {
  assertEquals(parseAllowedBackend("llm.example.com"), { protocol: "https:", host: "llm.example.com" });
  assertEquals(parseAllowedBackend("LLM.example.com:443"), { protocol: "https:", host: "llm.example.com" });
  assertEquals(parseAllowedBackend("http://127.0.0.1:8080"), { protocol: "http:", host: "127.0.0.1:8080" });
  assertEquals(parseAllowedBackend("[2001:db8::1]:8443"), { protocol: "https:", host: "[2001:db8::1]:8443" });
  for (
    const entry of [
      "",
      " ",
      "example.com.",
      "2130706433",
      "0x7f.1",
      "127.1",
      "[::ffff:127.0.0.1]",
      "a b",
      "u@example.com",
      "example.com/v1",
      "ftp://example.com",
      "*",
      "bücher.example",
      "a?b",
      "a#b",
      "a\\b",
      "example.com:99999",
    ]
  ) {
    // "*" is a legal host for the URL parser; it allows the host called "*", and nothing else.
    if (entry !== "*") assertEquals(parseAllowedBackend(entry), null, entry);
  }
});

Deno.test("checkRequestBackend() accepts listed hosts and drops the trailing slash", () => {
  assertEquals(check("https://llm.example.com/v1/"), "https://llm.example.com/v1");
  assertEquals(check("https://LLM.example.com:443/v1"), "https://llm.example.com/v1");
  assertEquals(check("https://gpu.example.com:8443"), "https://gpu.example.com:8443");
  assertEquals(check("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/v1");
  assertEquals(check("https://[2001:db8::1]/v1"), "https://[2001:db8::1]/v1");
});

Deno.test("checkRequestBackend() refuses everything that isn't literally listed", () => {
  for (
    const url of [
      "http://llm.example.com/v1",
      "https://127.0.0.1:8080/v1",
      "https://llm.example.com:8443/v1",
      "https://gpu.example.com/v1",
      "https://evil-llm.example.com/v1",
      "https://llm.example.com.evil.net/v1",
      "https://llm.example.com./v1",
      "https://a.localhost./v1",
      "http://[::ffff:127.0.0.1]:8080/v1",
      "http://2130706433:8080/v1",
      "http://0x7f000001:8080/v1",
      "http://127.1:8080/v1",
      "http://017700000001:8080/v1",
      "http://169.254.169.254/latest/meta-data",
      "https://ｌｌｍ.example.com/v1",
      "https://llm%2eexample.com/v1",
    ]
  ) {
    assertEquals(assertThrows(() => check(url), AssayError).code, "forbidden", url);
  }
});

Deno.test("checkRequestBackend() refuses what isn't a plain URL", () => {
  for (
    const url of [
      "",
      "llm.example.com/v1",
      "ftp://llm.example.com/v1",
      "file:///etc/passwd",
      "data:text/plain,x",
      "https://user@llm.example.com/v1",
      "https://user:secret@llm.example.com/v1",
      "https://llm.example.com@evil.net/v1",
      "https://llm.example.com/v1?x=1",
      "https://llm.example.com/v1#x",
      "https://llm.example.com\\@evil.net/",
      "https:llm.example.com",
      "https://llm.\texample.com/v1",
      " https://llm.example.com/v1",
      "https://llm.example.com/" + "a".repeat(3000),
    ]
  ) {
    assertEquals(assertThrows(() => check(url), AssayError).code, "invalid_request", url);
  }
});

Deno.test("checkRequestBackend() shows no password in its error", () => {
  const error = assertThrows(() => check("https://user:hunter22@llm.example.com/v1"), AssayError);
  assertEquals(JSON.stringify([error.message, error.errors]).includes("hunter22"), false);
});

Deno.test("checkRequestBackend() with an empty list refuses any URL", () => {
  fc.assert(fc.property(fc.webUrl(), (url) => {
    assertThrows(() => checkRequestBackend(url, [], "/judge/baseUrl"), AssayError);
  }));
});

Deno.test("whatever checkRequestBackend() accepts leads to a listed host", () => {
  const hosts = new Set([
    "https://llm.example.com",
    "https://gpu.example.com:8443",
    "http://127.0.0.1:8080",
    "https://[2001:db8::1]",
  ]);
  const piece = fc.constantFrom(
    "https://",
    "http://",
    "llm.example.com",
    "127.0.0.1",
    ":8080",
    ":443",
    "@",
    ".",
    "/",
    "\\",
    "%2e",
    "v1",
    "[::1]",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
    let accepted: string;
    try {
      accepted = check(pieces.join(""));
    } catch (error) {
      return error instanceof AssayError;
    }
    return hosts.has(new URL(accepted).origin);
  }));
});
