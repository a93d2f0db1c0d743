// @ts-check
/**
 * All tools, in the order in which a model sees them.
 *
 * @module
 */
import { spec as bestOfN } from "./best_of_n.js";
import { spec as compare } from "./compare.js";
import { spec as select } from "./select.js";
import { spec as session } from "./session.js";
import { spec as status } from "./status.js";
import { spec as track } from "./track.js";
import { spec as trackerResult } from "./tracker_result.js";
import { spec as trackerStart } from "./tracker_start.js";
import { spec as trackerUpdate } from "./tracker_update.js";

/** @type {readonly ((deps: import("./register.js").Deps) => import("./register.js").ToolSpec)[]} */
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
