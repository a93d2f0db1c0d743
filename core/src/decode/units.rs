//! Tokens of a concatenation by UTF-16 lengths.

use crate::error::{CoreError, Result};

/// Walks a text by UTF-16 offsets (the unit of the caller's lengths) and gives byte offsets.
pub(super) struct Units<'a> {
    text: &'a str,
    ascii: bool,
    byte: usize,
    unit: usize,
}

impl<'a> Units<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            ascii: text.is_ascii(),
            byte: 0,
            unit: 0,
        }
    }

    /// Byte offset of the first character at or behind UTF-16 offset `unit`. Offsets must not fall.
    /// A length that ends inside a surrogate pair gives the whole character to the earlier token.
    pub(super) fn byte_at(&mut self, unit: usize) -> usize {
        if self.ascii {
            return unit.min(self.text.len());
        }
        for c in self.text[self.byte..].chars() {
            if self.unit >= unit {
                break;
            }
            self.unit += c.len_utf16();
            self.byte += c.len_utf8();
        }
        self.byte
    }

    /// UTF-16 offset of byte offset `byte` (on a character boundary). Offsets must not fall.
    pub(super) fn unit_at(&mut self, byte: usize) -> usize {
        if self.ascii {
            return byte;
        }
        let passed: usize = self.text[self.byte..byte]
            .chars()
            .map(char::len_utf16)
            .sum();
        self.unit += passed;
        self.byte = byte;
        self.unit
    }
}

fn utf16_length(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().map(char::len_utf16).sum()
    }
}

pub(super) fn check_lengths(text: &str, lengths: &[u32]) -> Result<()> {
    let total: u64 = lengths.iter().map(|&l| u64::from(l)).sum();
    let units = utf16_length(text) as u64;
    if total == units {
        Ok(())
    } else {
        Err(CoreError::with_value(
            "/lengths",
            format!("must add up to the length of the text ({units} UTF-16 units)"),
            total,
        ))
    }
}

/// Splits a concatenation of tokens back into them, by UTF-16 lengths.
///
/// # Errors
/// Lengths that don't add up to the text.
pub fn split_tokens<'a>(text: &'a str, lengths: &[u32]) -> Result<Vec<&'a str>> {
    check_lengths(text, lengths)?;
    let mut units = Units::new(text);
    let (mut unit, mut from) = (0usize, 0usize);
    Ok(lengths
        .iter()
        .map(|&length| {
            unit += length as usize;
            let to = units.byte_at(unit);
            let token = &text[from..to];
            from = to;
            token
        })
        .collect())
}

/// The first `units` UTF-16 units of a text.
pub fn utf16_prefix(text: &str, units: usize) -> &str {
    &text[..Units::new(text).byte_at(units)]
}
