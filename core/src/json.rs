//! Results as JSON: strings, lists and objects of known shape, which a library for any shape makes 30 kB larger.

/// A text as a JSON string.
pub(crate) fn string(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut copied = 0;
    for (i, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[copied..i]);
        copied = i + 1;
        if byte >= 0x20 {
            out.push('\\');
            out.push(char::from(byte));
        } else {
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out.push_str(&text[copied..]);
    out.push('"');
    out
}

/// A list of values that are JSON already.
pub(crate) fn list(items: &[String]) -> String {
    let mut out = String::from("[");
    out.push_str(&items.join(","));
    out.push(']');
    out
}

/// A list of texts.
pub(crate) fn strings(texts: &[String]) -> String {
    let items: Vec<String> = texts.iter().map(|text| string(text)).collect();
    list(&items)
}

/// An object; the names must need no escape, the values be JSON already.
pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let mut out = String::from("{");
    for (i, (name, value)) in fields.iter().enumerate() {
        out.push_str(if i == 0 { "\"" } else { ",\"" });
        out.push_str(name);
        out.push_str("\":");
        out.push_str(value);
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_and_objects() {
        assert_eq!(list(&[]), "[]");
        assert_eq!(strings(&["a".into(), "b\"".into()]), r#"["a","b\""]"#);
        assert_eq!(object(&[]), "{}");
        assert_eq!(
            object(&[("a", string("x")), ("b", "2".into())]),
            r#"{"a":"x","b":2}"#
        );
    }

    proptest! {
        #[test]
        fn a_string_reads_back_as_it_was(text in "([\\x00-\\x7f]|\\PC|\\p{Cc}){0,20}") {
            let back: String = serde_json::from_str(&string(&text)).unwrap();
            prop_assert_eq!(back, text);
        }
    }
}
