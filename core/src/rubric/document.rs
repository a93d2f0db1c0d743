//! The headings of a rubric, found by a CommonMark parser.

use super::Warning;
use super::source::Source;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

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
    /// Things that look like headings but aren't, and fences that are never closed.
    pub warnings: Vec<Warning>,
}

impl Document {
    /// Parses the cleaned text.
    pub fn read(source: &Source) -> Self {
        let text = source.text.as_str();
        // A line that starts with a tag would open an HTML block, which can swallow any number of headings. Of the same
        // length, so that offsets hold.
        let without_html = text.replace('<', "x");
        let mut document = Document {
            headings: Vec::new(),
            warnings: Vec::new(),
        };
        let mut code = Vec::new();
        let mut depth = 0usize;
        for (event, range) in Parser::new_ext(&without_html, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
                Event::End(
                    pulldown_cmark::TagEnd::BlockQuote(_) | pulldown_cmark::TagEnd::List(_),
                ) => depth -= 1,
                Event::Start(Tag::CodeBlock(kind)) => {
                    if matches!(kind, CodeBlockKind::Fenced(_)) && !is_closed(&text[range.clone()])
                    {
                        document.warnings.push((
                            source.line(range.start),
                            "the code fence is never closed, so everything below is part of it"
                                .into(),
                        ));
                    }
                    code.push(range);
                }
                Event::Start(Tag::Heading { level, .. }) => {
                    let level = level as u8;
                    let heading = Heading::new(source, level, range.start, range.end);
                    if depth == 0 && level <= 3 {
                        document.headings.push(heading);
                    } else if depth > 0 && matches!(level, 2 | 3) && !heading.underlined {
                        document.warnings.push((
                            heading.line,
                            format!(
                                "the heading \"{}\" stands in a list or quotation, so it was read as text",
                                heading.text
                            ),
                        ));
                    }
                }
                _ => {}
            }
        }
        document.find_headings_without_space(source, &code);
        document
    }

    fn find_headings_without_space(&mut self, source: &Source, code: &[std::ops::Range<usize>]) {
        let mut start = 0;
        let mut next_code = 0;
        for line in source.text.split_inclusive('\n') {
            while code.get(next_code).is_some_and(|range| range.end <= start) {
                next_code += 1;
            }
            let in_code = code
                .get(next_code)
                .is_some_and(|range| range.start < start + line.len());
            let bare = line.trim_start_matches(' ');
            let marks = bare.len() - bare.trim_start_matches('#').len();
            let spaced = bare[marks..].starts_with(char::is_whitespace) || bare.len() == marks;
            if !in_code && matches!(marks, 2 | 3) && line.len() - bare.len() <= 3 && !spaced {
                self.warnings.push((
                    source.line(start),
                    format!(
                        "\"{}\" has no space after its #s, so it was read as text",
                        bare.trim_end()
                    ),
                ));
            }
            start += line.len();
        }
    }
}

impl Heading {
    fn new(source: &Source, level: u8, start: usize, end: usize) -> Self {
        let text = source.text.as_str();
        let start = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let end = text[..end].trim_end_matches('\n').len().max(start);
        let end = text[end..].find('\n').map_or(text.len(), |n| end + n + 1);
        let whole = text[start..end].trim();
        let underlined = whole.contains('\n');
        let shown = if underlined {
            whole
                .rsplit_once('\n')
                .map_or(whole, |(above, _)| above)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        } else {
            without_marks(whole).to_string()
        };
        Heading {
            level,
            text: shown,
            underlined,
            start,
            end,
            line: source.line(start),
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

/// Whether the last line of a fenced block closes it.
fn is_closed(block: &str) -> bool {
    let block = block.trim_end();
    let Some((first, rest)) = block.split_once('\n') else {
        return false;
    };
    let first = first.trim_start();
    let Some(mark) = first.chars().next() else {
        return false;
    };
    let length = first.len() - first.trim_start_matches(mark).len();
    let last = rest.rsplit('\n').next().unwrap_or_default();
    let last = last.trim_start_matches([' ', '\t', '>']);
    last.len() >= length && last.chars().all(|c| c == mark)
}
