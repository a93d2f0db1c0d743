//! Finds the last complete tag of each name.

use super::is_blank_char;
use crate::error::{CoreError, Result};
use crate::order::order;

/// Longest tag name.
const MAXIMUM_TAG: usize = 64;

/// Tag names in an order that can be searched.
pub(super) struct Names {
    pub(super) sorted: Vec<String>,
    /// For each tag of the caller its place in `sorted`.
    pub(super) place: Vec<usize>,
    longest: usize,
    fold: bool,
}

impl Names {
    pub(super) fn new(tags: &[&str], fold: bool) -> Result<Self> {
        for (i, tag) in tags.iter().enumerate() {
            let fine = (1..=MAXIMUM_TAG).contains(&tag.len())
                && tag
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
            if !fine {
                return Err(CoreError::with_value(
                    format!("/tags/{i}"),
                    "must be 1 to 64 ASCII letters, digits, '_', '-' or '.' without angle brackets",
                    tag,
                ));
            }
        }
        let key = |tag: &str| {
            if fold {
                tag.to_ascii_lowercase()
            } else {
                tag.to_string()
            }
        };
        let keys: Vec<String> = tags.iter().map(|t| key(t)).collect();
        let mut sorted: Vec<String> = order(keys.len(), &|i, j| keys[i].cmp(&keys[j]))
            .into_iter()
            .map(|i| keys[i].clone())
            .collect();
        sorted.dedup();
        let place = tags
            .iter()
            .map(|t| sorted.binary_search(&key(t)).unwrap_or(0))
            .collect();
        let longest = tags.iter().map(|t| t.len()).max().unwrap_or(0);
        Ok(Self {
            sorted,
            place,
            longest,
            fold,
        })
    }

    /// Byte offsets just behind the last complete opening tag of each sorted name, from byte `start` on.
    /// One pass: a look-ahead ends at the next `<`, so no byte is seen more than twice.
    pub(super) fn last_ends(&self, text: &str, start: usize) -> Vec<Option<usize>> {
        let bytes = text.as_bytes();
        let mut ends = vec![None; self.sorted.len()];
        let mut at = start;
        while let Some(open) = bytes[at..].iter().position(|&b| b == b'<') {
            let name_start = at + open + 1;
            let limit = bytes.len().min(name_start + self.longest + 1);
            at = name_start;
            let stop = bytes[name_start..limit]
                .iter()
                .position(|b| matches!(b, b'<' | b'>'));
            let Some(stop) = stop else { continue };
            at = name_start + stop;
            if bytes[at] == b'>' {
                let name = &text[name_start..at];
                let found = if self.fold {
                    self.sorted.binary_search(&name.to_ascii_lowercase())
                } else {
                    self.sorted.binary_search_by(|n| n.as_str().cmp(name))
                };
                if let Ok(found) = found {
                    ends[found] = Some(at + 1);
                }
            }
        }
        ends
    }
}

/// Byte offset at which the answer proper begins: behind the last `</think>`; `None` inside unclosed reasoning.
pub(super) fn answer_start(text: &str) -> Option<usize> {
    const CLOSE: &str = "</think>";
    match text.rfind(CLOSE) {
        Some(at) => Some(at + CLOSE.len()),
        None if text
            .trim_start_matches(is_blank_char)
            .starts_with("<think>") =>
        {
            None
        }
        None => Some(0),
    }
}
