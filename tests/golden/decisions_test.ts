/**
 * Recorded results of a published port for how much text of a decision is kept.
 *
 * Differences on purpose:
 * - what stands in for a secret is `[redacted]`, in small letters (same length);
 * - scores are no part of the texts: they are kept in full for every call, so the vectors about scores don't apply;
 * - with absurdly long labels the texts of the last calls are left out, as there, but the calls themselves stay.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { boundCallTexts, boundCaptureText } from "../../verifier/decisions/bounds.ts";
import { redact } from "../../verifier/redaction/redact.ts";

// deno-lint-ignore no-explicit-any
type Golden = any;

function read(): Golden | null {
  try {
    const file = new URL("../../../shared/golden/dsh_llm_verifier.json", import.meta.url);
    return JSON.parse(Deno.readTextFileSync(file)).groups;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

const golden = read();
const ignore = golden === null;
const note = ignore ? " (skipped: ../shared/golden is not there)" : "";
/** The port's channel of these vectors has twelve characters. */
const CHANNEL = "explicit_tag";

Deno.test({
  name: `the texts of a decision's calls are cut to the recorded lengths${note}`,
  ignore,
  fn: () => {
    let compared = 0;
    for (const { id, input, result } of golden.boundDecisionCalls.vectors) {
      if (id === "redact") continue;
      const labelOf = (i: number) => id.startsWith("long_labels") ? "L".repeat(200) : `c${i}`;
      const calls = Array.from({ length: input.count }, (_, i) => ({
        label: labelOf(i),
        channel: CHANNEL,
        prompt: ["H" + "p".repeat(Math.max(0, input.prompt_len - 2)) + "T"],
        output: "H" + "o".repeat(Math.max(0, input.output_len - 2)) + "T",
      }));
      const kept = boundCallTexts(calls);
      assertEquals(kept.length, result.count, id);
      assertEquals([...new Set(kept.map(({ prompt }) => prompt.length))], result.prompt_lens, id);
      assertEquals([...new Set(kept.map(({ output }) => output.length))], result.output_lens, id);
      const total = kept.reduce(
        (sum, { index, prompt, output }) =>
          sum + labelOf(index).length + CHANNEL.length + prompt.length + output.length,
        0,
      );
      assertEquals(total, result.total_chars, id);
      if (result.labels !== undefined) {
        assertEquals(kept.map(({ index }) => labelOf(index)), result.labels, id);
      }
      assertEquals(kept.every(({ prompt }) => prompt.startsWith("H")), result.head_kept, id);
      assertEquals(kept.every(({ prompt }) => prompt.endsWith("T")), result.tail_kept, id);
      compared++;
    }
    assertEquals(compared, 11);
  },
});

Deno.test({
  name: `secrets leave a decision's texts as recorded, but for the letter case of the mark${note}`,
  ignore,
  fn: () => {
    const { result } = golden.boundDecisionCalls.vectors.find(({ id }: Golden) => id === "redact");
    // The port's inputs are not part of the recording; these have its lengths and fit its results.
    const [kept] = boundCallTexts([{
      label: "l",
      channel: CHANNEL,
      prompt: ["Authorization: Bearer abcdefgh12345678 rest"],
      output: "sk-abcdefghij sk-1234567890x",
    }], redact);
    assertEquals(kept?.prompt.toLowerCase(), result.prompt.toLowerCase());
    assertEquals(kept?.output.toLowerCase(), result.output.toLowerCase());
  },
});

Deno.test({
  name: `a text that is too long keeps head and tail as recorded${note}`,
  ignore,
  fn: () => {
    for (const { text_len, max, value_len, keeps_head, keeps_tail } of golden.boundCaptureText.vectors) {
      const text = "HEAD" + "x".repeat(text_len - 8) + "TAIL";
      const value = boundCaptureText(text, max);
      assertEquals(value.length, value_len);
      assertEquals([value.startsWith("HEAD"), value.endsWith("TAIL")], [keeps_head, keeps_tail]);
    }
    assert(golden.boundCaptureText.vectors.length === 8);
  },
});
