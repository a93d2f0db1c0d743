//! Lower case as far as anything here looks at it. The whole of Unicode's table is 12 kB of wasm.

/// Lower case of the letters of the alphabets that [`crate::slug`] and the rubric's section words are written in:
/// ASCII, Latin-1, Greek and Russian ones, and the two signs elsewhere whose lower case is an ASCII letter. Every other
/// character stays as it is, which neither a slug nor a search for those words can tell.
pub(crate) fn lower(c: char) -> char {
    match c {
        'A'..='Z' => c.to_ascii_lowercase(),
        'À'..='Ö' | 'Ø'..='Þ' | 'Α'..='Ρ' | 'Σ'..='Ϋ' | 'А'..='Я' => {
            char::from_u32(c as u32 + 32).unwrap_or(c)
        }
        'Ή' => 'ή',
        '\u{212a}' => 'k',
        _ => c,
    }
}

/// A text in lower case; of `İ`, the one letter that becomes two, the dot stays a character of its own.
pub(crate) fn lower_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == 'İ' {
            out.push_str("i\u{307}");
        } else {
            out.push(lower(c));
        }
    }
    out
}
