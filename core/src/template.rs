//! A template language just big enough for the prompt files.
//!
//! - `{{name}}` is replaced by a value; values are never read as templates themselves.
//! - `{{block:name}}` ends one fixed text and starts the next: the caller puts an untrusted block between them.
//! - Lines `{{#name}}` and `{{/name}}` enclose lines that appear only when the value `name` is there.

/// Values by name; a value that is absent is `None`.
pub type Values<'a> = &'a [(&'a str, Option<&'a str>)];

/// Renders a template into the fixed texts around its blocks.
///
/// Returns one entry per text: the name of the block that follows it (`""` for the last) and the text. A block inside
/// a left-out section is left out with it.
///
/// # Panics
/// When a template names a value that isn't given. Templates are compiled in, and a test renders every one of them.
pub fn render(template: &'static str, values: Values<'_>) -> Vec<(&'static str, String)> {
    let get = |name: &str| -> Option<&str> {
        match values.iter().find(|(key, _)| *key == name) {
            Some((_, value)) => *value,
            None => panic!("the template names an unknown value: {name}"),
        }
    };
    let mut texts = Vec::new();
    let mut text = String::new();
    let mut skipping: Option<&str> = None;
    for line in template.split_inclusive('\n') {
        let bare = line.trim_end();
        if let Some(name) = section(bare, "{{#") {
            if skipping.is_none() && get(name).is_none() {
                skipping = Some(name);
            }
            continue;
        }
        if let Some(name) = section(bare, "{{/") {
            if skipping == Some(name) {
                skipping = None;
            }
            continue;
        }
        if skipping.is_some() {
            continue;
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").expect("every {{ is closed");
            text.push_str(before);
            match name.strip_prefix("block:") {
                Some(block) => texts.push((block, std::mem::take(&mut text))),
                None => text.push_str(get(name).unwrap_or_default()),
            }
            rest = after;
        }
        text.push_str(rest);
    }
    texts.push(("", text));
    texts
}

/// Renders a template without blocks.
pub fn render_text(template: &'static str, values: Values<'_>) -> String {
    let mut texts = render(template, values);
    debug_assert_eq!(texts.len(), 1);
    texts.pop().map(|(_, text)| text).unwrap_or_default()
}

fn section<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.strip_prefix(mark)?.strip_suffix("}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_sections_and_blocks() {
        let template = "a {{x}}\n{{#y}}\ny={{y}} {{block:one}}\n{{/y}}\nend {{block:two}} tail\n";
        let with = render(template, &[("x", Some("{{y}}")), ("y", Some("Y"))]);
        assert_eq!(
            with,
            [
                ("one", "a {{y}}\ny=Y ".to_string()),
                ("two", "\nend ".to_string()),
                ("", " tail\n".to_string())
            ]
        );
        let without = render(template, &[("x", Some("X")), ("y", None)]);
        assert_eq!(
            without,
            [
                ("two", "a X\nend ".to_string()),
                ("", " tail\n".to_string())
            ]
        );
    }
}
