import { assertEquals, assertRejects } from "@std/assert";
import { inTime } from "./patience.ts";
import { StoreError } from "./store.ts";

Deno.test("inTime() gives back what the operation does", async () => {
  assertEquals(await inTime(Promise.resolve(7)), 7);
  await assertRejects(() => inTime(Promise.reject(new RangeError("no"))), RangeError);
});

Deno.test("inTime() takes an operation that never ends for a store that is down", async () => {
  await assertRejects(() => inTime(new Promise<never>(() => {}), 1), StoreError, "did not answer");
});
