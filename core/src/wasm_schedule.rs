//! The wasm exports of `schedule`.
