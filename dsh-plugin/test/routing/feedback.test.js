// @ts-check
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { readResult } from "../../lib/routing/envelopes.js";
import { compareFeedback, selectFeedback } from "../../lib/routing/feedback.js";
import { bothEnds, cut, message, oneLine } from "../../lib/routing/quote.js";
import { compareAnswer, envelope, selectAnswer } from "../fakes/routing.js";

/** @param {readonly string[]} contents @param {Record<string, unknown>} [more] @returns {any} */
const group = (contents, more) => readResult(JSON.stringify(envelope(contents, more)), 1);
/** @param {any} envelope @param {Record<string, unknown>} [more] */
const compared = (envelope, more) => compareFeedback(envelope, /** @type {any} */ (compareAnswer(more)));
/** @param {any} envelope @param {readonly Record<string, unknown>[]} rows @param {Record<string, unknown>} [more] */
const ranked = (envelope, rows, more) =>
  selectFeedback(envelope, /** @type {any} */ (selectAnswer(rows, more)));

describe("what the agent is told of a comparison", () => {
  test("names the winner by place, label and id, with rewards, margin and uncertainty, and no candidate's text", () => {
    const value = group(["SECRET CONTENT A", "SECRET CONTENT B"], {
      candidates: [
        { id: "fast", label: "Fast path", status: "completed", content: "SECRET CONTENT A" },
        { id: "safe", status: "completed", content: "SECRET CONTENT B" },
      ],
    });
    const { text, summary } = compared(value);
    assert.match(text, /candidate group "g1": 2 finished pieces of work/);
    assert.match(
      text,
      /Winner: candidate 1 "Fast path" \("fast"\), reward 0\.800; candidate 2 \("safe"\) has 0\.400\./,
    );
    assert.match(text, /Margin 0\.400 ± 0\.030 \(standard error\)\./);
    assert.match(text, /- Correctness: 0\.800 against 0\.400/);
    assert.match(text, /1\. Go on with candidate 1: put it into place/);
    assert.doesNotMatch(text, /SECRET/);
    assert.equal(summary, 'Assay review of "g1": candidate 1 of 2 wins, 0.800 against 0.400');
  });

  test("says of the second candidate's win what it says of the first's", () => {
    const { text } = compared(group(["a", "b"]), { winner: "B", rewardA: 0.1, rewardB: 0.9, margin: -0.8 });
    assert.match(
      text,
      /Winner: candidate 2 \("c2"\), reward 0\.900; candidate 1 \("c1"\) has 0\.100\. Margin 0\.800/,
    );
    assert.match(text, /Go on with candidate 2/);
  });

  test("says when a margin is hardly more than chance, and when its uncertainty is unknown", () => {
    assert.match(
      compared(group(["a", "b"]), { margin: 0.05, standardError: 0.04 }).text,
      /hardly more than chance/,
    );
    assert.match(compared(group(["a", "b"]), { standardError: null }).text, /its uncertainty is unknown/);
  });

  test("isn't written of a ranking that lacks its best candidate, or has no strength for it to be equal to", () => {
    const rows = [
      { index: 0, strength: 0, standardError: null, probabilityBest: null, winRate: null },
      { index: 1, strength: null, standardError: null, probabilityBest: null, winRate: null },
      { index: 2, strength: 0, standardError: null, probabilityBest: null, winRate: null },
    ];
    const value = group(["a", "b", "c"]);
    assert.throws(() => ranked(value, rows, { best: 7 }), /no row of its best candidate \(value: 7\)/);
    assert.doesNotMatch(ranked(value, rows, { best: 1 }).text, /tie/i);
  });

  test("says that a tie is a tie, and that identical candidates are identical", () => {
    const tie = compared(group(["a", "b"]), { winner: "tie", rewardA: 0.5, rewardB: 0.5, margin: 0 }).text;
    assert.match(tie, /^A tie: .* 0\.500, .* 0\.500\. The judge sees no difference\.$/m);
    assert.match(tie, /Take either/);
    assert.doesNotMatch(tie, /Winner/);
    const same =
      compared(group(["a", "a"]), { winner: "tie", identical: true, rewardA: null, rewardB: null }).text;
    assert.match(same, /byte for byte the same, so nothing was judged/);
    assert.doesNotMatch(same, /Winner|no score/);
  });

  test("says of proposals that nothing was executed", () => {
    const proposals = group(["a", "b"], { version: 2, reviewStage: "proposal" });
    assert.match(compared(proposals).text, /2 proposals, none of them carried out/);
    assert.match(
      compared(proposals).text,
      /Nothing was executed yet\. Go on with candidate 1 and carry it out\./,
    );
    assert.match(
      ranked(group(["a", "b", "c"], { version: 2, reviewStage: "proposal" }), [{ index: 0 }, {
        index: 1,
        strength: -9,
      }, { index: 2, strength: -9 }]).text,
      /Nothing was executed yet/,
    );
  });

  test("names what was left out and what was not scored", () => {
    const value = group([], {
      candidates: [
        { id: "a", status: "completed", content: "x" },
        { id: "b", status: "failed" },
        { id: "c", status: "completed", content: "y" },
      ],
    });
    const { text } = compared(value, { unscored: 1 });
    assert.match(text, /Left out, as not completed: "b" \(failed\)\./);
    assert.match(text, /1 part of the judging gave no score/);
  });
});

describe("what the agent is told of a ranking", () => {
  const four = group(["a", "b", "c", "d"]);

  test("names the winner and ranks all by place", () => {
    const { text, summary } = ranked(four, [
      { index: 2, strength: 1.5, probabilityBest: 0.9 },
      { index: 0, strength: 0.2 },
      { index: 3, strength: -0.4 },
      { index: 1, strength: -1.3, probabilityBest: null, winRate: null },
    ]);
    assert.match(text, /Winner of 4: candidate 3 \("c3"\)\.$/m);
    assert.match(
      text,
      /- 1\. candidate 3 \("c3"\): win rate 0\.500, strength 1\.500 ± 0\.100, best with probability 0\.900/,
    );
    assert.match(text, /- 4\. candidate 2 \("c2"\): strength -1\.300 ± 0\.100/);
    assert.equal(summary, 'Assay review of "g1": candidate 3 of 4 wins');
  });

  test("says when the first place is not clear, and when it is shared", () => {
    const near = ranked(four, [
      { index: 1, strength: 0.5 },
      { index: 0, strength: 0.45 },
      { index: 2, strength: -1 },
      { index: 3, strength: -1 },
    ]).text;
    assert.match(
      near,
      /Winner of 4: candidate 2 .* Not clearly better than candidate 1: the judge may as well/,
    );
    const chances = (/** @type {number} */ best, /** @type {number} */ second) =>
      ranked(four, [
        { index: 1, strength: 0.5, probabilityBest: best },
        { index: 0, strength: 0.45, probabilityBest: second },
        { index: 2, strength: 0.44, probabilityBest: 0.01 },
        { index: 3, strength: -1, probabilityBest: 0 },
      ]).text;
    assert.match(chances(0.7, 0.29), /Winner of 4: candidate 2 .* Not clearly better than candidate 1: /);
    assert.doesNotMatch(chances(0.85, 0.14), /Not clearly/);
    const tied = ranked(four, [
      { index: 1, strength: 0.5 },
      { index: 0, strength: 0.5 },
      { index: 2, strength: -1 },
      { index: 3, strength: -1 },
    ]).text;
    assert.match(tied, /A tie for the first place of 4: candidate 2 \("c2"\) and candidate 1 \("c1"\)\./);
    assert.doesNotMatch(tied, /Winner/);
  });

  test("says which candidates are the same text", () => {
    const some = ranked(four, [
      { index: 0, strength: 1 },
      { index: 1, strength: 1, identicalTo: 0 },
      { index: 2, strength: -1 },
      { index: 3, strength: -1 },
    ]).text;
    assert.match(some, /Winner of 4: candidate 1 \("c1"\) \(the same text as candidate 2\)/);
    const all = ranked(four, [{ index: 0 }, { index: 1, identicalTo: 0 }, { index: 2, identicalTo: 0 }, {
      index: 3,
      identicalTo: 0,
    }]).text;
    assert.match(all, /All 4 candidates, as a judge would see them, are byte for byte the same/);
    assert.doesNotMatch(all, /Winner|A tie/);
  });

  test("stays within 4,000 characters and says how many rows are missing", () => {
    const count = 200;
    const many = group([], {
      groupId: "g".repeat(200),
      candidates: Array.from({ length: count }, (_, i) => ({
        id: `id-${i}`.padEnd(200, "x"),
        label: "l".repeat(500),
        status: "completed",
        content: "x",
      })),
    });
    const { text, summary } = ranked(
      many,
      Array.from({ length: count }, (_, index) => ({ index, strength: -index })),
    );
    assert.ok(text.length <= 4000, String(text.length));
    assert.match(text, /… and \d+ more that don't fit here/);
    assert.match(text, /What to do next:[\s\S]*3\. Then finish/);
    assert.ok(summary.length < 250);
  });
});

describe("foreign words", () => {
  test("stand on one line and can't look like markup", () => {
    const text = oneLine('a\nSystem: <system> <|im_start|>\u202e\u200b "x"\r\n# T', 200);
    assert.equal(text, 'a System: ‹system› ‹|im_start|› "x" # T');
    assert.equal(oneLine("\ud800x", 10), "\ufffdx");
  });

  test("are cut without halves of characters", () => {
    for (let length = 1; length < 12; length++) {
      const shortened = cut("a\u{1f600}\u{1f600}\u{1f600}\u{1f600}b", length);
      assert.ok(shortened.length <= length);
      assert.ok(shortened.isWellFormed());
    }
    for (let length = 100; length < 140; length++) {
      const ends = bothEnds("\u{1f600}".repeat(300), length);
      assert.ok(ends.length <= length, `${ends.length} > ${length}`);
      assert.ok(ends.isWellFormed());
      assert.match(ends, /\[\d+ characters left out here\]/);
    }
    assert.equal(bothEnds("short", 100), "short");
  });

  test("in rows give way before the head and the tail", () => {
    const text = message(["HEAD"], Array.from({ length: 100 }, () => "x".repeat(100)), ["TAIL"]);
    assert.ok(text.length <= 4000);
    assert.match(text, /^HEAD\n[\s\S]*and 6\d more[\s\S]*\nTAIL$/);
  });
});
