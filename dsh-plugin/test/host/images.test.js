// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { readImages } from "../../lib/host/images.js";
import { fakeContext } from "../fakes/host.js";

/** @param {string} id @param {object} [more] */
const ref = (id, more = {}) => ({ attachmentId: id, mediaType: "image/png", bytes: 3, ...more });
/** @param {readonly string[]} ids */
const stored = (ids) =>
  Object.fromEntries(ids.map((id) => [id, { data: new Uint8Array([1, 2, 3]), mediaType: "image/png" }]));

test("the newest images become data URLs, oldest first, repeated ones once", async () => {
  const ids = ["a", "b", "c", "d"];
  const ctx = fakeContext({ images: stored(ids) });
  const { urls, skipped } = await readImages(ctx, [ref("a"), ref("b"), ref("a"), ref("c"), ref("d")], {
    limit: 3,
  });
  assert.deepEqual(urls, Array(3).fill("data:image/png;base64,AQID"));
  assert.deepEqual(skipped, [{ reason: "image a: only the newest 3 images are sent" }]);
  assert.equal(ctx.seen.images, 3);
});

test("bytes are taken from their own window of a shared buffer", async () => {
  const images = { a: { data: new Uint8Array([9, 9, 1, 2, 3, 9]).subarray(2, 5), mediaType: "image/webp" } };
  const { urls } = await readImages(fakeContext({ images }), [ref("a")]);
  assert.deepEqual(urls, ["data:image/webp;base64,AQID"]);
});

test("what can't be sent is left out with its reason and fails nothing", async () => {
  const ctx = fakeContext({ images: stored(["a"]) });
  const { urls, skipped } = await readImages(ctx, [
    ref("gone", { name: "shot.png" }),
    ref("svg", { mediaType: "image/svg+xml" }),
    ref("big", { bytes: 20 * 1024 * 1024 + 1 }),
    ref("a"),
  ]);
  assert.equal(urls.length, 1);
  assert.deepEqual(skipped.map(({ reason }) => reason), [
    "image big: 20971521 bytes are more than 20971520",
    "image svg: image/svg+xml is not among png, jpeg, webp and gif",
    'image "shot.png": the attachment is missing from the store',
  ]);
});

test("the images of one request keep within what the server takes, the newest first", async () => {
  const data = new Uint8Array(15 * 1024 * 1024);
  const images = Object.fromEntries(["a", "b", "c"].map((id) => [id, { data, mediaType: "image/png" }]));
  const refs = ["a", "b", "c"].map((id) => ref(id, { bytes: data.length }));
  const { urls, skipped } = await readImages(fakeContext({ images }), refs);
  assert.equal(urls.length, 2);
  assert.match(skipped[0]?.reason ?? "", /^image a: .*together/);
});

test("a host without attachments sends none, a cancelled call ends with aborted", async () => {
  const none = /** @type {any} */ ({ get: () => undefined });
  assert.deepEqual(await readImages(none, [ref("a")]), {
    urls: [],
    skipped: [{ reason: "image a: the host stores no attachments" }],
  });
  assert.deepEqual(await readImages(none, []), { urls: [], skipped: [] });
  const controller = new AbortController();
  controller.abort({ kind: "user" });
  const ctx = fakeContext({ images: stored(["a"]) });
  await assert.rejects(readImages(ctx, [ref("a")], { signal: controller.signal }), { code: "aborted" });
});
