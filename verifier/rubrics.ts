/**
 * The built-in rubrics: their texts, by name, in the order they are listed.
 *
 * @module
 */
import coding from "../criteria/coding.md" with { type: "text" };
import debug from "../criteria/debug.md" with { type: "text" };
import general from "../criteria/general.md" with { type: "text" };
import medagentbench from "../criteria/medagentbench.md" with { type: "text" };
import ops from "../criteria/ops.md" with { type: "text" };
import proposal from "../criteria/proposal.md" with { type: "text" };
import research from "../criteria/research.md" with { type: "text" };
import sweBench from "../criteria/swe_bench.md" with { type: "text" };
import terminalBench from "../criteria/terminal_bench.md" with { type: "text" };
import writing from "../criteria/writing.md" with { type: "text" };

/** Markdown of each built-in rubric. */
export const BUILT_IN_RUBRICS: ReadonlyMap<string, string> = new Map([
  ["coding", coding],
  ["debug", debug],
  ["research", research],
  ["ops", ops],
  ["writing", writing],
  ["general", general],
  ["terminal_bench", terminalBench],
  ["swe_bench", sweBench],
  ["medagentbench", medagentbench],
  ["proposal", proposal],
]);
