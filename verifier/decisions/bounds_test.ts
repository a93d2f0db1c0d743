import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  boundCallTexts,
  boundCaptureText,
  captureText,
  evenSpread,
  MAXIMUM_CALL_TEXTS,
  MAXIMUM_DECISION_CHARACTERS,
} from "./bounds.ts";
import { redact, REDACTED } from "../redaction/redact.ts";

/** Texts of many lengths, with characters beyond the basic plane. */
const text = (longest: number) =>
  fc.tuple(fc.integer({ min: 0, max: longest }), fc.constantFrom("a", "é", "😀", "x😀", "日本")).map((
    [length, unit],
  ) => unit.repeat(length));

Deno.test("never more than 32 calls and 30,000 characters, whatever comes, and no surrogate pair is split", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          label: text(300),
          channel: text(60),
          prompt: fc.tuple(text(20_000), text(900)),
          output: text(9000),
        }),
        { maxLength: 90, size: "max" },
      ),
      (calls) => {
        const kept = boundCallTexts(calls);
        assert(kept.length <= MAXIMUM_CALL_TEXTS);
        let total = 0;
        for (const { index, prompt, output } of kept) {
          total += Math.min(200, calls[index]!.label.length) + Math.min(40, calls[index]!.channel.length);
          total += prompt.length + output.length;
          assert(prompt.isWellFormed() && output.isWellFormed());
          assert(prompt.length <= 8000 && output.length <= 4000);
          assert(calls[index]!.prompt.join("").startsWith(prompt.split("\n")[0]!));
        }
        assert(total <= MAXIMUM_DECISION_CHARACTERS, `${total} characters`);
        const indices = kept.map(({ index }) => index);
        assertEquals(indices, [...new Set(indices)].sort((x, y) => x - y));
        if (calls.length > 0) assertEquals(indices[0], 0);
      },
    ),
    { numRuns: 100 },
  );
});

Deno.test("a cut text holds its head, its tail and the number of characters between them", () => {
  fc.assert(fc.property(text(3000), fc.integer({ min: 0, max: 2000 }), (whole, most) => {
    const cut = boundCaptureText(whole, most);
    assert(cut.length <= most && cut.isWellFormed());
    if (whole.length <= most) return assertEquals(cut, whole);
    const marker = /\n\[(\d+) characters omitted\]\n/.exec(cut);
    if (most < 256) return assert(marker === null && whole.startsWith(cut));
    assert(marker !== null);
    const [head, tail] = [cut.slice(0, marker.index), cut.slice(marker.index + marker[0].length)];
    assert(whole.startsWith(head) && whole.endsWith(tail));
    // A pair at a cut goes as a whole, so up to two characters more may be missing.
    const omitted = whole.length - head.length - tail.length;
    assert(
      omitted - Number(marker[1]) >= 0 && omitted - Number(marker[1]) <= 2,
      `${omitted} and ${marker[1]}`,
    );
  }));
});

Deno.test("evenSpread() keeps first and last, in order and without repeats", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 2, max: 64 }), (count, most) => {
    const indices = evenSpread(count, most);
    assertEquals(indices.length, Math.min(count, most));
    assertEquals(new Set(indices).size, indices.length);
    if (count > 0) assertEquals([indices[0], indices.at(-1)], [0, count - 1]);
    const gaps = indices.slice(1).map((index, i) => index - indices[i]!);
    if (gaps.length > 0) assert(Math.max(...gaps) - Math.min(...gaps) <= 1);
  }));
});

Deno.test("a secret is taken out before a text is cut, wherever it stands in however long a text", () => {
  const secret = "sk-" + "Zz9".repeat(20);
  const filler = "lorem ipsum ".repeat(20_000);
  for (
    const at of [
      0,
      1,
      3970,
      4000,
      44_000,
      120_000,
      filler.length - 44_000,
      filler.length - 3990,
      filler.length,
    ]
  ) {
    const whole = `${filler.slice(0, at)} ${secret} ${filler.slice(at)}`;
    const cut = captureText([whole], 8000, redact);
    assert(cut.length <= 8000);
    for (let i = 0; i + 12 <= secret.length; i++) assert(!cut.includes(secret.slice(i, i + 12)), `at ${at}`);
  }
  const pem = `-----BEGIN PRIVATE KEY-----\n${"QUJD".repeat(30_000)}\n-----END PRIVATE KEY-----`;
  for (const whole of [pem + filler, filler + pem, filler + pem + filler.slice(0, 100)]) {
    const cut = captureText([whole], 4000, redact);
    assert(!cut.includes("QUJDQUJD") && cut.length <= 4000);
  }
  const packed = `${"x".repeat(100)}\n`.repeat(10) + `password=${"s3cr3t".repeat(200)}\n`.repeat(200);
  assert(!captureText([packed], 4000, redact).includes("s3cr3t"));
  assert(captureText([packed], 4000, redact).includes(REDACTED));
});

Deno.test("no part of a secret gets through at the borders of what is redacted, at any offset", () => {
  const secrets = [
    "ghp_" + "Qx7".repeat(12),
    "Bearer " + "Vz8".repeat(20),
    `password="${"Wy9".repeat(30)}"`,
    "eyJ" + "Kj6".repeat(200) + "." + "Kj6".repeat(300) + ".",
  ];
  const filler = "lorem ipsum dolor\n".repeat(5000);
  const most = 4000;
  const window = most + 28_000;
  const borders = [most / 2, window, filler.length - window, filler.length - most / 2];
  fc.assert(
    fc.property(
      fc.constantFrom(...secrets),
      fc.constantFrom(...borders),
      fc.integer({ min: -1800, max: 1800 }),
      (secret, border, offset) => {
        const at = Math.min(filler.length, Math.max(0, border + offset));
        const cut = captureText([`${filler.slice(0, at)} ${secret} ${filler.slice(at)}`], most, redact);
        assert(cut.length <= most && !/(?:Qx7|Vz8|Wy9|Kj6)/.test(cut), `at ${at}`);
      },
    ),
    { numRuns: 400 },
  );
});
