/**
 * What every store must do, as one suite: `storeConformance("memory", () => createMemoryStore())`.
 *
 * It talks to the store only through its interface, so it also runs against one behind a `fetch`.
 *
 * @module
 */
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { compareKeys, MAXIMUM_COMMIT } from "./keys.ts";
import type { Store } from "./store.ts";
import { updateWithRetry } from "./update.ts";

const encoder = new TextEncoder();
const bytes = (text: string): Uint8Array => encoder.encode(text);
const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value);

/** Every key under a prefix, page by page. */
async function allKeys(
  store: Store,
  prefix: string,
  limit: number,
): Promise<{ keys: string[]; pages: number }> {
  const keys: string[] = [];
  let cursor: string | null | undefined;
  let pages = 0;
  while (cursor !== null) {
    const page: { readonly keys: readonly string[]; readonly cursor: string | null } = await store.list(
      prefix,
      cursor === undefined ? { limit } : { limit, cursor },
    );
    assert(page.keys.length <= limit, `a page of ${page.keys.length} keys for a limit of ${limit}`);
    keys.push(...page.keys);
    cursor = page.cursor;
    pages++;
    assert(pages < 1000, "the listing never ends");
  }
  return { keys, pages };
}

/** Bytes that no text encoding survives, reproducible. */
function noise(length: number, seed: number): Uint8Array {
  const out = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out[i] = state & 0xff;
  }
  return out;
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never happened: ${what}`);
}

/** What the suite is told about a store. */
export interface ConformanceOptions {
  /** Prefixes whose keys the whole suite is run under. Default one, `t/`. */
  readonly prefix?: string;
  /** Whether compare-and-set against a version, and commits, are available under the prefix. Default true. */
  readonly compareAndSet?: boolean;
  readonly ignore?: boolean;
}

/** Registers the suite as one test with a step per promise. `open` must give an empty store. */
export function storeConformance(
  name: string,
  open: () => Store | Promise<Store>,
  options: ConformanceOptions = {},
): void {
  const { prefix: at = "t/", compareAndSet = true, ignore = false } = options;
  Deno.test({
    name: `the ${name} store keeps the store contract under "${at}"`,
    ignore,
    fn: async (t) => {
      const store = await open();
      try {
        await values(t, store, at);
        await listing(t, store, at);
        await lifetimes(t, store, at);
        await badInput(t, store, at);
        if (compareAndSet) {
          await contention(t, store, at);
          await commits(t, store, at);
        }
      } finally {
        await store.close();
      }
    },
  });
}

async function values(t: Deno.TestContext, store: Store, at: string): Promise<void> {
  const cases: [string, Uint8Array][] = [
    ["empty", new Uint8Array()],
    ["the character 0", bytes("0")],
    ["binary", Uint8Array.from({ length: 256 }, (_, i) => i)],
    ["70,000 ASCII characters", bytes("x".repeat(70_000))],
    ["25,000 times 日", bytes("日".repeat(25_000))],
    ["4,096 bytes", noise(4096, 20)],
    ["4,097 bytes", noise(4097, 21)],
    ["64,000 bytes", noise(64_000, 1)],
    ["64,001 bytes", noise(64_001, 2)],
    ["5 MB", noise(5_000_000, 3)],
  ];
  for (const [what, value] of cases) {
    await t.step(`a value comes back byte for byte: ${what}`, async () => {
      const key = `${at}value/${what}`;
      const version = await store.put(key, value);
      assert(typeof version === "string" && version.length > 0);
      const entry = await store.get(key);
      assertEquals(entry?.key, key);
      assertEquals(entry?.version, version);
      assertEquals(entry?.value.length, value.length);
      assert(entry!.value.every((byte, i) => byte === value[i]), "bytes differ");
    });
  }

  await t.step("what was never written is null", async () => {
    assertEquals(await store.get(`${at}absent`), null);
  });

  await t.step("a shorter value replaces a longer one whole, and a longer a shorter", async () => {
    const key = `${at}overwrite`;
    const first = await store.put(key, noise(3_000_000, 4));
    const second = await store.put(key, bytes("short"));
    assertNotEquals(first, second);
    assertEquals(text((await store.get(key))?.value), "short");
    await store.put(key, noise(200_000, 5));
    assertEquals((await store.get(key))?.value, noise(200_000, 5));
    await store.put(key, noise(100_000, 6));
    assertEquals((await store.get(key))?.value, noise(100_000, 6));
    for (const length of [10_000, 3000, 20_000, 70_000, 2000, 0, 30_000]) {
      await store.put(key, noise(length, length + 1));
      assertEquals((await store.get(key))?.value, noise(length, length + 1));
    }
  });

  await t.step("many reads at once each find their own", async () => {
    const sizes = Array.from({ length: 23 }, (_, i) => [10, 5000, 100_000][i % 3]! + i);
    await Promise.all(sizes.map((size) => store.put(`${at}many/${size}`, noise(size, size))));
    const keys = [...sizes.map((size) => `${at}many/${size}`), `${at}many/absent`, `${at}many/10`];
    const found = await Promise.all(keys.map((key) => store.get(key)));
    assertEquals(found.map((entry) => entry?.key), [...keys.slice(0, 23), undefined, keys[24]]);
    sizes.forEach((size, i) => assertEquals(found[i]?.value, noise(size, size)));
  });

  await t.step("what a caller does to its array afterwards changes nothing", async () => {
    const key = `${at}own copy`;
    const value = bytes("before");
    await store.put(key, value);
    value.fill(0);
    const read = await store.get(key);
    read!.value.fill(0);
    assertEquals(text((await store.get(key))?.value), "before");
  });

  await t.step("a deleted key is gone, and deleting what is absent is fine", async () => {
    const key = `${at}deleted`;
    await store.put(key, noise(150_000, 7));
    assertEquals(await store.delete(key), true);
    assertEquals(await store.get(key), null);
    assertEquals(await store.delete(key), true);
    assertEquals((await store.list(key)).keys, []);
  });
}

async function listing(t: Deno.TestContext, store: Store, at: string): Promise<void> {
  await t.step("a listing pages through all keys of a prefix in the order of their bytes", async () => {
    const names = Array.from({ length: 57 }, (_, i) => `${at}list/${i}`);
    await Promise.all(names.map((key) => store.put(key, bytes(key))));
    const expected = [...names].sort(compareKeys);
    assertEquals(await allKeys(store, `${at}list/`, 10), { keys: expected, pages: 6 });
    assertEquals(await allKeys(store, `${at}list/`, 57), { keys: expected, pages: 1 });
    assertEquals((await allKeys(store, `${at}list/`, 1)).keys, expected);
    assertEquals((await store.list(`${at}list/`)).keys, expected);
  });

  await t.step("a prefix matches text, not path segments, and no neighbour", async () => {
    const names = [
      "a",
      "a!",
      "a/",
      "a/b",
      "ab",
      "b",
      "日",
      "日本",
      "\uffff",
      "\u{10000}",
      "a\u0000b",
      "%",
      "a_",
    ];
    for (const name of names) await store.put(`${at}edge/${name}`, bytes("0"));
    const under = async (prefix: string) =>
      (await allKeys(store, `${at}edge/${prefix}`, 3)).keys.map((key) => key.slice(`${at}edge/`.length));
    assertEquals(await under(""), [...names].sort(compareKeys));
    assertEquals(await under("a"), ["a", "a\u0000b", "a!", "a/", "a/b", "a_", "ab"]);
    assertEquals(await under("a/"), ["a/", "a/b"]);
    assertEquals(await under("%"), ["%"]);
    assertEquals(await under("日"), ["日", "日本"]);
    assertEquals(await under("\uffff"), ["\uffff"]);
    assertEquals(await under("c"), []);
  });

  await t.step("the empty prefix lists everything", async () => {
    const { keys } = await allKeys(store, "", 1000);
    assert(keys.includes(`${at}list/0`) && keys.includes(`${at}edge/a`));
    assertEquals(keys, [...keys].sort(compareKeys));
  });

  await t.step("a deleted last key of a page doesn't lose the next page", async () => {
    const first = await store.list(`${at}list/`, { limit: 5 });
    await store.delete(first.keys[4]!);
    const second = await store.list(`${at}list/`, { limit: 5, cursor: first.cursor! });
    const rest = (await store.list(`${at}list/`)).keys.filter((key) => !first.keys.includes(key));
    assertEquals(second.keys, rest.slice(0, 5));
  });

  await t.step("keys of 512 bytes work everywhere", async () => {
    const key = (at + "k".repeat(512)).slice(0, 512);
    await store.put(key, bytes("long"));
    assertEquals(text((await store.get(key))?.value), "long");
    assertEquals((await store.list(key)).keys, [key]);
    await store.delete(key);
  });
}

async function lifetimes(t: Deno.TestContext, store: Store, at: string): Promise<void> {
  await t.step("a value with a lifetime is there before it ends and gone after", async () => {
    const lasting = `${at}expiry/lasting`;
    const brief = `${at}expiry/brief`;
    await store.put(lasting, bytes("x"), { expiresInMs: 3_600_000 });
    await store.put(brief, noise(100_000, 8), { expiresInMs: 1 });
    await until(async () => await store.get(brief) === null, "the value with 1 ms to live is gone");
    assertEquals(text((await store.get(lasting))?.value), "x");
    assertEquals((await store.list(`${at}expiry/`)).keys, [lasting]);
  });

  await t.step("a write without a lifetime ends an older one", async () => {
    const key = `${at}expiry/renewed`;
    await store.put(key, bytes("old"), { expiresInMs: 1 });
    await store.put(key, bytes("new"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    assertEquals(text((await store.get(key))?.value), "new");
  });

  await t.step("an expired value counts as absent for a conditional write", async () => {
    const key = `${at}expiry/conditional`;
    await store.put(key, bytes("old"), { expiresInMs: 1 });
    await until(async () => await store.get(key) === null, "the value with 1 ms to live is gone");
    assert(await store.put(key, bytes("new"), { ifVersion: null }) !== null);
    assertEquals(await store.put(key, bytes("newer"), { ifVersion: null }), null);
    assertEquals(text((await store.get(key))?.value), "new");
  });
}

async function badInput(t: Deno.TestContext, store: Store, at: string): Promise<void> {
  await t.step(
    "keys, prefixes, limits and lifetimes that can't be are RangeErrors that say what is wrong",
    async () => {
      const none = new Uint8Array();
      for (
        const [key, message] of [["", "empty key"], [`${at}${"k".repeat(512)}`, "at most 512"], [
          `${at}\ud800`,
          "surrogate",
        ]]
      ) {
        await assertRejects(() => store.get(key!), RangeError, message);
        await assertRejects(() => store.put(key!, none), RangeError, message);
        await assertRejects(() => store.delete(key!), RangeError, message);
      }
      await assertRejects(() => store.list("p".repeat(513)), RangeError, "at most 512");
      for (const limit of [0, -1, 0.5, 1001]) {
        await assertRejects(
          () => store.list(at, { limit }),
          RangeError,
          "limit",
        );
      }
      for (const expiresInMs of [0, -5, NaN]) {
        await assertRejects(() => store.put(`${at}bad`, none, { expiresInMs }), RangeError, "expire");
      }
      assertEquals(await store.get(`${at}bad`), null);
    },
  );
}

async function contention(t: Deno.TestContext, store: Store, at: string): Promise<void> {
  await t.step("compare-and-set writes only what it saw", async () => {
    const key = `${at}cas/one`;
    const first = await store.put(key, bytes("1"), { ifVersion: null });
    assert(first !== null);
    assertEquals(await store.put(key, bytes("again"), { ifVersion: null }), null);
    const second = await store.put(key, bytes("2"), { ifVersion: first });
    assert(second !== null && second !== first);
    assertEquals(await store.put(key, bytes("3"), { ifVersion: first }), null);
    assertEquals(await store.put(`${key}/absent`, bytes("3"), { ifVersion: first }), null);
    assertEquals(text((await store.get(key))?.value), "2");
    assertEquals(await store.delete(key, { ifVersion: first }), false);
    assertEquals(await store.delete(`${key}/absent`, { ifVersion: first }), false);
    assertEquals(await store.delete(key, { ifVersion: second }), true);
    assertEquals(await store.put(key, bytes("4"), { ifVersion: second }), null);
    const third = await store.put(key, bytes("1"), { ifVersion: null });
    assert(third !== null && third !== first, "a version came back after a delete");
  });

  await t.step("of 50 parallel first writes exactly one wins", async () => {
    const key = `${at}cas/first`;
    const versions = await Promise.all(
      Array.from({ length: 50 }, (_, i) => store.put(key, bytes(String(i)), { ifVersion: null })),
    );
    const winners = versions.flatMap((version, i) => version === null ? [] : [i]);
    assertEquals(winners.length, 1);
    assertEquals(text((await store.get(key))?.value), String(winners[0]));
  });

  await t.step("100 parallel increments count to 100", async () => {
    const key = `${at}cas/counter`;
    const increment = (value: Uint8Array | null) =>
      bytes(String(value === null ? 1 : Number(text(value)) + 1));
    await Promise.all(Array.from({ length: 100 }, () => updateWithRetry(store, key, increment)));
    assertEquals(text((await store.get(key))?.value), "100");
  });

  await t.step("a reader never sees a half of a value that is being replaced", async () => {
    const key = `${at}cas/whole`;
    const value = (mark: number) => new Uint8Array(150_000 + 70_000 * (mark % 3)).fill(mark);
    await store.put(key, value(0));
    let writing = true;
    const writer = (async () => {
      for (let mark = 1; mark <= 30; mark++) await store.put(key, value(mark));
      writing = false;
    })();
    let reads = 0;
    while (writing) {
      const read = (await store.get(key))!.value;
      assertEquals(read.length, value(read[0]!).length);
      assert(read.every((byte) => byte === read[0]), "two writes are mixed in one value");
      reads++;
    }
    await writer;
    assert(reads > 0);
    assertEquals((await store.get(key))?.value, value(30));
  });
}

async function commits(t: Deno.TestContext, store: Store, at: string): Promise<void> {
  const read = async (key: string) => (await store.get(key))?.value ?? null;

  await t.step("a commit writes, replaces and removes everything it names, of any size", async () => {
    const [small, large, old, gone, brief] = ["small", "large", "old", "gone", "brief"].map((n) =>
      `${at}all/${n}`
    );
    await store.put(old!, noise(150_000, 10));
    await store.put(gone!, noise(150_000, 11));
    const value = bytes("small");
    const committed = store.commit([
      { key: small!, value, ifVersion: null },
      { key: large!, value: noise(300_000, 12) },
      { key: old!, value: new Uint8Array() },
      { key: gone!, value: null },
      { key: `${at}all/never`, value: null },
      { key: brief!, value: noise(100_000, 13), expiresInMs: 1 },
    ]);
    value.fill(0);
    assertEquals(await committed, true);
    assertEquals(await read(small!), bytes("small"));
    assertEquals(await read(large!), noise(300_000, 12));
    assertEquals(await read(old!), new Uint8Array());
    await until(async () => await store.get(brief!) === null, "the value with 1 ms to live is gone");
    assertEquals((await store.list(`${at}all/`)).keys, [large!, old!, small!]);
    assertEquals(await store.commit([]), true);
  });

  await t.step("a commit of which one condition doesn't hold changes nothing", async () => {
    const [first, second, third] = ["1", "2", "3"].map((n) => `${at}none/${n}`);
    const stale = await store.put(first!, bytes("a"));
    const version = await store.put(first!, bytes("b"));
    const around = [{ key: second!, value: noise(200_000, 14) }, {
      key: third!,
      value: bytes("c"),
      ifVersion: null,
    }];
    for (
      const wrong of [
        { key: first!, value: bytes("d"), ifVersion: stale },
        { key: first!, value: bytes("d"), ifVersion: null },
        { key: first!, value: null, ifVersion: stale },
        { key: `${at}none/4`, value: bytes("d"), ifVersion: version },
      ]
    ) {
      assertEquals(await store.commit([around[0]!, wrong, around[1]!]), false);
      assertEquals(text((await store.get(first!))?.value), "b");
      assertEquals((await store.list(`${at}none/`)).keys, [first!]);
    }
    assertEquals(await store.commit([...around, { key: first!, value: null, ifVersion: version }]), true);
    assertEquals((await store.list(`${at}none/`)).keys, [second!, third!]);
  });

  await t.step(
    `a commit takes ${MAXIMUM_COMMIT} long keys and megabytes, and refuses what it can't take`,
    async () => {
      const writes = Array.from({ length: MAXIMUM_COMMIT + 1 }, (_, i) => ({
        key: `${at}most/${i}/`.padEnd(512, "k"),
        value: noise(60_000 + 200 * i, i),
      }));
      for (const most of [writes.slice(1), writes.slice(0, -1)]) {
        assertEquals(await store.commit(most), true);
        for (const { key, value } of most) assertEquals(await read(key), value);
      }
      assertEquals(await store.commit(writes.slice(1).map(({ key }) => ({ key, value: null }))), true);
      assertEquals((await store.list(`${at}most/`)).keys, [writes[0]!.key]);
      const fine = { key: `${at}fine`, value: bytes("x") };
      await assertRejects(() => store.commit(writes), RangeError, `at most ${MAXIMUM_COMMIT}`);
      await assertRejects(() => store.commit([fine, fine]), RangeError, "two writes of the key");
      await assertRejects(() => store.commit([fine, { ...fine, key: "" }]), RangeError, "empty key");
      await assertRejects(
        () => store.commit([fine, { ...fine, key: `${at}bad`, expiresInMs: 0 }]),
        RangeError,
        "expire",
      );
      assertEquals(await store.get(fine.key), null);
    },
  );

  await t.step("of parallel commits over common keys one wins, and what it wrote is whole", async () => {
    const keys = ["x", "y", "z"].map((name) => `${at}race/${name}`);
    const won = await Promise.all(Array.from({ length: 30 }, (_, i) => {
      // Each one has two of the three, so every two share one.
      const own = keys.filter((_, k) => k !== i % 3);
      return store.commit(own.map((key) => ({ key, value: bytes(String(i)), ifVersion: null })));
    }));
    assertEquals(won.filter(Boolean).length, 1);
    const winner = won.indexOf(true);
    const found = await Promise.all(keys.map(read));
    assertEquals(
      found.map((value, k) => k === winner % 3 ? value === null : text(value!) === String(winner)),
      [
        true,
        true,
        true,
      ],
    );
  });

  await t.step("parallel transfers between two keys lose nothing", async () => {
    const [from, to] = [`${at}account/from`, `${at}account/to`];
    await store.commit([{ key: from, value: bytes("20") }, { key: to, value: bytes("0") }]);
    const transfer = async () => {
      for (;;) {
        const [x, y] = [(await store.get(from))!, (await store.get(to))!];
        const moved = await store.commit([
          { key: from, value: bytes(String(Number(text(x.value)) - 1)), ifVersion: x.version },
          { key: to, value: bytes(String(Number(text(y.value)) + 1)), ifVersion: y.version },
        ]);
        if (moved) return;
        await new Promise((resolve) => setTimeout(resolve, 20 * Math.random()));
      }
    };
    await Promise.all(Array.from({ length: 20 }, transfer));
    assertEquals([text((await store.get(from))!.value), text((await store.get(to))!.value)], ["0", "20"]);
  });
}
