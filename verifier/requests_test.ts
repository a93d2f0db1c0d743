import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { z } from "zod";
import { AssayError } from "./errors.ts";
import {
  compareRequestSchema,
  isImageUrl,
  MAXIMUM_IMAGE_BYTES,
  parseRequest,
  selectRequestSchema,
  trackRequestSchema,
} from "./requests.ts";

const compareBody = { task: "Add a test", a: "one", b: "two" };
const selectBody = { task: "Add a test", candidates: ["one", "two"] };
const trackBody = { task: "Add a test", trajectory: { steps: ["one", "two"] } };

function refusal(schema: z.ZodType, value: unknown): AssayError {
  return assertThrows(() => parseRequest(schema, value), AssayError);
}

/** Paths and messages of a refusal. */
function errors(schema: z.ZodType, value: unknown): Record<string, string> {
  return Object.fromEntries(refusal(schema, value).errors.map(({ path, message }) => [path, message]));
}

Deno.test("parseRequest() fills in the defaults of the wire", () => {
  assertEquals(parseRequest(compareRequestSchema, compareBody), {
    ...compareBody,
    criteria: "general",
    repeats: 2,
    channel: "any",
    images: [],
    seed: 0,
    dryRun: false,
    cache: "use",
  });
  const { mode, pivots, prior, repeats } = parseRequest(selectRequestSchema, selectBody);
  assertEquals({ mode, pivots, prior, repeats }, { mode: "pivot", pivots: 2, prior: "none", repeats: 1 });
  assertEquals(parseRequest(trackRequestSchema, trackBody).causal, false);
});

Deno.test("parseRequest() takes every shape of a trajectory and of criteria", () => {
  for (
    const a of [
      "",
      { text: "" },
      { steps: ["a", { text: "b", images: ["https://example.com/a.png"] }], id: "x" },
      { messages: [{ role: "user", content: "hi", more: { is: ["kept"] } }] },
    ]
  ) {
    assertEquals<unknown>(parseRequest(compareRequestSchema, { ...compareBody, a }).a, a);
  }
  for (const criteria of ["coding", { a: "b" }, ["x"], [{ description: "x", weight: 2 }]]) {
    assertEquals<unknown>(
      parseRequest(compareRequestSchema, { ...compareBody, criteria }).criteria,
      criteria,
    );
  }
});

Deno.test("parseRequest() treats an undefined top-level field as absent", () => {
  assertEquals(
    parseRequest(compareRequestSchema, { ...compareBody, budget: undefined, repeats: undefined }).repeats,
    2,
  );
});

Deno.test("parseRequest() names unknown fields and the nearest known one, at every level", () => {
  const found = errors(compareRequestSchema, {
    ...compareBody,
    repeat: 3,
    a: { txt: "x", text: "y" },
    budget: { call: 1 },
    judge: { modell: "m" },
  });
  assertStringIncludes(found["/repeat"]!, "did you mean repeats?");
  assertStringIncludes(found["/a/txt"]!, "did you mean text?");
  assertStringIncludes(found["/budget/call"]!, "did you mean calls?");
  assertStringIncludes(found["/judge/modell"]!, "did you mean model?");
});

Deno.test("parseRequest() names field and value of numbers that are negative, fractional or not finite", () => {
  const found = refusal(selectRequestSchema, {
    ...selectBody,
    repeats: 1.5,
    pivots: -1,
    seed: 1e300,
    deadlineMs: NaN,
    budget: { usd: Infinity },
  });
  assertEquals(found.code, "invalid_request");
  assertEquals(
    found.errors.map(({ path, value }) => [path, value]).sort(),
    [["/budget/usd", "Infinity"], ["/deadlineMs", "NaN"], ["/pivots", "-1"], ["/repeats", "1.5"], [
      "/seed",
      "1e+300",
    ]],
  );
  assert(found.errors.every(({ message }) => message.startsWith("must be ")));
  for (const repeats of [0, 65, "2"]) {
    assert("/repeats" in errors(compareRequestSchema, { ...compareBody, repeats }));
  }
  assertEquals(parseRequest(compareRequestSchema, { ...compareBody, seed: -3 }).seed, -3);
});

Deno.test("parseRequest() refuses 100,000 candidates with one error", () => {
  for (const candidate of ["x", 1]) {
    const found = refusal(selectRequestSchema, { ...selectBody, candidates: Array(100_000).fill(candidate) });
    assertEquals(found.errors, [
      { path: "/candidates", message: "must have at most 1000 entries", value: "100000 entries" },
    ]);
  }
});

Deno.test("parseRequest() lists at most 20 errors and counts the rest", () => {
  const found = refusal(selectRequestSchema, { ...selectBody, candidates: Array(1000).fill(7) });
  assertEquals(found.errors.length, 20);
  assertStringIncludes(found.message, "999 more errors, 980 of them not listed");
});

Deno.test("parseRequest() demands exactly one of text, steps and messages", () => {
  for (const a of [{}, { text: "x", steps: ["y"] }, { id: "x" }]) {
    assertEquals(
      errors(compareRequestSchema, { ...compareBody, a })["/a"],
      "must have exactly one of text, steps and messages",
    );
  }
  for (const a of [{ steps: [] }, { messages: [] }]) {
    assertEquals(Object.values(errors(compareRequestSchema, { ...compareBody, a })), [
      "must have at least 1 entry",
    ]);
  }
});

Deno.test("parseRequest() refuses a blank task, repeated checkpoints and steps of the wrong kind", () => {
  assertEquals(errors(compareRequestSchema, { ...compareBody, task: " \n\t" })["/task"], "must not be blank");
  assertEquals(errors(compareRequestSchema, { a: "x", b: "y" })["/task"], "must be present");
  assertEquals(
    errors(trackRequestSchema, { ...trackBody, checkpoints: [2, 1, 2] })["/checkpoints"],
    "must not repeat a step",
  );
  assert("/checkpoints/0" in errors(trackRequestSchema, { ...trackBody, checkpoints: [0] }));
  assertEquals(parseRequest(trackRequestSchema, { ...trackBody, checkpoints: [2, 1] }).checkpoints, [2, 1]);
  assertEquals(
    errors(trackRequestSchema, { ...trackBody, trajectory: { steps: ["a", 7] } })["/trajectory/steps/1"],
    "must be a string or an object",
  );
});

Deno.test("parseRequest() shows a number of tokens, which is no secret", () => {
  const of = (fields: Record<string, unknown>) =>
    refusal(compareRequestSchema, { task: "t", a: "x", b: "y", ...fields }).errors[0]?.value;
  assertEquals(of({ judge: { maxTokens: 0 } }), "0");
  assertEquals(of({ budget: { tokens: -5 } }), "-5");
});

Deno.test("parseRequest() never shows a secret's value", () => {
  for (const judge of [{ apiKey: 12345678, profile: 7 }, { apiKeey: 12345678 }, { secret: 12345678 }]) {
    const found = refusal(compareRequestSchema, { ...compareBody, judge });
    assert(!JSON.stringify([found.message, found.errors]).includes("12345678"), found.message);
  }
});

Deno.test("parseRequest() refuses what is no object", () => {
  for (const value of [null, 3, "x", [], undefined]) {
    assertEquals(refusal(compareRequestSchema, value).errors[0]?.message, "must be a JSON object");
  }
});

Deno.test("a __proto__ field of JSON is an unknown field like any other", () => {
  const body = JSON.parse('{"task":"x","a":"","b":"","__proto__":{"repeats":9}}');
  assert("/__proto__" in errors(compareRequestSchema, body));
});

Deno.test("isImageUrl() takes https and base64 images up to 20 MiB and nothing else", () => {
  assert(isImageUrl("https://example.com/a.png"));
  assert(isImageUrl("data:image/png;base64,iVBORw0KGgo="));
  for (
    const url of [
      "http://example.com/a.png",
      "https://",
      "file:///etc/passwd",
      "data:image/svg+xml;base64,AAAA",
      "data:image/png,AAAA",
      "data:image/png;base64,",
      "data:image/png;base64,????",
      "/etc/passwd",
    ]
  ) assert(!isImageUrl(url), url);
  assert(!isImageUrl("data:image/png;base64," + "A".repeat(Math.ceil((MAXIMUM_IMAGE_BYTES + 10) * 4 / 3))));
});

Deno.test("the schemas are plain enough for a JSON Schema", () => {
  for (const schema of [compareRequestSchema, selectRequestSchema, trackRequestSchema]) {
    const document = z.toJSONSchema(schema, { io: "input" });
    const [body] = Object.values(document.$defs ?? {});
    assertEquals(body?.additionalProperties, false);
    assertEquals(body?.required?.[0], "task");
    assert(JSON.stringify(document).includes("What the agent was asked."));
  }
});

Deno.test("parseRequest() answers any JSON value with a request or a field error", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom("task", "a", "criteria", "judge", "images", "repeats"),
      (value, field) => {
        try {
          parseRequest(compareRequestSchema, { ...compareBody, [field]: value });
        } catch (error) {
          assert(error instanceof AssayError && error.code === "invalid_request", String(error));
          assert(
            error.errors.length > 0 && error.errors.every(({ path }) => path.startsWith(`/${field}`)),
            JSON.stringify(error.errors),
          );
        }
      },
    ),
  );
});
