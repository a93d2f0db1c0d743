//! The wasm exports of `rating`.
