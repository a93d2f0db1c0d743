//! The headings that a rubric may be cut at, and what looks like one but isn't.

use super::Warning;
use super::blocks::{self, RawHeading};
use super::source::Source;

/// A heading of level 1 to 3 that stands in no list or quotation.
pub struct Heading {
    /// 1 to 3.
    pub level: u8,
    /// The heading's text without marks, in one line.
    pub text: String,
    /// Whether it is underlined instead of starting with `#`s.
    pub underlined: bool,
    /// Byte offset of its first line.
    pub start: usize,
    /// Byte offset behind its last line.
    pub end: usize,
    /// Line number in the original document.
    pub line: usize,
}

/// The structure of a rubric.
pub struct Document {
    /// In order.
    pub headings: Vec<Heading>,
    /// Things that look like headings but aren't, and a fence that is never closed.
    pub warnings: Vec<Warning>,
}

impl Document {
    /// Finds headings in the cleaned text.
    pub fn read(source: &Source) -> Self {
        let blocks = blocks::read(&source.text);
        let mut document = Document {
            headings: Vec::new(),
            warnings: Vec::new(),
        };
        for raw in blocks.headings.into_iter().filter(|raw| raw.level <= 3) {
            let nested = raw.nested;
            let heading = Heading::new(source, raw);
            if !nested {
                document.headings.push(heading);
            } else if heading.level > 1 && !heading.underlined {
                let message = format!(
                    "the heading \"{}\" stands in a list or quotation, so it was read as text",
                    heading.text
                );
                document.warnings.push((heading.line, message));
            }
        }
        for offset in blocks.unspaced {
            let line = source.text[offset..].lines().next().unwrap_or_default();
            let message = format!(
                "\"{}\" has no space after its #s, so it was read as text",
                line.trim()
            );
            document.warnings.push((source.line(offset), message));
        }
        if let Some(offset) = blocks.open_fence {
            let message = "the code fence is never closed, so everything below is part of it";
            document
                .warnings
                .push((source.line(offset), message.into()));
        }
        document
    }
}

impl Heading {
    fn new(source: &Source, raw: RawHeading) -> Self {
        let whole = source.text[raw.range.clone()].trim();
        let text = if raw.underlined {
            let above = whole.rsplit_once('\n').map_or("", |(above, _)| above);
            above.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            let line = whole.trim_start_matches(|c: char| c != '#');
            without_marks(line).to_string()
        };
        Heading {
            level: raw.level,
            text,
            underlined: raw.underlined,
            start: raw.range.start,
            end: raw.range.end,
            line: source.line(raw.range.start),
        }
    }
}

/// `## Name ##` without its marks.
fn without_marks(line: &str) -> &str {
    let text = line.trim_start_matches('#').trim();
    let bare = text.trim_end_matches('#');
    if bare.is_empty() || bare.ends_with([' ', '\t']) {
        bare.trim_end()
    } else {
        text
    }
}
