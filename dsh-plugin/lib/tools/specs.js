// @ts-check
/**
 * All tools, in the order in which a model sees them.
 *
 * @module
 */
import { bestOfN, compare, select, track } from "./judging_specs.js";
import { session, trackerResult, trackerStart, trackerUpdate } from "./session_specs.js";
import { status } from "./status_spec.js";

/** @type {readonly import("./register.js").ToolSpec[]} */
export const SPECS = [
  compare,
  select,
  track,
  session,
  bestOfN,
  trackerStart,
  trackerUpdate,
  trackerResult,
  status,
];
