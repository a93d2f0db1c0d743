/**
 * What a request may change about a profile.
 *
 * @module
 */
import {
  type Effort,
  EFFORTS,
  type GeminiProfile,
  MAXIMUM_OUTPUT_TOKENS,
  MAXIMUM_TEMPERATURE,
  type OpenAiCompatibleProfile,
} from "../config/schema.ts";
import { AssayError } from "../errors.ts";
import type { JudgeChoice } from "../types.ts";

/** A profile whose judge calls a server. */
export type CallingProfile = OpenAiCompatibleProfile | GeminiProfile;
/** A request's choice in its long form. */
export type Overrides = Exclude<JudgeChoice, string>;

/** @throws {AssayError} `invalid_request` naming the field of `judge` that is out of range */
export function checkOverrides(wanted: Overrides): void {
  const { model, effort, maxTokens, temperature } = wanted;
  if (model !== undefined && (typeof model !== "string" || model === "" || model.length > 200)) {
    throw AssayError.field("/judge/model", "must be 1 to 200 characters", model);
  }
  if (effort !== undefined && !(EFFORTS as readonly string[]).includes(effort)) {
    throw AssayError.field("/judge/effort", `must be one of ${EFFORTS.join(", ")}`, effort);
  }
  if (
    maxTokens !== undefined &&
    !(Number.isInteger(maxTokens) && maxTokens >= 1 && maxTokens <= MAXIMUM_OUTPUT_TOKENS)
  ) {
    throw AssayError.field(
      "/judge/maxTokens",
      `must be an integer from 1 to ${MAXIMUM_OUTPUT_TOKENS}`,
      maxTokens,
    );
  }
  if (temperature !== undefined && !(temperature >= 0 && temperature <= MAXIMUM_TEMPERATURE)) {
    throw AssayError.field(
      "/judge/temperature",
      `must be a number from 0 to ${MAXIMUM_TEMPERATURE}`,
      temperature,
    );
  }
}

/** The profile with a request's settings. Price and calibration belong to the profile's own model. */
export function overridden<P extends CallingProfile>(profile: P, wanted: Overrides): P {
  const result: P = { ...profile };
  if (wanted.model !== undefined && wanted.model !== profile.model) {
    result.model = wanted.model;
    delete result.price;
    delete result.calibration;
    delete result.expectedOutputTokens;
    delete result.contextTokens;
  }
  if (wanted.effort !== undefined) {
    result.effort = wanted.effort as Effort;
    delete result.thinking;
    delete result.expectedOutputTokens;
  }
  if (wanted.maxTokens !== undefined) result.maxTokens = wanted.maxTokens;
  if (wanted.temperature !== undefined) result.temperature = wanted.temperature;
  return result;
}
