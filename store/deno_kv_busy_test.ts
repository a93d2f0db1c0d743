import { assert, assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { whenFree } from "./deno_kv_busy.ts";
import { openDenoKvStore } from "./deno_kv.ts";

Deno.test("whenFree() tries again while the database is locked, and only then", async () => {
  let runs = 0;
  const answer = await whenFree(() => {
    runs++;
    return runs < 4 ? Promise.reject(new TypeError("database is locked")) : Promise.resolve("done");
  });
  assertEquals([answer, runs], ["done", 4]);
  await assertRejects(
    () => whenFree(() => Promise.reject(new TypeError("disk full"))),
    TypeError,
    "disk full",
  );
});

Deno.test("whenFree() gives up in the end", async () => {
  let waited = 0;
  const wait = (ms: number) => {
    waited += ms;
    return Promise.resolve();
  };
  await assertRejects(
    () => whenFree(() => Promise.reject(new Error("database is locked")), wait),
    Error,
    "locked",
  );
  assert(waited >= 10_000 && waited < 10_100, String(waited));
});

Deno.test("two processes count on one deno-kv store without losing or failing a write", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const path = `${directory}/store.sqlite`;
    const script = `
      import { openDenoKvStore } from ${JSON.stringify(new URL("./deno_kv.ts", import.meta.url).href)};
      import { updateWithRetry } from ${JSON.stringify(new URL("./update.ts", import.meta.url).href)};
      const store = await openDenoKvStore(${JSON.stringify(path)});
      const plusOne = (value) => Uint8Array.of((value?.[0] ?? 0) + 1);
      for (let i = 0; i < 40; i++) await updateWithRetry(store, "count", plusOne);
      await store.put("large/" + Deno.pid, new Uint8Array(1_000_000));
      await store.close();`;
    const config = fromFileUrl(new URL("../deno.json", import.meta.url));
    const runs = await Promise.all([1, 2].map(() =>
      new Deno.Command(Deno.execPath(), {
        args: ["eval", "--quiet", "--no-check", "--config", config, script],
        stderr: "piped",
      }).output()
    ));
    for (const { success, stderr } of runs) assert(success, new TextDecoder().decode(stderr));
    const store = await openDenoKvStore(path);
    assertEquals((await store.get("count"))?.value, Uint8Array.of(80));
    assertEquals((await store.list("large/")).keys.length, 2);
    await store.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
