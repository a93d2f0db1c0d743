// @ts-check
/**
 * The settings that the card shows. In the built file their data stands here.
 *
 * @module
 */
import { clientFields } from "../lib/config/described_fields.js";

/** @type {readonly import("./edits.js").Field[]} */
export const FIELDS = /** @type {any} */ (clientFields());
