/**
 * Small sums that every verb needs. All take plain numbers and answer `null` where a number would be a lie.
 *
 * @module
 */

/** Two rewards closer than this are a tie: below any difference that a letter distribution can mean. */
export const TIE_TOLERANCE = 1e-9;

/** Mean, or `null` of nothing. */
export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Weighted mean; `null` when no weight is positive. */
export function weightedMean(
  parts: readonly { readonly value: number; readonly weight: number }[],
): number | null {
  let sum = 0;
  let weights = 0;
  for (const { value, weight } of parts) {
    sum += value * weight;
    weights += weight;
  }
  return weights > 0 ? sum / weights : null;
}

/** Standard error of the mean, sample standard deviation over the root of the count; `null` below two values. */
export function standardError(values: readonly number[]): number | null {
  const centre = mean(values);
  if (centre === null || values.length < 2) return null;
  let squares = 0;
  for (const value of values) squares += (value - centre) ** 2;
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

/** The winner of two rewards, ties within `TIE_TOLERANCE`. */
export function winnerOf(rewardA: number, rewardB: number): "A" | "B" | "tie" {
  if (Math.abs(rewardA - rewardB) <= TIE_TOLERANCE) return "tie";
  return rewardA > rewardB ? "A" : "B";
}

/**
 * Indices by falling value, ties (equal after rounding to `tolerance`) by rising index. Rounding instead of comparing
 * differences keeps the order a total one.
 */
export function rankOrder(values: readonly number[], tolerance: number = TIE_TOLERANCE): readonly number[] {
  const keys = values.map((value) => Math.round(value / tolerance));
  return values.map((_, index) => index).sort((x, y) => (keys[y] ?? 0) - (keys[x] ?? 0) || x - y);
}
