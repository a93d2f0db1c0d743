//! Keyed delimiters around untrusted text.
//!
//! A block is
//!
//! ```text
//! <<<DATA 0123456789abcdef>>>
//! the text, verbatim
//! <<<END 0123456789abcdef>>>
//! ```
//!
//! where the token is HMAC-SHA-256 of the text under the server's secret. The same text gives the same token, so
//! prompts stay cacheable. Whoever writes the text can't know the token, so nothing in it can end the block; and a
//! reader that goes from an opening line to the line with exactly that token's END always finds the right one.

use crate::error::{CoreError, Result};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Hexadecimal digits of a token.
pub const TOKEN_DIGITS: usize = 16;

/// Keeps these tokens apart from any other use of the same secret. The final number is the version of the scheme.
const DOMAIN: &[u8] = b"assay/block-delimiter/1\0";

/// Token of a text: 16 lower-case hexadecimal digits that don't occur in the text.
///
/// # Errors
/// When the secret is empty, as anybody could then compute the token.
pub fn block_token(secret: &str, text: &str) -> Result<String> {
    if secret.is_empty() {
        return Err(CoreError::new("/secret", "must not be empty"));
    }
    let keyed = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
        .map_err(|e| CoreError::new("/secret", e.to_string()))?;
    let mut hashed = keyed.clone();
    hashed.update(DOMAIN);
    hashed.update(text.as_bytes());
    let mut tag = hashed.finalize().into_bytes();
    loop {
        let token: String = tag[..TOKEN_DIGITS / 2]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        // A chance of 2^-64 per position: not worth knowing, but cheap to rule out for good.
        if !text.contains(&token) {
            return Ok(token);
        }
        let mut again = keyed.clone();
        again.update(DOMAIN);
        again.update(&tag);
        tag = again.finalize().into_bytes();
    }
}

/// The line that opens a block.
pub fn opening(token: &str) -> String {
    format!("<<<DATA {token}>>>")
}

/// The line that closes a block.
pub fn closing(token: &str) -> String {
    format!("<<<END {token}>>>")
}

/// Text that stands *outside* blocks (notes, criteria), with lines that look like our delimiters quoted by `> `.
///
/// The author of a rubric is trusted to instruct the judge, but must not be able to shift the blocks by accident.
pub fn quote_delimiters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let bare = line.trim_start();
        if bare.starts_with("<<<DATA") || bare.starts_with("<<<END") {
            out.push_str("> ");
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_depends_on_secret_and_text_only() {
        let token = block_token("secret", "text").unwrap();
        assert_eq!(token, block_token("secret", "text").unwrap());
        assert_ne!(token, block_token("secret", "texts").unwrap());
        assert_ne!(token, block_token("secrets", "text").unwrap());
        assert_eq!(token.len(), TOKEN_DIGITS);
        assert!(token.bytes().all(|b| b.is_ascii_hexdigit()));
    }

    #[test]
    fn an_empty_text_has_a_token_and_an_empty_secret_is_refused() {
        assert_eq!(block_token("s", "").unwrap().len(), TOKEN_DIGITS);
        assert_eq!(block_token("", "text").unwrap_err().path, "/secret");
    }

    #[test]
    fn delimiter_lines_outside_blocks_are_quoted() {
        assert_eq!(
            quote_delimiters("a\n<<<DATA x>>>\n  <<<END x>>>\nb <<<END x>>>"),
            "a\n> <<<DATA x>>>\n>   <<<END x>>>\nb <<<END x>>>"
        );
    }
}
