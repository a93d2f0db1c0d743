// @ts-check
/**
 * The shapes that the files of this room share.
 *
 * @module
 */

/** @typedef {Readonly<Record<string, unknown>>} Fields */

/**
 * The settings of the gate's row that routing reads.
 * @typedef {object} RoutingSettings
 * @property {"manual" | "smart" | "strict"} mode
 * @property {number} threshold 0 to 1.
 * @property {number} evaluations
 * @property {unknown} criteria As the setting gives it.
 * @property {unknown} [judge]
 * @property {string | null} [channel]
 * @property {number} maxCharacters
 * @property {unknown} [redact] Patterns.
 * @property {number} totalMs
 * @property {boolean} reviewPlans
 * @property {boolean} reviewTeamTasks
 * @property {boolean} includeSubagents
 * @property {number} callsPerTask
 * @property {number} callsPerSession
 * @property {number} reviewsPerTask
 * @property {number} reviewsPerSession
 */

/**
 * @typedef {object} Connection
 * @property {(path: string, body: Fields, options: Fields) => Promise<{ value: unknown }>} post
 */

/**
 * @typedef {{ granted: true, id: string } | { granted: false, reason: string, review?: { outcome?: Fields | null } | null }} Reservation
 */
/**
 * The ledger of reviews at the server, as `lib/gate/ledger.js` has it.
 * @typedef {object} Ledger
 * @property {(connection: Connection, request: Fields, options: Fields) => Promise<Reservation>} reserve
 * @property {(connection: Connection, id: string, entry: Fields, options: Fields) => Promise<unknown>} settle
 */

/**
 * Everything a review needs beside its evidence.
 * @typedef {object} Desk
 * @property {Connection} connection
 * @property {Ledger} ledger
 * @property {RoutingSettings} settings
 * @property {{ readonly id: string }} session
 * @property {string} task Id of the task in the ledger.
 * @property {ReadonlySet<string>} delivered Fingerprints of the reviews that the agent was told of, as the log shows.
 * @property {number} turn
 * @property {AbortSignal | undefined} [signal]
 * @property {{ remaining(): number } | undefined} [deadline] Of the turn's end, milliseconds.
 * @property {{ warn(text: string): void } | undefined} [log]
 */

/** @typedef {"compare" | "select" | "track" | "plan" | "team"} Purpose */

/**
 * @typedef {object} Review
 * @property {Purpose} purpose
 * @property {string} fingerprint
 * @property {string} path
 * @property {Fields} body
 * @property {(value: unknown) => { value: unknown, outcome: Fields, open?: { code: string, message: string } }} read
 *   Checks the answer; `open` says that there is no verdict.
 * @property {(value: any) => Steer | null} steer What the agent is to be told of it; null for nothing.
 */

/**
 * @typedef {{ kind: "bought", value: unknown, steer: Steer | null, warnings: readonly string[] }
 *   | { kind: "known", steer: Steer | null }
 *   | { kind: "skipped" }
 *   | { kind: "spent", reason: string }
 *   | { kind: "failed", code: string, message: string }} Outcome
 *   `known`: this evidence was judged before; `steer` is what the agent has not been told of it yet. `skipped`: another process is at it, or it failed in this turn already.
 */

/** @typedef {{ text: string, summary: string, reason: string }} Notice */
/** @typedef {{ text: string, summary: string }} Steer */

export {};
