//! Shared plumbing of the wasm exports, and the exports of prompts, delimiters, rendering, rubrics and ids.
//!
//! Calling convention, the same for every export:
//! - arguments are numbers, strings, or slices of numbers (typed arrays on the other side);
//! - a list of texts is one string and the texts' UTF-16 lengths; structured results are one JSON string;
//! - bad input is `Err`: a thrown *string* holding the JSON of [`CoreError`]. The TypeScript side turns it into an
//!   `AssayError`. Anything else that is thrown is a trap, and the instance is replaced.

use crate::decode::split_tokens;
use crate::error::CoreError;
use crate::{delimit, json, number, prompts, render, rubric, slug};
use wasm_bindgen::prelude::*;

/// What every fallible export returns.
pub(crate) type Exported<T> = std::result::Result<T, JsValue>;

/// Bad input as the string that the TypeScript side expects to catch.
pub(crate) fn thrown(error: CoreError) -> JsValue {
    let mut fields = vec![
        ("path", json::string(&error.path)),
        ("message", json::string(&error.message)),
    ];
    fields.extend(error.value.map(|value| ("value", json::string(&value))));
    JsValue::from_str(&json::object(&fields))
}

/// The texts of a list argument, which crosses as their concatenation and their UTF-16 lengths.
fn texts<'a>(joined: &'a str, lengths: &[u32]) -> Exported<Vec<&'a str>> {
    split_tokens(joined, lengths).map_err(thrown)
}

fn unfit(path: &str) -> JsValue {
    thrown(CoreError::new(path, "doesn't fit the number of texts"))
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

/// JSON of `PairwiseFrame` out. Plain arguments.
#[wasm_bindgen(js_name = pairwiseFrame)]
pub fn pairwise_frame(note: String, has_context: bool, images: u32, is_proposal: bool) -> String {
    let frame = prompts::pairwise_frame(&prompts::PairwiseOptions {
        ground_truth_note: note,
        has_context,
        images,
        stage: if is_proposal {
            prompts::Stage::Proposal
        } else {
            prompts::Stage::Trajectory
        },
    });
    json::object(&[
        ("beforeTask", json::string(&frame.before_task)),
        ("beforeContext", json::string(&frame.before_context)),
        ("beforeA", json::string(&frame.before_a)),
        ("beforeB", json::string(&frame.before_b)),
        ("afterB", json::string(&frame.after_b)),
    ])
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

/// Id, name and description of each criterion in, JSON of `ProgressFrame` out.
#[wasm_bindgen(js_name = progressFrame)]
pub fn progress_frame(
    note: String,
    criteria: &str,
    lengths: &[u32],
    has_context: bool,
    images: u32,
) -> Exported<String> {
    let criteria = texts(criteria, lengths)?;
    let (criteria, rest) = criteria.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(unfit("/criteria"));
    }
    let frame = prompts::progress_frame(&prompts::ProgressOptions {
        ground_truth_note: note,
        criteria: criteria
            .iter()
            .map(|[id, name, description]| prompts::Criterion {
                id: id.to_string(),
                name: name.to_string(),
                description: description.to_string(),
            })
            .collect(),
        has_context,
        images,
    });
    Ok(json::object(&[
        ("beforeTask", json::string(&frame.before_task)),
        ("beforeContext", json::string(&frame.before_context)),
        ("beforeSteps", json::string(&frame.before_steps)),
        ("afterSteps", json::string(&frame.after_steps)),
    ]))
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

/// Steps in, JSON array of texts out. Each step's texts are its message, commands and outputs; `counts` holds two
/// numbers per step: commands and outputs.
#[wasm_bindgen(js_name = renderSteps)]
pub fn render_steps(
    joined: &str,
    lengths: &[u32],
    counts: &[u32],
    first_number: u32,
) -> Exported<String> {
    let mut texts = texts(joined, lengths)?.into_iter().map(str::to_string);
    let (counts, rest) = counts.as_chunks::<2>();
    let expected: u64 = counts
        .iter()
        .map(|&[commands, outputs]| 1 + u64::from(commands) + u64::from(outputs))
        .sum();
    if !rest.is_empty() || expected != texts.len() as u64 {
        return Err(unfit("/steps"));
    }
    let mut steps = Vec::with_capacity(counts.len());
    for &[commands, outputs] in counts {
        let mut take =
            |count: u32| -> Vec<String> { texts.by_ref().take(count as usize).collect() };
        steps.push(render::Step {
            message: take(1).pop().unwrap_or_default(),
            commands: take(commands),
            outputs: take(outputs),
        });
    }
    let rendered = render::render_steps(&steps, first_number).map_err(thrown)?;
    Ok(json::strings(&rendered))
}

/// Markdown in, JSON of a rubric out.
#[wasm_bindgen(js_name = parseRubric)]
pub fn parse_rubric(markdown: &str) -> Exported<String> {
    let rubric = rubric::parse(markdown).map_err(thrown)?;
    let criteria: Vec<String> = rubric
        .criteria
        .iter()
        .map(|c| {
            json::object(&[
                ("id", json::string(&c.id)),
                ("name", json::string(&c.name)),
                ("description", json::string(&c.description)),
                ("weight", number::text(c.weight)),
            ])
        })
        .collect();
    Ok(json::object(&[
        ("groundTruthNote", json::string(&rubric.ground_truth_note)),
        ("criteria", json::list(&criteria)),
        ("warnings", json::strings(&rubric.warnings)),
    ]))
}

/// Names in, and for each the pinned id; JSON array of ids out. `pinned` says which ids are there: the others are empty.
#[wasm_bindgen(js_name = criterionIds)]
pub fn criterion_ids(joined: &str, lengths: &[u32], pinned: &[u8]) -> Exported<String> {
    let texts = texts(joined, lengths)?;
    let (items, rest) = texts.as_chunks::<2>();
    if !rest.is_empty() || items.len() != pinned.len() {
        return Err(unfit("/items"));
    }
    let items: Vec<_> = items
        .iter()
        .zip(pinned)
        .map(|(&[name, id], &pinned)| (name, (pinned != 0).then_some(id)))
        .collect();
    Ok(json::strings(&slug::criterion_ids(&items).map_err(thrown)?))
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
