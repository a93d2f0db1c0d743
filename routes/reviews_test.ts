import { assertEquals, assertStringIncludes } from "@std/assert";
import { fakeApp, fakeEnvironment } from "../tests/http_fakes.ts";
import { REVIEW_EXAMPLES } from "./review_examples.ts";
import { review, reviewGranted, reviewList, reviewRefused } from "./review_schemas.ts";

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const { request } = REVIEW_EXAMPLES;

Deno.test("a review over HTTP: granted, refused, settled, listed", async () => {
  const { ask } = fakeApp();
  const granted = await ask("/v1/reviews", post(request));
  const { id } = reviewGranted.parse(await granted.json());
  const refused = await ask("/v1/reviews", post(request));
  assertEquals([granted.status, refused.status], [201, 200]);
  assertEquals(reviewRefused.parse(await refused.json()).reason, "in_flight");
  const settled = await ask(`/v1/reviews/${id}/settle`, post(REVIEW_EXAMPLES.settlement));
  assertEquals(review.parse(await settled.json()).state, "done");
  const conflict = await ask(`/v1/reviews/${id}/settle`, post({ state: "failed", calls: 0 }));
  const problem = await conflict.json();
  assertEquals([conflict.status, problem.code, problem.errors[0].path], [
    409,
    "idempotency_conflict",
    "/state",
  ]);
  const list = reviewList.parse(await (await ask("/v1/reviews?session=ses-42")).json());
  assertEquals([list.session, list.spent.calls, list.reviews.length], ["ses-42", 6, 1]);
  assertEquals((await (await ask("/v1/reviews?session=nothing&limit=1")).json()).reviews, []);
});

Deno.test("faulty requests name the field and the value", async () => {
  const { ask } = fakeApp();
  const cases: readonly (readonly [string, RequestInit | undefined, number, string])[] = [
    ["/v1/reviews", post({ ...request, session: "" }), 400, "/session"],
    ["/v1/reviews", post({ ...request, session: "x".repeat(201) }), 400, "/session"],
    ["/v1/reviews", post({ ...request, task: " " }), 400, "/task"],
    ["/v1/reviews", post({ ...request, purpose: "fun" }), 400, "/purpose"],
    ["/v1/reviews", post({ ...request, fingerprint: undefined }), 400, "/fingerprint"],
    ["/v1/reviews", post({ ...request, calls: -1 }), 400, "/calls"],
    ["/v1/reviews", post({ ...request, calls: 1.5 }), 400, "/calls"],
    ["/v1/reviews", post({ ...request, limits: { task: { review: 1 } } }), 400, "/limits/task/review"],
    ["/v1/reviews", post({ ...request, limits: { session: { calls: -1 } } }), 400, "/limits/session/calls"],
    ["/v1/reviews/rev_x/settle", post({ state: "held", calls: 1 }), 400, "/state"],
    ["/v1/reviews/rev_x/settle", post({ state: "done", calls: 1, outcome: [] }), 400, "/outcome"],
    [
      "/v1/reviews/rev_x/settle",
      post({ state: "done", calls: 1, outcome: { x: "é".repeat(4096) } }),
      400,
      "/outcome",
    ],
    ["/v1/reviews", undefined, 400, "/session"],
    [`/v1/reviews?session=${"x".repeat(201)}`, undefined, 400, "/session"],
    ["/v1/reviews?session=s&limit=201", undefined, 400, "/limit"],
    ["/v1/reviews?sesion=s", undefined, 400, "/sesion"],
  ];
  for (const [path, init, status, field] of cases) {
    const response = await ask(path, init);
    const problem = await response.json();
    assertEquals([response.status, problem.errors?.[0]?.path], [status, field], JSON.stringify(problem));
  }
  const unknown = await ask("/v1/reviews/rev_x/settle", post({ state: "done", calls: 1 }));
  assertEquals([unknown.status, (await unknown.json()).code], [404, "not_found"]);
});

Deno.test("tokens have ledgers of their own", async () => {
  const { ask } = fakeApp({
    tokens: [{ name: "a", value: "token-of-a" }, { name: "b", value: "token-of-b" }],
  });
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const first = await ask("/v1/reviews", post(request, as("token-of-a")));
  assertEquals(first.status, 201);
  const { id } = await first.json();
  assertEquals((await ask("/v1/reviews", post(request, as("token-of-b")))).status, 201);
  const settled = await ask(`/v1/reviews/${id}/settle`, post({ state: "done", calls: 0 }, as("token-of-b")));
  assertEquals(settled.status, 404);
  assertEquals((await ask("/v1/reviews?session=ses-42")).status, 401);
  const list = await ask("/v1/reviews?session=ses-42", { headers: as("token-of-a") });
  assertEquals((await list.json()).reviews.length, 1);
});

Deno.test("Idempotency-Key: a granted review is given again; a refused one leaves the key free", async () => {
  const { ask } = fakeApp();
  const key = (name: string) => ({ "idempotency-key": name });
  const first = await (await ask("/v1/reviews", post(request, key("one")))).json();
  const again = await ask("/v1/reviews", post(request, key("one")));
  assertEquals([again.status, again.headers.get("idempotent-replayed")], [201, "true"]);
  assertEquals(await again.json(), first);
  const refused = await (await ask("/v1/reviews", post(request, key("two")))).json();
  assertEquals(refused.reason, "in_flight");
  await ask(`/v1/reviews/${first.id}/settle`, post({ state: "abandoned", calls: 0 }));
  const free = await (await ask("/v1/reviews", post(request, key("two")))).json();
  assertEquals(free.granted, true);
});

Deno.test("a corrupt ledger is told to the operator and stops nobody", async () => {
  const environment = fakeEnvironment();
  const { ask, logged } = fakeApp({ environment });
  await ask("/v1/reviews", post(request));
  const { keys } = await environment.store.list("review/");
  await environment.store.put(keys[0]!, new TextEncoder().encode("{"));
  assertEquals((await ask("/v1/reviews", post(request))).status, 201);
  assertStringIncludes(logged.join(), "can't be read");
});
