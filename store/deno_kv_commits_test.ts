import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Change, GroupCommit } from "./deno_kv_commits.ts";

async function withKv(run: (kv: Deno.Kv, commits: GroupCommit) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await run(kv, new GroupCommit(kv));
  } finally {
    kv.close();
  }
}

/** A change of `name` that holds only if it isn't there yet. */
const first = (name: string, bytes = 10): Change => ({
  names: [name],
  bytes,
  keyBytes: 100,
  checks: [{ key: [name], versionstamp: null }],
  apply: (atomic) => atomic.set([name], "x".repeat(bytes)),
});

Deno.test("GroupCommit commits writes that come together as one", () =>
  withKv(async (kv, commits) => {
    const results = await Promise.all(["a", "b", "c"].map((name) => commits.commit(first(name))));
    const stamps = results.map((result) => result.ok ? result.versionstamp : null);
    assert(stamps[0] !== null);
    assertEquals(new Set(stamps).size, 1);
    assertEquals((await kv.get(["b"])).value, "x".repeat(10));
  }));

Deno.test("GroupCommit refuses only the write whose check did not hold", () =>
  withKv(async (kv, commits) => {
    await kv.set(["b"], "already");
    const results = await Promise.all(["a", "b", "c"].map((name) => commits.commit(first(name))));
    assertEquals(results.map(({ ok }) => ok), [true, false, true]);
    assertEquals((await kv.get(["b"])).value, "already");
  }));

Deno.test("GroupCommit never lets two writes of one name win on the same check", () =>
  withKv(async (_, commits) => {
    const results = await Promise.all(["a", "a", "b", "a"].map((name) => commits.commit(first(name))));
    assertEquals(results.map(({ ok }) => ok), [true, false, true, false]);
  }));

Deno.test("GroupCommit keeps a change of many names whole, and apart from any that shares one of them", () =>
  withKv(async (kv, commits) => {
    const both = { ...first("b"), names: ["a", "b"], checks: ["a", "b"].map((n) => first(n).checks[0]!) };
    const results = await Promise.all(
      [first("a"), both, first("c"), first("b")].map((one) => commits.commit(one)),
    );
    assertEquals(results.map(({ ok }) => ok), [true, false, true, true]);
    assertEquals((await kv.get(["b"])).value, "x".repeat(10));
  }));

Deno.test("GroupCommit splits what is too much for one commit, and fails only the write that can't be made", () =>
  withKv(async (kv, commits) => {
    const names = Array.from({ length: 120 }, (_, i) => `n${i}`);
    const writes = names.map((name) => commits.commit(first(name, 20_000)));
    const tooLarge = assertRejects(() => commits.commit(first("large", 70_000)), TypeError);
    assert((await Promise.all(writes)).every(({ ok }) => ok));
    await tooLarge;
    assertEquals((await kv.get(["n119"])).value, "x".repeat(20_000));
    assertEquals((await kv.get(["large"])).value, null);
  }));
