/**
 * The same requests against the app object, `deno serve` and `wrangler dev` (workerd). Where wrangler can't be run, its
 * tests are shown as ignored.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import { startApp, startEnvironment } from "../../runtime/start.ts";
import { loadConfig } from "../../verifier/config/config.ts";
import { answer, type Case, guardedCases, type Masked, openCases, type Send, settings } from "./requests.ts";
import { type RunningServer, type Settings, startDeno, startWorkerd, wranglerRuns } from "./server.ts";

/** A judge that starts to answer and never goes on; it tells when its caller hangs up. */
function slowJudge() {
  const { promise: called, resolve: call } = Promise.withResolvers<void>();
  const { promise: hungUp, resolve: hangUp } = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    call();
    // Deno tells a handler reliably of a caller who leaves only through the response's stream.
    const body = new ReadableStream({ cancel: () => hangUp() });
    return request.text().then(() => new Response(body, { headers: { "content-type": "application/json" } }));
  });
  return {
    called,
    hungUp,
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    close: () => server.shutdown(),
  };
}

async function appItself({ config, variables }: Settings): Promise<Send> {
  const env = (name: string) => variables[name];
  const found = {
    env,
    config: loadConfig({ text: JSON.stringify(config), env }),
    store: createMemoryStore(),
    runtime: { name: "test", version: null },
  };
  const app = startApp(found, await startEnvironment(found));
  return (path, init) =>
    Promise.resolve(
      app.fetch(new Request(new URL(path, "http://127.0.0.1:8787"), init), { remoteAddress: "127.0.0.1" }),
    );
}

const over = (server: RunningServer): Send => (path, init) => fetch(server.origin + path, init);

async function answersOf(send: Send, cases: readonly Case[]): Promise<Map<string, Masked>> {
  const answers = new Map<string, Masked>();
  for (const item of cases) {
    const given = await answer(send, item);
    assertEquals(given.status, item.status, `${item.name}: ${JSON.stringify(given.body).slice(0, 500)}`);
    answers.set(item.name, given);
  }
  return answers;
}

/** Whatever the answers hold, they are checked to be alike; this checks that they hold something. */
function checkSubstance(answers: ReadonlyMap<string, Masked>): void {
  const body = (name: string) => answers.get(name)?.body as Record<string, unknown>;
  assertEquals(body("compare").verb, "compare");
  assertEquals((body("compare: from the cache").usage as { calls: number }).calls, 0);
  assertEquals((body("select").ranking as unknown[]).length, 4);
  assertEquals(typeof (body("track").curve as { score: unknown }[])[0]?.score, "number");
  assertEquals(body("bad JSON").code, "invalid_json");
  for (const verb of ["compare", "select", "track"]) {
    const { equal, scope, differences } = body(`replay: ${verb}`);
    assertEquals([equal, scope, differences], [true, "verdict", []], verb);
  }
  assert((body("decisions").decisions as unknown[]).length > 8);
  assert((body("a decision").calls as unknown[]).length > 0);
  assertEquals((body("statistics").total as { failed: number }).failed, 0);
  assertEquals(body("tracker: the same step again"), body("tracker: a step"));
  assertEquals(body("tracker: another length").length, 1);
  assertEquals((body("tracker: result").curve as unknown[]).length, 2);
  assertEquals(body("tracker: a step, live").first, "appended");
  assertEquals((body("session: a log").source as { redacted: number }).redacted, 1);
  assertEquals(body("session: a log").task, "Fix [redacted].");
  for (const live of ["compare: live", "select: live", "track: live", "session: messages, live"]) {
    const { first, last, uniqueIds, middle } = body(live);
    assertEquals([first, last, uniqueIds], ["plan", "result", true], live);
    assert((middle as unknown[]).length > 0);
  }
}

/** The same for the requests with tokens. */
function checkGuarded(answers: ReadonlyMap<string, Masked>): void {
  const of = (name: string) => answers.get(name)!;
  for (
    const again of ["key: again", "key: again, live", "key: a final failure again", "key: the same tracker"]
  ) {
    assertEquals(of(again).headers["idempotent-replayed"], "true", again);
  }
  assertEquals(of("key: first").headers["idempotent-replayed"], null);
  assertEquals(of("key: again").body, of("key: first").body);
  assertEquals(of("key: the same tracker").body, of("key: a tracker").body);
  assertEquals(
    of("budget: enough").headers.ratelimit,
    '"daily-calls";r=2;t=SECONDS, "daily-usd";r=1000000;t=SECONDS',
  );
  assertEquals((of("budget: not enough").body as { code: string }).code, "budget_exhausted");
  const { budget } = of("budget: shown to its holder").body as { budget: { spent: unknown; held: unknown } };
  assertEquals((budget.spent as { calls: number }).calls, 8);
  assertEquals(budget.held, { calls: 0, tokens: 0, usd: 0 });
}

async function checkHangUp(
  server: RunningServer,
  judge: ReturnType<typeof slowJudge>,
  accept: string,
): Promise<void> {
  const connection = new AbortController();
  const response = fetch(`${server.origin}/v1/compare`, {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify({ task: "t", a: "x", b: "y", judge: "slow" }),
    signal: connection.signal,
  }).then((answer) => answer.text()).catch(() => "hung up");
  const early = await Promise.race([judge.called, response]);
  assertEquals(early, undefined, "answered before the judge was asked");
  connection.abort();
  assertEquals(await response, "hung up");
  await judge.hungUp;
}

interface Runtime {
  readonly name: string;
  readonly start: (settings: Settings) => Promise<RunningServer>;
  readonly ignore: boolean;
}

const hasWrangler = await wranglerRuns();
const RUNTIMES: readonly Runtime[] = [
  { name: "deno serve", start: startDeno, ignore: false },
  { name: "workerd", start: startWorkerd, ignore: !hasWrangler },
];

for (const { name, start, ignore } of RUNTIMES) {
  const shown = ignore ? `${name} (ignored: wrangler can't be run here)` : name;

  Deno.test(
    { name: `${shown} answers every request as the app object does, numbers included`, ignore },
    async () => {
      const judge = slowJudge();
      const common = settings(judge.baseUrl, { tokens: false });
      const server = await start(common);
      try {
        const expected = await answersOf(await appItself(common), openCases());
        checkSubstance(expected);
        const given = await answersOf(over(server), openCases());
        for (const [item, masked] of expected) assertEquals(given.get(item), masked, item);
      } finally {
        await server.stop();
        await judge.close();
      }
    },
  );

  Deno.test({ name: `${shown} asks for its token as the app object does`, ignore }, async () => {
    const common = settings("http://127.0.0.1:9/v1", { tokens: true });
    const server = await start(common);
    try {
      const expected = await answersOf(await appItself(common), guardedCases());
      checkGuarded(expected);
      const given = await answersOf(over(server), guardedCases());
      for (const [item, masked] of expected) assertEquals(given.get(item), masked, item);
    } finally {
      await server.stop();
    }
  });

  Deno.test(
    {
      name: `${shown} answers thirty requests at once, and keeps a budget and a review's limits over them`,
      ignore,
    },
    async () => {
      const server = await start(settings("http://127.0.0.1:9/v1", { tokens: true }));
      try {
        const compare = async (i: number, token: string): Promise<number> => {
          const response = await fetch(`${server.origin}/v1/compare`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
            body: JSON.stringify({ task: `t${i}`, a: "x", b: "y", criteria: ["One.", "Two."], repeats: 1 }),
          });
          await response.body?.cancel();
          return response.status;
        };
        const all = Array.from(
          { length: 30 },
          (_, i) => compare(i, i % 2 === 0 ? "token-of-ci" : "token-small"),
        );
        const statuses = await Promise.all(all);
        assertEquals(
          statuses.filter((_, i) => i % 2 === 0),
          Array(15).fill(200),
        );
        // Ten calls a day, two for each request.
        assertEquals(statuses.filter((_, i) => i % 2 === 1).sort(), [
          ...Array(5).fill(200),
          ...Array(10).fill(429),
        ]);
        const reserve = async (i: number): Promise<number> => {
          const response = await fetch(`${server.origin}/v1/reviews`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: "Bearer token-of-ci" },
            body: JSON.stringify({
              session: "s",
              task: "t",
              purpose: "compare",
              fingerprint: `f${i}`,
              calls: 1,
              limits: { session: { reviews: 5 } },
            }),
          });
          await response.body?.cancel();
          return response.status;
        };
        const reserved = await Promise.all(Array.from({ length: 30 }, (_, i) => reserve(i)));
        assertEquals(reserved.sort(), [...Array(25).fill(200), ...Array(5).fill(201)]);
      } finally {
        await server.stop();
      }
    },
  );

  for (const accept of ["application/json", "text/event-stream"]) {
    Deno.test({ name: `${shown} hangs up on the judge when its ${accept} caller does`, ignore }, async () => {
      const judge = slowJudge();
      const server = await start(settings(judge.baseUrl, { tokens: false }));
      try {
        await checkHangUp(server, judge, accept);
      } finally {
        await server.stop();
        await judge.close();
      }
    });
  }
}
