/**
 * What a runtime knows about the connection that a request came over.
 *
 * @module
 */

/** Handed to the app beside every request. */
export interface Connection {
  /** IP address of the peer; `null` where the runtime doesn't say (Workers), and then the Host header decides. */
  readonly remoteAddress: string | null;
  /**
   * Watches for the caller hanging up, where the runtime's `request.signal` alone doesn't tell. Call `stop` when the
   * answer is there.
   */
  readonly watch?: () => { readonly signal: AbortSignal; readonly stop: () => void };
}
