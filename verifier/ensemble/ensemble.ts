/**
 * Ensembles: up to five judges answer every call, and the median over those that scored it counts.
 *
 * @module
 */
import type { Bill } from "../budget/budget.ts";
import { AssayError } from "../errors.ts";
import type { Judge, JudgeRegistry, Price } from "../judges/judge.ts";
import type { ScoredCall, ScoreJob, Scorer } from "../scorer.ts";
import { shortenText } from "../text.ts";
import type {
  Channel,
  JudgeChoice,
  Score,
  Scored,
  SharedRequest,
  Unscored,
  UnscoredReason,
} from "../types.ts";
import { addUsage, noUsage } from "../usage.ts";

/** Most judges of one request. */
export const MAXIMUM_JUDGES = 5;
const MAXIMUM_ANALYSIS = 2000;
const MAXIMUM_DETAIL = 600;
const CHANNELS: readonly Channel[] = ["logprobs", "continuation", "explicit_tag"];
/** Reasons that say nothing about an answer, as none came. */
const TRANSPORT: ReadonlySet<UnscoredReason> = new Set([
  "backend_error",
  "unauthorized",
  "rate_limited",
  "timeout",
  "aborted",
  "budget",
  "replay_miss",
]);

/**
 * The judge of a request: one, or an ensemble with its judges as `members`.
 * @throws {AssayError} `invalid_request` for an unknown judge, or for one that stands in the list twice
 */
export function resolveJudge(registry: JudgeRegistry, choice: SharedRequest["judge"]): Judge {
  if (!isList(choice)) return registry.resolve(choice);
  const [first] = choice;
  if (first !== undefined && choice.length === 1) return at(0, () => registry.resolve(first));
  if (first === undefined || choice.length > MAXIMUM_JUDGES) {
    throw AssayError.field("/judge", `must have 1 to ${MAXIMUM_JUDGES} judges`, choice.length);
  }
  const members = choice.map((one, i) => at(i, () => registry.resolve(one)));
  members.forEach((judge, i) => {
    const same = members.findIndex(({ kind, identity }) =>
      kind === judge.kind && identity === judge.identity
    );
    if (same < i) {
      throw AssayError.field(
        `/judge/${i}`,
        `must not be the same judge as /judge/${same} (${judge.profile}, ${judge.model}): its answers would count twice`,
      );
    }
  });
  return ensembleOf(members);
}

const isList = (choice: SharedRequest["judge"]): choice is readonly JudgeChoice[] => Array.isArray(choice);

/** An error about one judge of the list names its place. */
function at(index: number, resolve: () => Judge): Judge {
  try {
    return resolve();
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    const errors = error.errors.map((field) => ({
      ...field,
      path: field.path.replace(/^\/judge(?=\/|$)/, `/judge/${index}`),
    }));
    throw new AssayError(error.code, error.message.replace(/^\/judge(?=[/:])/, `/judge/${index}`), {
      errors,
      cause: error,
    });
  }
}

/** Several judges as one: what each call is planned, checked and reported with. It can't be asked itself. */
export function ensembleOf(members: readonly Judge[]): Judge {
  const windows = members.map(({ contextTokens }) => contextTokens).filter((tokens) => tokens !== null);
  return {
    profile: "ensemble",
    kind: "ensemble",
    model: members.map(({ model }) => model).join(" + "),
    identity: JSON.stringify(members.map(({ kind, identity }) => [kind, identity])),
    concurrency: members.reduce((sum, { concurrency }) => sum + concurrency, 0),
    readsImages: members.every(({ readsImages }) => readsImages),
    warmsPrefix: members.some(({ warmsPrefix }) => warmsPrefix),
    price: dearest(members),
    calibration: null,
    maxTokens: null,
    expectedOutputTokens: null,
    contextTokens: windows.length === 0 ? null : Math.min(...windows),
    members,
    answer: () => Promise.reject(new Error("an ensemble has no answer of its own: its members have")),
  };
}

/** An upper bound of every member's price; `null` when one is unknown. */
function dearest(members: readonly Judge[]): Price | null {
  let most: Price = { inputPerMillion: 0, cachedInputPerMillion: 0, outputPerMillion: 0 };
  for (const { price } of members) {
    if (price === null) return null;
    most = {
      inputPerMillion: Math.max(most.inputPerMillion, price.inputPerMillion),
      cachedInputPerMillion: Math.max(most.cachedInputPerMillion, price.cachedInputPerMillion),
      outputPerMillion: Math.max(most.outputPerMillion, price.outputPerMillion),
    };
  }
  return most;
}

/** How many results a plan's calls come to: an ensemble's calls for one place in the schedule are one result. */
export function resultsOf(judge: Judge, calls: number): number {
  return calls / (judge.members?.length ?? 1);
}

/** A scorer that asks every member and gives the medians. @param scorerOf the scorer of one member */
export function createEnsembleScorer(
  members: readonly Judge[],
  scorerOf: (judge: Judge) => Scorer,
): Scorer {
  const scorers = members.map(scorerOf);
  return {
    async score(job) {
      const byJudge = await Promise.all(
        scorers.map((scorer, judge) =>
          scorer.score({ ...job, label: { ...(job.label ?? { repeat: job.repeat }), judge } })
        ),
      );
      return { ...combine(members, job, byJudge), byJudge };
    },
    usage: () => scorers.reduce((sum, scorer) => addUsage(sum, scorer.usage()), noUsage()),
    bill: () => scorers.map((scorer) => scorer.bill()).reduce(addBills),
  };
}

function addBills(x: Bill, y: Bill): Bill {
  return {
    calls: x.calls + y.calls,
    tokens: x.tokens + y.tokens,
    usd: x.usd + y.usd,
    unknownTokens: x.unknownTokens + y.unknownTokens,
    unknownUsd: x.unknownUsd + y.unknownUsd,
  };
}

/**
 * One call out of all members' answers to it.
 *
 * Per part the median over the members that scored it: of an even number the mean of the two in the middle. In a
 * pairwise call only members that scored both sides count, so that both medians come from the same judges; a progress
 * call's parts stand for themselves. Where nobody scored, the part lists every member's reason.
 */
export function combine(
  members: readonly Pick<Judge, "profile">[],
  job: Pick<ScoreJob, "tags" | "direction">,
  byJudge: readonly ScoredCall[],
): ScoredCall {
  const whole = (call: ScoredCall): boolean => call.scores.every(({ kind }) => kind === "scored");
  const scores = job.tags.map((_, part): Score => {
    const own = byJudge.flatMap((call): Scored[] => {
      const score = call.scores[part];
      return score?.kind === "scored" && (job.direction === "progress" || whole(call)) ? [score] : [];
    });
    return own.length > 0 ? medianScore(own) : nobody(members, byJudge, part);
  });
  const answered = byJudge.filter(({ scores }) => scores.some(({ kind }) => kind === "scored"));
  return {
    scores,
    analysis: together(members, byJudge),
    cached: answered.length > 0 && answered.every(({ cached }) => cached),
  };
}

/**
 * Median of the values. Of one score it is that score; of several, letters, entropy and mass are `null`, as a median
 * has no distribution, and the channel is the least of those that were used.
 */
export function medianScore(scores: readonly [Scored, ...Scored[]] | readonly Scored[]): Scored {
  const [first] = scores;
  if (first !== undefined && scores.length === 1) return first;
  const values = scores.map(({ value }) => value).sort((x, y) => x - y);
  const middle = values.length >> 1;
  const value = values.length % 2 === 1
    ? values[middle] ?? 0
    : ((values[middle - 1] ?? 0) + (values[middle] ?? 0)) / 2;
  const channel = CHANNELS[Math.max(...scores.map((score) => CHANNELS.indexOf(score.channel)))];
  return {
    kind: "scored",
    value,
    letterMass: null,
    entropy: null,
    channel: channel ?? "explicit_tag",
    letters: null,
  };
}

function nobody(
  members: readonly Pick<Judge, "profile">[],
  byJudge: readonly ScoredCall[],
  part: number,
): Unscored {
  const reasons = byJudge.map((call): Unscored => {
    const score = call.scores[part];
    if (score?.kind === "unscored") return score;
    // This member scored this side and not the other one, so its call doesn't count.
    const other = call.scores.find((own): own is Unscored => own.kind === "unscored");
    return other ?? { kind: "unscored", reason: "no_tag" };
  });
  const distinct = new Set(reasons.map(({ reason }) => reason));
  const [only] = distinct;
  const answer = reasons.find(({ reason }) => !TRANSPORT.has(reason));
  const reason = distinct.size === 1 && only !== undefined ? only : answer?.reason ?? "backend_error";
  const details = reasons.map((own, i) =>
    `${members[i]?.profile ?? "judge"}: ${own.reason}${
      own.detail === undefined || own.detail === ""
        ? ""
        : ` (${shortenText(own.detail, MAXIMUM_DETAIL / reasons.length)})`
    }`
  );
  return { kind: "unscored", reason, detail: details.join("; ") };
}

/** What every member wrote, in equal shares. */
function together(
  members: readonly Pick<Judge, "profile">[],
  byJudge: readonly ScoredCall[],
): string | null {
  const texts = byJudge.flatMap(({ analysis }, i) =>
    analysis === null ? [] : [{ name: members[i]?.profile ?? "judge", analysis }]
  );
  if (texts.length === 0) return null;
  const share = Math.floor(MAXIMUM_ANALYSIS / texts.length) - 1;
  return texts.map(({ name, analysis }) => shortenText(`${name}: ${analysis}`, share)).join("\n");
}
