//! Shared plumbing of the wasm exports, and the exports of prompts, delimiters, rendering, rubrics and ids.
//!
//! Calling convention, the same for every export:
//! - arguments are numbers, strings, or slices of numbers (typed arrays on the other side);
//! - structured arguments and results are one JSON string;
//! - bad input is `Err`: a thrown *string* holding the JSON of [`CoreError`]. The TypeScript side turns it into an
//!   `AssayError`. Anything else that is thrown is a trap, and the instance is replaced.

use crate::error::CoreError;
use crate::{delimit, prompts, render, rubric, slug};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

/// What every fallible export returns.
pub(crate) type Exported<T> = std::result::Result<T, JsValue>;

/// Bad input as the string that the TypeScript side expects to catch.
pub(crate) fn thrown(error: CoreError) -> JsValue {
    JsValue::from_str(&to_json(&error))
}

/// Reads one JSON argument; `name` is what an error calls it.
pub(crate) fn from_json<T: DeserializeOwned>(name: &str, json: &str) -> Exported<T> {
    serde_json::from_str(json).map_err(|e| {
        thrown(CoreError::new(
            format!("/{name}"),
            format!("can't be read: {e}"),
        ))
    })
}

/// One JSON result. The types of this crate have string keys only, so this can't fail in practice.
pub(crate) fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value)
        .unwrap_or_else(|e| format!(r#"{{"path":"","message":"can't be written as JSON: {e}"}}"#))
}

/// Version of this crate, from Cargo.toml, and of the decoder: one of them changes whenever a score may.
#[wasm_bindgen(js_name = coreVersion)]
pub fn core_version() -> String {
    let decoder = crate::decode::DECODER_VERSION;
    format!("{}+decoder.{decoder}", env!("CARGO_PKG_VERSION"))
}

/// Version of the prompt texts.
#[wasm_bindgen(js_name = promptVersion)]
pub fn prompt_version() -> String {
    prompts::PROMPT_VERSION.to_string()
}

/// Token of a block. The text itself doesn't come back: the caller has it, and copying megabytes isn't free.
#[wasm_bindgen(js_name = blockToken)]
pub fn block_token(secret: &str, text: &str) -> Exported<String> {
    delimit::block_token(secret, text).map_err(thrown)
}

/// JSON of `PairwiseFrame` out. Plain arguments, as each structure read from JSON costs 4 kB of wasm.
#[wasm_bindgen(js_name = pairwiseFrame)]
pub fn pairwise_frame(note: String, has_context: bool, images: u32, is_proposal: bool) -> String {
    to_json(&prompts::pairwise_frame(&prompts::PairwiseOptions {
        ground_truth_note: note,
        has_context,
        images,
        stage: if is_proposal {
            prompts::Stage::Proposal
        } else {
            prompts::Stage::Trajectory
        },
    }))
}

/// A criterion in, text out.
#[wasm_bindgen(js_name = pairwiseSuffix)]
pub fn pairwise_suffix(id: String, name: String, description: String) -> String {
    prompts::pairwise_suffix(&prompts::Criterion {
        id,
        name,
        description,
    })
}

/// JSON of `ProgressOptions` in, JSON of `ProgressFrame` out.
#[wasm_bindgen(js_name = progressFrame)]
pub fn progress_frame(options: &str) -> Exported<String> {
    Ok(to_json(&prompts::progress_frame(&from_json(
        "options", options,
    )?)))
}

/// Ascending 1-based steps in, text out.
#[wasm_bindgen(js_name = progressSuffix)]
pub fn progress_suffix(checkpoints: &[u32], step_count: u32) -> Exported<String> {
    prompts::progress_suffix(checkpoints, step_count).map_err(thrown)
}

/// Text out.
#[wasm_bindgen(js_name = draftPrompt)]
pub fn draft_prompt(
    request: String,
    context: Option<String>,
    draft: u32,
    drafts: u32,
) -> Exported<String> {
    prompts::draft_prompt(&prompts::DraftOptions {
        request,
        context,
        draft,
        drafts,
    })
    .map_err(thrown)
}

/// Text in, text with marker lines quoted out.
#[wasm_bindgen(js_name = quoteMarkers)]
pub fn quote_markers(text: &str) -> String {
    render::quote_markers(text)
}

/// JSON array of steps in, JSON array of texts out.
#[wasm_bindgen(js_name = renderSteps)]
pub fn render_steps(steps: &str, first_number: u32) -> Exported<String> {
    let steps: Vec<render::Step> = from_json("steps", steps)?;
    let texts = render::render_steps(&steps, first_number).map_err(thrown)?;
    Ok(to_json(&texts))
}

/// Markdown in, JSON of a rubric out.
#[wasm_bindgen(js_name = parseRubric)]
pub fn parse_rubric(markdown: &str) -> Exported<String> {
    Ok(to_json(&rubric::parse(markdown).map_err(thrown)?))
}

#[derive(Deserialize)]
struct Named {
    name: String,
    id: Option<String>,
}

/// JSON array of `{name, id?}` in, JSON array of ids out.
#[wasm_bindgen(js_name = criterionIds)]
pub fn criterion_ids(items: &str) -> Exported<String> {
    let items: Vec<Named> = from_json("items", items)?;
    let items: Vec<_> = items
        .iter()
        .map(|item| (item.name.as_str(), item.id.as_deref()))
        .collect();
    Ok(to_json(&slug::criterion_ids(&items).map_err(thrown)?))
}

/// Size of the linear memory, which only ever grows: the tests look for leaks with it. 0 outside wasm.
#[wasm_bindgen(js_name = memoryBytes)]
pub fn memory_bytes() -> u32 {
    #[cfg(target_arch = "wasm32")]
    return (core::arch::wasm32::memory_size(0) * 65_536) as u32;
    #[cfg(not(target_arch = "wasm32"))]
    0
}

/// Panics, so that the tests of the loader can see a real trap.
#[wasm_bindgen(js_name = __trapForTests)]
pub fn trap_for_tests() {
    panic!("a trap on purpose");
}
