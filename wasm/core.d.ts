/* tslint:disable */
/* eslint-disable */

/**
 * Panics, so that the tests of the loader can see a real trap.
 */
export function __trapForTests(): void;

export function __wbg_reset_state(): void;

/**
 * Version of this crate, from Cargo.toml.
 */
export function coreVersion(): string;
