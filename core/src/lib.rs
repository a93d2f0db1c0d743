//! The deterministic core of Assay: prompts, delimiters, step rendering, rubrics, decoding, schedules, ratings.
//!
//! Everything here is a pure function of its arguments. The modules are plain Rust and know nothing of wasm; the
//! `wasm*` modules are the thin shell that `verifier/core/*.ts` calls.
#![deny(missing_docs)]

pub mod decode;
pub mod delimit;
pub mod error;
mod fold;
mod json;
pub mod number;
mod order;
pub mod prompts;
pub mod rating;
pub mod render;
pub mod rubric;
pub mod schedule;
pub mod slug;
mod template;

mod wasm;
mod wasm_decode;
mod wasm_rating;
mod wasm_schedule;
