/**
 * 100 updates of one tracker at the same time, on every store that runs here: from one process, and from several that
 * know nothing of each other. What is checked is the log; attempts and time are only told.
 */
import { assertEquals } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import { fromFileUrl } from "@std/path";
import { fetchedStore } from "../../store/wire.ts";
import { wranglerRuns } from "../runtimes/server.ts";
import { startWorker } from "../stores/wrangler_dev.ts";
import { openDenoKvStore } from "../../store/deno_kv.ts";
import type { Store } from "../../store/store.ts";
import { parseRequest } from "../../verifier/requests.ts";
import { readTracker, startTracker, updateTracker } from "../../verifier/tracker/tracker.ts";
import { trackerStartSchema, trackerUpdateSchema } from "../../verifier/tracker/requests.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../verbs/fake_judge.ts";

const UPDATES = 100;

/** Another object for the same store. */
function view(store: Store): Store {
  return {
    kind: store.kind,
    get: (key) => store.get(key),
    put: (key, value, options) => store.put(key, value, options),
    delete: (key, options) => store.delete(key, options),
    commit: (writes) => store.commit(writes),
    list: (prefix, options) => store.list(prefix, options),
    close: () => store.close(),
  };
}

/** Counts the writes of steps; a new object is a new process to the tracker, which remembers by store object. */
function counted(store: Store): { readonly store: Store; readonly writes: () => number } {
  let writes = 0;
  return {
    writes: () => writes,
    store: {
      ...view(store),
      put: (key, value, options) => {
        if (key.includes("/step/")) writes++;
        return store.put(key, value, options);
      },
    },
  };
}

async function parallelUpdates(stores: readonly Store[], processes: number): Promise<void> {
  const store = stores[0]!;
  const judge = fakeJudge({ concurrency: 16, answer: ({ tags }) => answerWith(tags, [0.5], "progress") });
  const views = Array.from({ length: processes }, (_, i) => counted(stores[i % stores.length]!));
  const environments = views.map((view) => fakeEnvironment(judge, view.store));
  const start = parseRequest(trackerStartSchema, { task: "Count.", repeats: 1 });
  const { id } = await startTracker(environments[0]!, start);
  const started = performance.now();
  const results = await Promise.all(Array.from({ length: UPDATES }, (_, i) =>
    updateTracker(
      environments[i % processes]!,
      id,
      parseRequest(trackerUpdateSchema, { step: `update <${i}>` }),
      { idempotencyKey: `key ${i}` },
    )));
  const time = performance.now() - started;
  const attempts = views.reduce((sum, { writes }) => sum + writes(), 0);
  console.log(
    `    ${store.kind}, ${processes} process(es): ${UPDATES} updates, ${attempts} writes tried, ${
      time.toFixed(0)
    } ms`,
  );

  const indices = results.map((result) => "plan" in result ? NaN : result.step.index).sort((a, b) => a - b);
  assertEquals(indices, Array.from({ length: UPDATES }, (_, i) => i + 1));
  // Read by a process that saw nothing of it.
  const fresh = fakeEnvironment(judge, view(store));
  const read = await readTracker(fresh, id);
  assertEquals([read.length, read.warnings], [UPDATES, []]);
  assertEquals(read.steps.map(({ index, state }) => `${index} ${state}`), indices.map((i) => `${i} scored`));
  const texts = new Set<string>();
  for (const key of (await store.list(`tracker/${id}/step/`)).keys) {
    texts.add(JSON.parse(new TextDecoder().decode((await store.get(key))!.value)).text);
  }
  assertEquals(texts, new Set(Array.from({ length: UPDATES }, (_, i) => `update <${i}>`)));
  // The same keys again: the first answers, and no step more.
  const again = await Promise.all(
    Array.from(
      { length: UPDATES },
      (_, i) =>
        updateTracker(fresh, id, parseRequest(trackerUpdateSchema, { step: `update <${i}>` }), {
          idempotencyKey: `key ${i}`,
        }),
    ),
  );
  assertEquals(again, results);
  assertEquals((await readTracker(fresh, id)).length, UPDATES);
}

for (const processes of [1, 4, 100]) {
  Deno.test(`100 parallel updates over ${processes} views of a memory store give 100 ordered steps, none lost, none twice`, async () => {
    await parallelUpdates([createMemoryStore()], processes);
  });
}

for (const [connections, processes] of [[1, 1], [1, 8], [4, 8]] as const) {
  Deno.test(`100 parallel updates over ${connections} connections to one Deno KV file and ${processes} views give 100 ordered steps, none lost, none twice`, async () => {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/store.sqlite3`;
    const stores: Store[] = [];
    try {
      for (let i = 0; i < connections; i++) stores.push(await openDenoKvStore(path));
      await parallelUpdates(stores, processes);
    } finally {
      for (const store of stores) await store.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

const ignore = !await wranglerRuns();

Deno.test({
  name:
    `100 parallel updates over a Durable Object in workerd and 8 views give 100 ordered steps, none lost, none twice${
      ignore ? " (wrangler can't run here)" : ""
    }`,
  ignore,
  fn: async () => {
    const worker = await startWorker(fromFileUrl(new URL("../stores/wrangler.jsonc", import.meta.url)));
    try {
      const store = fetchedStore("cloudflare", (request) => {
        const { pathname, search } = new URL(request.url);
        return fetch(new Request(worker.url + pathname + search, request));
      });
      await parallelUpdates([store], 8);
    } finally {
      await worker.stop();
    }
  },
});
