// @ts-check
/**
 * Names that the log's reader and the tools share.
 *
 * @module
 */

export const START = "verifier_tracker_start";
export const UPDATE = "verifier_tracker_update";

/**
 * How the text of an update without a score begins. It is read back from the log, so it must not change.
 */
export const UNSCORED_MARK = "Not scored:";
