//! Reads scores out of a judge's answer.
//!
//! A judge ends its answer with tags, `<score_A> C </score_A>`; the score is the expectation of the scale over the
//! *distribution* of the token behind the opening tag, not the one letter that was sampled there:
//!
//! ```text
//! value = sum over letters g of p(g) * v(g) / sum over letters g of p(g)
//! v(i)  = 1 - i/19 (pairwise, A best)   or   i/19 (progress, A nothing done)
//! ```
//!
//! What counts, and why:
//! - The **last** complete tag of each name behind the last `</think>` is read. A tag that is cut off, malformed or
//!   unreadable never hands over to an earlier one: the earlier one may be a quotation of the prompt or of the
//!   judged work. An answer that opens with `<think>` and never closes it has no tags at all.
//! - Names are compared exactly, letter case included, and end at the `>`: `<c1>` never matches `<c10>` nor `<C1>`.
//!   Only [`decode_text`] folds the letter case, because there is no distribution to be wrong about.
//! - The token behind the tag's `>` is the position. Where the tokenizer fused the end of the tag and the letter into
//!   one token (`>B`, `_A> C`), that token is the position, and an alternative counts only if it completes the tag
//!   too. A blank token (empty or white space) is read if its letters hold enough mass (the letter was likely, the
//!   blank was drawn), else the position moves on to the next token.
//! - Only whole-letter tokens count (`The` is not T); spellings of one letter (`A`, ` a`, `Ġa`) add up.
//! - What isn't a distribution is never a number: see [`Outcome`].

mod locate;
mod read;
mod tags;
mod text;
mod units;

pub use locate::locate;
pub use read::{TagReader, read_position};
pub use text::{Explicit, decode_text};
pub use units::{split_tokens, utf16_prefix};

/// Changes whenever the same answer can decode to another score: part of every cache key.
pub const DECODER_VERSION: u32 = 1;

/// Letters of the scale, A to T.
pub const LETTERS: usize = 20;

/// Less probability than this on the 20 letters is [`Outcome::LowLetterMass`].
pub const MINIMUM_LETTER_MASS: f64 = 0.5;

/// Which way the scale runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A = 1 … T = 0.
    Pairwise,
    /// A = 0 … T = 1.
    Progress,
}

impl Direction {
    /// Value of letter `index` (A = 0), 0 to 1, exactly `1 - i/19` or `i/19`.
    pub fn value(self, index: usize) -> f64 {
        let steps = (LETTERS - 1) as f64;
        match self {
            Direction::Pairwise => (steps - index as f64) / steps,
            Direction::Progress => index as f64 / steps,
        }
    }
}

/// What one position or one tag says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A usable distribution.
    Scored(Distribution),
    /// The answer has no complete tag of this name behind its reasoning.
    NoTag,
    /// None of the alternatives is one of the 20 letters.
    NoLetter,
    /// No distribution: no alternatives (a lone sampled token says nothing about the others), or log-probabilities that
    /// are all missing, vanish (`-9999`) or hold a positive one.
    NoLogprobs,
    /// The letters hold less than [`MINIMUM_LETTER_MASS`]; carries the mass.
    LowLetterMass(f64),
    /// The answer ends before anything readable follows the tag.
    Truncated,
    /// The answer opens with `<think>` and never closes it, so nothing in it is an answer.
    UnclosedReasoning,
}

/// Letters of one position, renormalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// Expectation over the letters, 0 to 1.
    pub value: f64,
    /// Probability on the 20 letters before renormalising, [`MINIMUM_LETTER_MASS`] to 1.
    pub letter_mass: f64,
    /// Shannon entropy of `letters` in bits, 0 to log2(20).
    pub entropy: f64,
    /// Renormalised probabilities of A to T; they add up to 1.
    pub letters: [f64; LETTERS],
}

/// A token and its natural-log probability (`NaN` when it is missing).
#[derive(Debug, Clone, Copy)]
pub struct Alternative<'a> {
    /// Text of the token.
    pub token: &'a str,
    /// Natural logarithm of its probability.
    pub logprob: f64,
}

/// Where to read one tag's score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Read `positions` tokens from `token` on; all but the last of them are blank.
    Found {
        /// Index of the first token to read.
        token: usize,
        /// How many tokens may be read, in order, until one has a distribution over letters.
        positions: usize,
        /// UTF-16 length of the beginning of `token` that still belongs to the tag (0: the whole token is behind it).
        prefix: usize,
        /// The answer ends with these positions and all of them are blank.
        cut: bool,
    },
    /// See [`Outcome::NoTag`].
    NoTag,
    /// See [`Outcome::Truncated`]: the tag is the last thing in the answer.
    Truncated,
    /// See [`Outcome::UnclosedReasoning`].
    UnclosedReasoning,
}

/// White space in the sense of Unicode, Python's `str.strip` or JavaScript's `trim`, whichever is wider.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}' | '\u{feff}')
}

/// White space, or the marks that byte-level BPE (`Ġ`) and SentencePiece (`▁`) vocabularies write for a space.
fn is_blank_char(c: char) -> bool {
    is_space(c) || matches!(c, 'Ġ' | '▁')
}

fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

/// The letter (A = 0) that a token is, given the part of the tag that the position's token begins with.
fn letter_of(token: &str, prefix: &str) -> Option<usize> {
    let behind_tag = if prefix.is_empty() {
        let token = token.trim_start_matches(is_blank_char);
        token.strip_prefix('>').unwrap_or(token)
    } else {
        token.strip_prefix(prefix).or_else(|| {
            token
                .trim_start_matches(is_blank_char)
                .strip_prefix(prefix.trim_start_matches(is_blank_char))
        })?
    };
    let letter = behind_tag
        .trim_start_matches(is_blank_char)
        .trim_end_matches(is_space);
    match letter.as_bytes() {
        [byte] => {
            let index = byte.to_ascii_uppercase().wrapping_sub(b'A') as usize;
            (index < LETTERS).then_some(index)
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "decode_test.rs"]
mod tests;
