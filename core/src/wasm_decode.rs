//! The wasm exports of `decode`.
//!
//! A call on the 138 tokens of a usual answer must cost microseconds, so no token crosses as an object: texts cross as
//! one concatenation in UTF-8 (encoded by the caller: a string argument is copied character by character) with UTF-16
//! lengths, and only the positions behind the tags cross with their alternatives.

use crate::decode::{
    Alternative, DECODER_VERSION, Direction, Explicit, LETTERS, Location, Outcome, TagReader,
    decode_text, locate, read_position, split_tokens, utf16_prefix,
};
use crate::error::CoreError;
use crate::wasm::{Exported, thrown};
use wasm_bindgen::prelude::*;

/// Version of the decoder.
#[wasm_bindgen(js_name = decoderVersion)]
pub fn decoder_version() -> u32 {
    DECODER_VERSION
}

fn direction(progress: bool) -> Direction {
    if progress {
        Direction::Progress
    } else {
        Direction::Pairwise
    }
}

fn utf8(text: &[u8]) -> Exported<&str> {
    std::str::from_utf8(text).map_err(|_| thrown(CoreError::new("/text", "must be UTF-8")))
}

fn tag_list(tags: &str) -> Vec<&str> {
    tags.split('\n').collect()
}

/// Status number of an outcome; `verifier/core/decode.ts` holds the twin of this list.
fn status(outcome: &Outcome) -> f64 {
    match outcome {
        Outcome::Scored(_) => 0.0,
        Outcome::NoTag => 1.0,
        Outcome::NoLetter => 2.0,
        Outcome::NoLogprobs => 3.0,
        Outcome::LowLetterMass(_) => 4.0,
        Outcome::Truncated => 5.0,
        Outcome::UnclosedReasoning => 6.0,
    }
}

/// Where each tag's score stands. `tags` are joined by line feeds, `lengths` are UTF-16 lengths of the tokens.
/// Four numbers per tag: 0 = found or the status, first token, number of tokens (+ 2^31 if the answer ends with them
/// and all are blank), UTF-16 length of the tag's part of the first token.
#[wasm_bindgen(js_name = decodeLocate)]
pub fn decode_locate(text: &[u8], lengths: &[u32], tags: &str) -> Exported<Vec<u32>> {
    let found = locate(utf8(text)?, lengths, &tag_list(tags)).map_err(thrown)?;
    Ok(found
        .into_iter()
        .flat_map(|location| match location {
            Location::Found {
                token,
                positions,
                prefix,
                cut,
            } => [
                0,
                token as u32,
                positions as u32 | (u32::from(cut) << 31),
                prefix as u32,
            ],
            Location::NoTag => [1, 0, 0, 0],
            Location::Truncated => [5, 0, 0, 0],
            Location::UnclosedReasoning => [6, 0, 0, 0],
        })
        .collect())
}

/// Numbers in `shape` per position.
const SHAPE: usize = 3;

/// Reads positions. `text` and `lengths` hold, for each position, the sampled token and its alternatives, `logprobs`
/// their log-probabilities (`NaN` = missing); `shape` three numbers per position: entries (sampled token included),
/// UTF-16 length of the tag's part of the sampled token, and 0 = the next position is of the same tag,
/// 1 = last position of its tag, 2 = last one, and the answer ends here.
/// 24 numbers per tag: status, value, letter mass (also with status 4), entropy, 20 letters; `NaN` where there is none.
#[wasm_bindgen(js_name = decodeRead)]
pub fn decode_read(
    text: &[u8],
    lengths: &[u32],
    logprobs: &[f64],
    shape: &[u32],
    progress: bool,
) -> Exported<Vec<f64>> {
    let bad = |path: &str, message: &str| Err(thrown(CoreError::new(path, message)));
    if lengths.len() != logprobs.len() {
        return bad("/logprobs", "must be as many as the lengths");
    }
    let entries: u64 = shape.iter().step_by(SHAPE).map(|&n| u64::from(n)).sum();
    let (positions, rest) = shape.as_chunks::<SHAPE>();
    if !rest.is_empty()
        || entries != lengths.len() as u64
        || positions.iter().any(|&[n, _, last]| n == 0 || last > 2)
    {
        return bad("/shape", "doesn't fit the lengths");
    }
    let tokens: Vec<Alternative<'_>> = split_tokens(utf8(text)?, lengths)
        .map_err(thrown)?
        .into_iter()
        .zip(logprobs)
        .map(|(token, &logprob)| Alternative { token, logprob })
        .collect();
    let mut out = Vec::with_capacity((LETTERS + 4) * positions.len());
    let mut reader = TagReader::default();
    let mut done = false;
    let mut from = 0usize;
    for &[entries, prefix, last] in positions {
        let to = from + entries as usize;
        if !done {
            let sampled = tokens[from];
            let prefix = utf16_prefix(sampled.token, prefix as usize);
            done = reader.take(read_position(
                sampled,
                &tokens[from + 1..to],
                prefix,
                direction(progress),
            ));
        }
        from = to;
        if last > 0 {
            push(&mut out, &std::mem::take(&mut reader).finish(last == 2));
            done = false;
        }
    }
    Ok(out)
}

fn push(out: &mut Vec<f64>, outcome: &Outcome) {
    out.push(status(outcome));
    match outcome {
        Outcome::Scored(d) => {
            out.extend([d.value, d.letter_mass, d.entropy]);
            out.extend(d.letters);
        }
        other => {
            let mass = match other {
                Outcome::LowLetterMass(mass) => *mass,
                _ => f64::NAN,
            };
            out.extend([f64::NAN, mass, f64::NAN]);
            out.extend([f64::NAN; LETTERS]);
        }
    }
}

/// The sampled letters of a text. Two numbers per tag: status and value (`NaN` where there is none).
#[wasm_bindgen(js_name = decodeTags)]
pub fn decode_text_export(text: &str, tags: &str, progress: bool) -> Exported<Vec<f64>> {
    let letters = decode_text(text, &tag_list(tags)).map_err(thrown)?;
    Ok(letters
        .into_iter()
        .flat_map(|letter| match letter {
            Explicit::Letter(index) => [0.0, direction(progress).value(index)],
            Explicit::NoTag => [status(&Outcome::NoTag), f64::NAN],
            Explicit::NoLetter => [status(&Outcome::NoLetter), f64::NAN],
            Explicit::Truncated => [status(&Outcome::Truncated), f64::NAN],
            Explicit::UnclosedReasoning => [status(&Outcome::UnclosedReasoning), f64::NAN],
        })
        .collect())
}
