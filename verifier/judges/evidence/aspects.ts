/**
 * Which evidence a criterion is about.
 *
 * @module
 */
import type { PromptCriterion } from "./prompt_reader.ts";
import type { EvidenceAspect } from "./weights.ts";

/** The built-in rubrics' ids. `null`: nothing that is countable in a log speaks to it, so the whole record does. */
const BUILT_IN: Readonly<Record<string, EvidenceAspect | null>> = {
  specification: "specification",
  output_match: "output",
  error_signals: "errors",
  reproduction: "verification",
  root_cause: null,
  fix_verification: "verification",
  question_addressed: "specification",
  source_grounding: null,
  limits_stated: null,
  change_specification: "specification",
  observed_result: "verification",
  reversibility: null,
  brief_adherence: "specification",
  structure_clarity: null,
  factual_grounding: null,
  task_requirement_match: "specification",
  empirical_verification: "verification",
  residual_error_signals: "errors",
  code_review: null,
  verification: "verification",
  query: "specification",
  consistency: null,
  structure: null,
  goal_and_constraints: "specification",
  feasibility: null,
  verification_design: "verification",
};

/** Words of a custom criterion, first aspect first where two are named equally often. */
const KEYWORDS: readonly (readonly [EvidenceAspect, RegExp])[] = [
  [
    "errors",
    /\b(?:errors?|fail(?:s|ed|ing|ures?)?|exceptions?|tracebacks?|crash(?:es)?|bugs?)\b|错误|失败|异常/gi,
  ],
  [
    "verification",
    /\b(?:verif\w*|validat\w*|tests?|tested|testing|check(?:s|ed)?|reproduc\w*|empirical)\b|验证|测试|检查/gi,
  ],
  ["output", /\b(?:outputs?|results?|prints?|printed)\b|输出|结果/gi],
  ["completeness", /\b(?:complete(?:ness|ly|d)?|thorough\w*|finish(?:es|ed)?|unfinished)\b|完整|完成/gi],
  [
    "specification",
    /\b(?:spec|specs|specifications?|requirements?|constraints?|instructions?|adherence|goals?)\b|规范|需求|要求/gi,
  ],
];

/** The aspect a criterion asks about, or `null` for everything. */
export function aspectOf(criterion: PromptCriterion): EvidenceAspect | null {
  const known = Object.hasOwn(BUILT_IN, criterion.id) ? BUILT_IN[criterion.id] : undefined;
  if (known !== undefined) return known;
  const title = `${criterion.id.replaceAll("_", " ")} ${criterion.name}`;
  return mostNamed(title, false) ?? mostNamed(criterion.description, true);
}

/** The aspect named most often; with `clearly`, only if no other is named as often. */
function mostNamed(text: string, clearly: boolean): EvidenceAspect | null {
  const counts = KEYWORDS
    .map(([aspect, words]) => ({ aspect, count: text.match(words)?.length ?? 0 }))
    .sort((x, y) => y.count - x.count);
  const [first, second] = counts;
  if (first === undefined || first.count === 0) return null;
  return clearly && first.count === second?.count ? null : first.aspect;
}
