//! Rubrics from Markdown.
//!
//! ```text
//! # Title (ignored)
//!
//! ## Ground Truth Note
//!
//! What counts as truth.
//!
//! ## Criteria
//!
//! ### Name {#id weight=2}
//!
//! What to look for and what to punish.
//! ```
//!
//! - Blocks are those of CommonMark (HTML blocks apart), so a `#` line in a code fence is text, headings may be indented by up to three
//!   spaces, closed with `#`s or, for the two sections, underlined (Setext).
//! - HTML comments are removed outside code. Other HTML is text. A byte order mark is skipped; CRLF and CR end lines.
//! - Bodies are the source text as it stands, trimmed; headings of level 1 and of level 4 and deeper belong to them.
//! - `{#id weight=2}` at the end of a criterion's heading pins its id and sets its weight; either may stand alone.
//! - What no judge will see is named, with its line, in the warnings.

use crate::error::{CoreError, Result};
use crate::slug::criterion_ids;

mod blocks;
mod document;
mod heading;
mod sections;
mod source;

/// Most criteria a rubric may have.
pub const MAX_CRITERIA: usize = 12;
/// Longest instruction and longest ground-truth note, in characters.
pub const MAX_BODY: usize = 20_000;
/// Longest name of a criterion, in characters.
pub const MAX_NAME: usize = 200;
/// Most warnings that are spelt out.
pub const MAX_WARNINGS: usize = 50;
/// Largest rubric, in bytes.
pub const MAX_BYTES: usize = 1_000_000;

/// A criterion with its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedCriterion {
    /// Unique within the rubric.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// What to look for and what to punish.
    pub description: String,
    /// Positive, 1 unless the heading says otherwise.
    pub weight: f64,
}

/// What a rubric says.
#[derive(Debug, Clone, PartialEq)]
pub struct Rubric {
    /// Text of the first ground-truth section that isn't empty, else `""`.
    pub ground_truth_note: String,
    /// 1 to 12 criteria in the order of the document.
    pub criteria: Vec<WeightedCriterion>,
    /// Everything that was read otherwise than its author may think, with its line.
    pub warnings: Vec<String>,
}

/// Reads a rubric.
///
/// # Errors
/// When there is no criterion or more than 12, a heading without a name or an instruction, a text that is too long, or
/// an invalid `{#id}` or weight. The message names headings and lines.
pub fn parse(markdown: &str) -> Result<Rubric> {
    if markdown.len() > MAX_BYTES {
        return Err(wrong(format!(
            "is too large: {} bytes, at most {MAX_BYTES} are allowed",
            markdown.len()
        )));
    }
    let source = source::Source::new(markdown);
    let document = document::Document::read(&source);
    let read = sections::read(&source, &document)?;
    let mut warnings = source.warnings.clone();
    warnings.extend(document.warnings);
    warnings.extend(read.warnings);

    let named: Vec<_> = read
        .criteria
        .iter()
        .map(|c| (c.heading.name.as_str(), c.heading.id.as_deref()))
        .collect();
    let ids = criterion_ids(&named)?;
    let mut criteria = Vec::with_capacity(ids.len());
    for (found, id) in read.criteria.into_iter().zip(ids) {
        if found
            .heading
            .id
            .as_ref()
            .is_some_and(|pinned| *pinned != id)
        {
            warnings.push((
                found.line,
                format!(
                    "the id of \"{}\" is taken, it became {id}",
                    found.heading.name
                ),
            ));
        }
        criteria.push(WeightedCriterion {
            id,
            name: found.heading.name,
            description: found.body,
            weight: found.heading.weight,
        });
    }
    Ok(Rubric {
        ground_truth_note: read.note,
        criteria,
        warnings: in_order(warnings),
    })
}

/// The first warnings by line, as text. By repeated search, as a sort costs 10 kB of wasm and there are few.
fn in_order(mut warnings: Vec<Warning>) -> Vec<String> {
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    let mut texts = Vec::new();
    while texts.len() < MAX_WARNINGS {
        let Some(first) = (0..warnings.len()).min_by_key(|&i| warnings[i].0) else {
            break;
        };
        let (line, text) = warnings.remove(first);
        texts.push(format!("line {line}: {text}"));
    }
    if let (1.., Some((line, _))) = (more, warnings.iter().min_by_key(|(line, _)| *line)) {
        texts.push(format!("line {line}: here and below are {more} more"));
    }
    texts
}

/// An error about the rubric as a whole.
fn wrong(message: impl Into<String>) -> CoreError {
    CoreError::new("/criteria", message)
}

/// A line number and what is to be said about it.
type Warning = (usize, String);

#[cfg(test)]
mod tests;
