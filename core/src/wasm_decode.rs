//! The wasm exports of `decode`.
