//! Where each tag's score stands.

use super::tags::{Names, answer_start};
use super::units::{Units, check_lengths};
use super::{Location, is_blank};
use crate::error::Result;
use crate::order::order;

/// How many blank tokens behind a tag are skipped at most.
const MAXIMUM_BLANKS: usize = 4;

/// Finds where to read each tag, in one pass over `text`, the concatenation of the answer's tokens.
///
/// `lengths` are the tokens' lengths in UTF-16 units. Linear in the text and the number of tokens.
///
/// # Errors
/// Lengths that don't add up to the text, or a tag name that isn't 1 to 64 of `A-Za-z0-9_.-`.
pub fn locate(text: &str, lengths: &[u32], tags: &[&str]) -> Result<Vec<Location>> {
    check_lengths(text, lengths)?;
    let names = Names::new(tags, false)?;
    let Some(start) = answer_start(text) else {
        return Ok(vec![Location::UnclosedReasoning; tags.len()]);
    };
    let ends = names.last_ends(text, start);
    let order = order(ends.len(), &|i, j| ends[i].cmp(&ends[j]));
    let mut found = vec![Location::NoTag; ends.len()];
    let mut units = Units::new(text);
    // Token `token` covers the units from `begin` to `begin + lengths[token]`.
    let (mut token, mut begin) = (0usize, 0usize);
    for place in order {
        let Some(end_byte) = ends[place] else {
            continue;
        };
        let end = units.unit_at(end_byte);
        while token < lengths.len() && begin + (lengths[token] as usize) < end {
            begin += lengths[token] as usize;
            token += 1;
        }
        found[place] = position_behind(text, lengths, (token, begin), (end, end_byte));
    }
    Ok(names.place.iter().map(|&p| found[p]).collect())
}

/// The tokens to read behind a tag that ends at `end` (unit, byte) inside or at the end of token `at` (index, unit).
fn position_behind(
    text: &str,
    lengths: &[u32],
    (token, begin): (usize, usize),
    (end, end_byte): (usize, usize),
) -> Location {
    // Offsets from here on count from the end of the tag.
    let mut units = Units::new(&text[end_byte..]);
    let mut token_end = begin + lengths[token] as usize - end;
    let rest_end = units.byte_at(token_end);
    if !is_blank(&text[end_byte..end_byte + rest_end]) {
        return Location::Found {
            token,
            positions: 1,
            prefix: end - begin,
            cut: false,
        };
    }
    let first = token + 1;
    if first >= lengths.len() {
        return Location::Truncated;
    }
    let mut from = rest_end;
    for (blanks, &length) in lengths[first..].iter().enumerate() {
        token_end += length as usize;
        let to = units.byte_at(token_end);
        let blank = is_blank(&text[end_byte + from..end_byte + to]);
        from = to;
        if !blank || blanks == MAXIMUM_BLANKS {
            return Location::Found {
                token: first,
                positions: blanks + 1,
                prefix: 0,
                cut: false,
            };
        }
    }
    Location::Found {
        token: first,
        positions: lengths.len() - first,
        prefix: 0,
        cut: true,
    }
}
