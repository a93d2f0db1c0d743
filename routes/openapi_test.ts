import { assert, assertEquals } from "@std/assert";
import { fakeApp } from "../tests/http_fakes.ts";
import { ERROR_STATUS } from "../verifier/errors.ts";
import { schemaNamed } from "./openapi.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

async function document(): Promise<Any> {
  const response = await fakeApp().ask("/openapi.json");
  assertEquals(response.headers.get("content-type"), "application/json");
  return await response.json();
}

function walk(value: unknown, path: string, visit: (value: Any, path: string) => void): void {
  if (typeof value !== "object" || value === null) return;
  visit(value, path);
  for (const [key, child] of Object.entries(value)) walk(child, `${path}/${key}`, visit);
}

function operations(api: Any): { readonly path: string; readonly method: string; readonly operation: Any }[] {
  return Object.entries(api.paths as Record<string, Record<string, Any>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  );
}

/** This endpoints, as the contract lists them. */
const ROUTES = [
  "delete /v1/trackers/{id}",
  "get /",
  "get /docs",
  "get /healthz",
  "get /openapi.json",
  "get /readyz",
  "get /v1/criteria",
  "get /v1/criteria/{name}",
  "get /v1/decisions",
  "get /v1/decisions/{id}",
  "get /v1/reviews",
  "get /v1/statistics",
  "get /v1/status",
  "get /v1/trackers/{id}",
  "get /v1/trackers/{id}/events",
  "post /v1/best-of-n",
  "post /v1/compare",
  "post /v1/criteria/parse",
  "post /v1/decisions/{id}/replay",
  "post /v1/gate",
  "post /v1/reviews",
  "post /v1/reviews/{id}/settle",
  "post /v1/select",
  "post /v1/session",
  "post /v1/status/probe",
  "post /v1/track",
  "post /v1/trackers",
  "post /v1/trackers/{id}/steps",
];

Deno.test("the OpenAPI document has every route, and each has an id, a summary, a description and a tag", async () => {
  const api = await document();
  assertEquals(api.openapi, "3.1.0");
  const all = operations(api);
  assertEquals(all.map(({ method, path }) => `${method} ${path}`).sort(), ROUTES);
  const tags = api.tags.map(({ name }: Any) => name);
  for (const { path, operation } of all) {
    for (const key of ["operationId", "summary", "description"]) {
      assert(operation[key]?.length > 0, `${path} ${key}`);
    }
    assert(operation.tags.every((tag: string) => tags.includes(tag)), path);
    assert(
      Object.values(operation.responses).every((response: Any) => response.description.length > 0),
      path,
    );
  }
  assertEquals(new Set(all.map(({ operation }) => operation.operationId)).size, all.length);
});

Deno.test("every reference in the OpenAPI document resolves, and no schema stands unused", async () => {
  const api = await document();
  const used = new Set<string>();
  walk(api, "", (value, path) => {
    if (typeof value.$ref !== "string") return;
    const name = /^#\/components\/schemas\/(\w+)$/.exec(value.$ref)?.[1];
    assert(name !== undefined && Object.hasOwn(api.components.schemas, name), `${path}: ${value.$ref}`);
    used.add(name);
  });
  // Data of events: they are named in the text, as OpenAPI 3.1 can't describe a stream's events.
  for (const name of ["AppendedEvent", "CallEvent", "PairEvent", "CheckpointEvent", "DraftEvent"]) {
    used.add(name);
  }
  assertEquals(Object.keys(api.components.schemas).filter((name) => !used.has(name)), []);
});

Deno.test("the schemas are JSON Schema: known types, required names that exist, and no number that isn't finite", async () => {
  const api = await document();
  const types = ["string", "number", "integer", "boolean", "array", "object", "null"];
  walk(api.components.schemas, "", (schema, path) => {
    if (typeof schema.type === "string" && !path.endsWith("/properties")) {
      assert(types.includes(schema.type), path);
    }
    if (Array.isArray(schema.required)) {
      for (const name of schema.required) assert(Object.hasOwn(schema.properties, name), `${path}: ${name}`);
    }
    assert(!Object.hasOwn(schema, "$schema") && !Object.hasOwn(schema, "$defs"), path);
  });
});

Deno.test("only the probe takes a request without a body, and no X-Request-Id is refused", async () => {
  const all = operations(await document());
  const optional = all.filter(({ operation }) => operation.requestBody?.required === false);
  assertEquals(optional.map(({ path }) => path), ["/v1/status/probe"]);
  for (const { operation } of all) {
    const parameter = operation.parameters.find(({ name }: Any) => name === "X-Request-Id");
    assertEquals([parameter.required, parameter.schema], [false, { type: "string" }]);
  }
});

Deno.test("requests are described as a caller may send them: defaults are optional, unknown fields refused", async () => {
  const { CompareRequest, SelectRequest, TrackRequest } = (await document()).components.schemas;
  assertEquals(CompareRequest.required.sort(), ["a", "b", "task"]);
  assertEquals(SelectRequest.required.sort(), ["candidates", "task"]);
  assertEquals(TrackRequest.required.sort(), ["task", "trajectory"]);
  for (const schema of [CompareRequest, SelectRequest, TrackRequest]) {
    assertEquals(schema.additionalProperties, false);
    assertEquals(schema.properties.channel.enum, ["any", "logprobs", "continuation"]);
  }
  assertEquals([CompareRequest.properties.repeats.default, SelectRequest.properties.repeats.default], [2, 1]);
});

Deno.test("operations that need a token say so, and the others say that they don't", async () => {
  const api = await document();
  assertEquals(api.security, [{ bearer: [] }]);
  assertEquals(api.components.securitySchemes.bearer.scheme, "bearer");
  for (const { path, operation } of operations(api)) {
    assertEquals(operation.security, path.startsWith("/v1/") ? undefined : [], path);
    assertEquals(Object.hasOwn(operation.responses, "401"), path.startsWith("/v1/"), path);
  }
});

Deno.test("every problem response is a problem document, under the status of its codes", async () => {
  for (const { path, operation } of operations(await document())) {
    for (const [status, response] of Object.entries(operation.responses as Record<string, Any>)) {
      if (Number(status) < 400) continue;
      assertEquals(Object.keys(response.content), ["application/problem+json"], path);
      for (const [, code] of response.description.matchAll(/`(\w+)`/g)) {
        assertEquals(ERROR_STATUS[code as keyof typeof ERROR_STATUS], Number(status), `${path} ${code}`);
      }
    }
  }
});

Deno.test("every example is valid by its own schema", async () => {
  let checked = 0;
  walk((await document()).paths, "", (media, path) => {
    const name = typeof media.schema?.$ref === "string" ? media.schema.$ref.split("/").pop() : undefined;
    if (name === undefined) return;
    const values = [
      ...(media.example === undefined ? [] : [media.example]),
      ...Object.values(media.examples ?? {}).map((example: Any) => example.value),
    ];
    for (const value of values) {
      const schema = schemaNamed(name);
      assert(schema !== undefined, `${path}: no schema ${name} in this test`);
      const result = schema.safeParse(value);
      assert(result.success, `${path}: ${result.error}`);
      checked++;
    }
  });
  assert(checked >= 14, `only ${checked} examples`);
});

Deno.test("the docs page has an anchor for every link into itself", async () => {
  const html = await (await fakeApp().ask("/docs")).text();
  const anchors = new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
  const links = [...html.matchAll(/ href="#([^"]+)"/g)].map((match) => match[1]);
  assert(links.length > 50);
  assertEquals(links.filter((link) => !anchors.has(link)), []);
  assertEquals([...html.matchAll(/ id="([^"]+)"/g)].length, anchors.size, "an id stands twice");
  for (const code of Object.keys(ERROR_STATUS)) assert(anchors.has(`problem-${code}`), code);
});

Deno.test("the docs page can't be made to hold a caller's markup", async () => {
  const { ask } = fakeApp({ tokens: [{ name: "ci", value: "x" }] });
  const html = await (await ask("/docs?q=<script>alert(1)</script>", {}, "203.0.113.9")).text();
  assert(!html.includes("<script") && !html.includes("alert(1)"));
});
