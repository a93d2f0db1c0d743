//! The sampled letters of an answer without log-probabilities.

use super::letter_of;
use super::tags::{Names, answer_start};
use crate::error::Result;

/// What the last tag of one name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explicit {
    /// Index of the letter, A = 0.
    Letter(usize),
    /// No opening tag of this name behind the reasoning.
    NoTag,
    /// The body is not exactly one letter of the scale, or another tag than the closing one follows.
    NoLetter,
    /// The text ends before the closing tag is complete.
    Truncated,
    /// The answer opens with `<think>` and never closes it.
    UnclosedReasoning,
}

/// The sampled letters (A = 0) in the last tag of each name behind the reasoning, for the `explicit_tag` channel.
///
/// Names are compared without letter case. The body of the **last** opening tag must be exactly one letter, white
/// space and one leading `>` aside, and the closing tag must follow it: `**B**`, `AB`, `B.` or a number are
/// [`Explicit::NoLetter`]; a text that ends before the closing tag is complete is [`Explicit::Truncated`].
///
/// # Errors
/// A tag name that isn't 1 to 64 of `A-Za-z0-9_.-`.
pub fn decode_text(text: &str, tags: &[&str]) -> Result<Vec<Explicit>> {
    let names = Names::new(tags, true)?;
    let Some(start) = answer_start(text) else {
        return Ok(vec![Explicit::UnclosedReasoning; tags.len()]);
    };
    let ends = names.last_ends(text, start);
    Ok(names
        .place
        .iter()
        .map(|&place| match ends[place] {
            None => Explicit::NoTag,
            Some(end) => letter_in_body(&text[end..], &names.sorted[place]),
        })
        .collect())
}

fn letter_in_body(rest: &str, name: &str) -> Explicit {
    let Some(body_end) = rest.find('<') else {
        return Explicit::Truncated;
    };
    let close = format!("</{name}>");
    let tail = &rest.as_bytes()[body_end..];
    let length = tail.len().min(close.len());
    if !tail[..length].eq_ignore_ascii_case(&close.as_bytes()[..length]) {
        return Explicit::NoLetter;
    }
    if length < close.len() {
        return Explicit::Truncated;
    }
    letter_of(&rest[..body_end], "").map_or(Explicit::NoLetter, Explicit::Letter)
}
