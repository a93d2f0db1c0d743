//! Headings of a Markdown text: the block structure of CommonMark, as far as it decides what is a heading.
//!
//! Written for this one question, as a whole CommonMark parser would be half of the wasm file. The algorithm is the one
//! that the specification describes ("Phase 1: block structure"); a property test compares it with `pulldown-cmark`.
//! HTML blocks and link reference definitions are not looked for: a rubric's HTML is text.

use std::ops::Range;

/// A heading, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawHeading {
    /// 1 to 6.
    pub level: u8,
    /// Whether it is underlined instead of starting with `#`s.
    pub underlined: bool,
    /// Whether it stands in a list or quotation.
    pub nested: bool,
    /// Bytes of its lines, the final line end included.
    pub range: Range<usize>,
}

/// What a text holds.
#[derive(Debug, Default)]
pub struct Blocks {
    /// In order.
    pub headings: Vec<RawHeading>,
    /// Offsets of lines outside lists and quotations that look like `##heading` without the space.
    pub unspaced: Vec<usize>,
    /// Offset of the line that opens a fence which is never closed.
    pub open_fence: Option<usize>,
}

enum Container {
    Quote,
    /// `content` columns of indentation keep a line inside; a still `empty` item ends at a blank line.
    Item {
        content: usize,
        empty: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    None,
    Paragraph {
        start: usize,
    },
    Fence {
        start: usize,
        mark: u8,
        length: usize,
    },
    IndentedCode,
}

/// Finds the headings of a text whose lines end in LF.
pub fn read(text: &str) -> Blocks {
    let mut reader = Reader {
        blocks: Blocks::default(),
        containers: Vec::new(),
        leaf: Leaf::None,
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.line(line, start);
        start += line.len();
    }
    if let Leaf::Fence { start, .. } = reader.leaf {
        reader.blocks.open_fence = Some(start);
    }
    reader.blocks
}

struct Reader {
    blocks: Blocks,
    containers: Vec<Container>,
    leaf: Leaf,
}

impl Reader {
    fn line(&mut self, line: &str, start: usize) {
        let mut cursor = Cursor::new(line);
        let mut matched = self.matching(&mut cursor);
        if let Leaf::Fence { mark, length, .. } = self.leaf
            && matched == self.containers.len()
        {
            if cursor.indent() <= 3 && closes_fence(cursor.rest(), mark, length) {
                self.leaf = Leaf::None;
            }
            return;
        }
        // A paragraph goes on lazily only if this line opens nothing and doesn't continue the paragraph's containers.
        let mut opened = false;
        loop {
            let rest = cursor.rest();
            if rest.is_empty() {
                break;
            }
            if cursor.indent() >= 4 {
                if !matches!(self.leaf, Leaf::Paragraph { .. }) || opened {
                    self.enter(matched);
                    self.leaf = Leaf::IndentedCode;
                    return;
                }
                break;
            }
            let continues = matched == self.containers.len();
            let paragraph = match self.leaf {
                Leaf::Paragraph { start } if continues && !opened => Some(start),
                _ => None,
            };
            if rest.starts_with('>') {
                self.enter(matched);
                cursor.skip_mark(1);
                if cursor.at_space() {
                    cursor.advance(1);
                }
                self.open(Container::Quote);
            } else if let Some(level) = atx_level(rest) {
                self.enter(matched);
                self.heading(level, false, start..start + line.len());
                return;
            } else if let Some((mark, length)) = opens_fence(rest) {
                self.enter(matched);
                self.leaf = Leaf::Fence {
                    start,
                    mark,
                    length,
                };
                return;
            } else if let (Some(from), Some(level)) = (paragraph, underline_level(rest)) {
                self.heading(level, true, from..start + line.len());
                return;
            } else if is_rule(rest) {
                self.enter(matched);
                return;
            } else if let Some(marker) = list_marker(rest, paragraph.is_some()) {
                let indent = cursor.indent();
                self.enter(matched);
                cursor.skip_mark(marker);
                let spaces = cursor.indent();
                let empty = cursor.rest().is_empty();
                let padding = if empty || spaces > 4 { 1 } else { spaces };
                cursor.advance(padding.min(spaces));
                self.open(Container::Item {
                    content: indent + marker + padding,
                    empty,
                });
            } else {
                break;
            }
            matched = self.containers.len();
            opened = true;
        }
        self.text(&cursor, matched, opened, start);
    }

    /// Takes the marks of the open containers off a line; returns how many of them go on.
    fn matching(&self, cursor: &mut Cursor<'_>) -> usize {
        for (i, container) in self.containers.iter().enumerate() {
            match *container {
                Container::Quote if cursor.indent() <= 3 && cursor.rest().starts_with('>') => {
                    cursor.skip_mark(1);
                    if cursor.at_space() {
                        cursor.advance(1);
                    }
                }
                Container::Item { empty, .. } if cursor.rest().is_empty() => {
                    if empty {
                        return i;
                    }
                }
                Container::Item { content, .. } if cursor.indent() >= content => {
                    cursor.advance(content);
                }
                _ => return i,
            }
        }
        self.containers.len()
    }

    /// The rest of a line that opens no (further) block.
    fn text(&mut self, cursor: &Cursor<'_>, matched: usize, opened: bool, start: usize) {
        let rest = cursor.rest();
        let paragraph = matches!(self.leaf, Leaf::Paragraph { .. }) && !opened;
        if rest.is_empty() {
            if matched < self.containers.len() || paragraph {
                self.close(matched);
            }
            return;
        }
        if paragraph {
            // In its own containers or lazily: either way the paragraph goes on.
        } else {
            self.enter(matched);
            self.leaf = Leaf::Paragraph { start };
        }
        if self.containers.is_empty() && is_unspaced(rest) {
            self.blocks.unspaced.push(start);
        }
    }

    /// Closes what a line doesn't continue, and notes that the innermost item left has content.
    fn enter(&mut self, matched: usize) {
        self.close(matched);
        if let Some(Container::Item { empty, .. }) = self.containers.last_mut() {
            *empty = false;
        }
    }

    fn close(&mut self, matched: usize) {
        self.containers.truncate(matched);
        self.leaf = Leaf::None;
    }

    fn open(&mut self, container: Container) {
        self.containers.push(container);
        self.leaf = Leaf::None;
    }

    fn heading(&mut self, level: u8, underlined: bool, range: Range<usize>) {
        self.leaf = Leaf::None;
        self.blocks.headings.push(RawHeading {
            level,
            underlined,
            nested: !self.containers.is_empty(),
            range,
        });
    }
}

/// A place in a line, in bytes and in columns (tabs reach to the next multiple of 4).
struct Cursor<'a> {
    line: &'a str,
    offset: usize,
    column: usize,
}

impl<'a> Cursor<'a> {
    fn new(line: &'a str) -> Self {
        Cursor {
            line: line.trim_end_matches('\n'),
            offset: 0,
            column: 0,
        }
    }

    /// Columns of white space from here on.
    fn indent(&self) -> usize {
        let mut column = self.column;
        for byte in self.line[self.offset..].bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += 4 - column % 4,
                _ => break,
            }
        }
        column - self.column
    }

    /// What follows the white space, without that at the end.
    fn rest(&self) -> &'a str {
        self.line[self.offset..].trim_matches([' ', '\t'])
    }

    fn at_space(&self) -> bool {
        self.line[self.offset..].starts_with([' ', '\t'])
    }

    /// Goes on by columns of white space; a tab may be used up in part.
    fn advance(&mut self, mut columns: usize) {
        while columns > 0 {
            let width = match self.line.as_bytes().get(self.offset) {
                Some(b' ') => 1,
                Some(b'\t') => 4 - self.column % 4,
                _ => return,
            };
            let used = width.min(columns);
            self.column += used;
            columns -= used;
            if used == width {
                self.offset += 1;
            }
        }
    }

    /// Goes behind the white space and a mark of ASCII characters.
    fn skip_mark(&mut self, length: usize) {
        self.advance(self.indent());
        self.offset += length;
        self.column += length;
    }
}

fn run(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|&b| b == mark).count()
}

fn atx_level(rest: &str) -> Option<u8> {
    let marks = run(rest, b'#');
    let spaced = rest.len() == marks || rest[marks..].starts_with([' ', '\t']);
    ((1..=6).contains(&marks) && spaced).then_some(marks as u8)
}

fn is_unspaced(rest: &str) -> bool {
    matches!(run(rest, b'#'), 2 | 3)
}

fn opens_fence(rest: &str) -> Option<(u8, usize)> {
    let mark = rest.bytes().next().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = run(rest, mark);
    (length >= 3 && !(mark == b'`' && rest[length..].contains('`'))).then_some((mark, length))
}

fn closes_fence(rest: &str, mark: u8, length: usize) -> bool {
    rest.len() >= length && run(rest, mark) == rest.len()
}

fn underline_level(rest: &str) -> Option<u8> {
    match rest.bytes().next()? {
        b'=' if run(rest, b'=') == rest.len() => Some(1),
        b'-' if run(rest, b'-') == rest.len() => Some(2),
        _ => None,
    }
}

fn is_rule(rest: &str) -> bool {
    let Some(mark) = rest
        .bytes()
        .next()
        .filter(|b| matches!(b, b'*' | b'-' | b'_'))
    else {
        return false;
    };
    let marks = rest.bytes().filter(|&b| b == mark).count();
    let blanks = rest.bytes().filter(|b| matches!(b, b' ' | b'\t')).count();
    marks >= 3 && marks + blanks == rest.len()
}

/// Length of a list marker. One that interrupts a paragraph must have text behind it, and start at 1 if it is a number.
fn list_marker(rest: &str, interrupts: bool) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length = match rest.as_bytes().get(digits)? {
        b'-' | b'+' | b'*' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let after = &rest[length..];
    if !(after.is_empty() || after.starts_with([' ', '\t'])) {
        return None;
    }
    let one = digits == 0 || rest[..digits].parse() == Ok(1u32);
    (!interrupts || (one && !after.is_empty())).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    /// The same question, asked of a whole parser.
    fn reference(text: &str) -> Vec<(u8, bool, usize)> {
        let mut depth = 0;
        let mut found = Vec::new();
        for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
                Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth -= 1,
                Event::Start(Tag::Heading { level, .. }) => {
                    let line = text[..range.start].matches('\n').count();
                    found.push((level as u8, depth > 0, line));
                }
                _ => {}
            }
        }
        found
    }

    fn ours(text: &str) -> Vec<(u8, bool, usize)> {
        read(text)
            .headings
            .iter()
            .map(|h| {
                let line = text[..h.range.start].matches('\n').count();
                (h.level, h.nested, line)
            })
            .collect()
    }

    #[test]
    fn hard_cases_agree_with_the_reference() {
        for text in [
            "- a\n  ## in\n ## out",
            "- a\n## out\nlazy\n===\n",
            "- a\nlazy\n===\n# b",
            "> a\nlazy\n---\n> ## q\n## out",
            "1. a\n   ```\n## out\n```\n## in\n",
            "-\n\n  ## out of the item",
            "-\n  ## in the item",
            "a\n2. no list\n## b",
            "a\n-\n## b",
            "\t## code\n\na\n\t## text\n",
            "- a\n\n\t## in\n\n      ## code?\n",
            "-\t## in\n",
            "* * *\n## a\n***\n",
            "```\n## in\n``` no\n~~~\n```\n## out",
            "> ```\n## out",
            "a\n===\nb\n---\nc\n\n---\n",
            "#\n##\n### ###\n####### seven\n#x\n",
            "10) x\n    ## in\n   ## out",
            "- - ## deep\n",
            "> - a\n>   ## x\n> ## y\n## z",
        ] {
            assert_eq!(ours(text), reference(text), "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn headings_agree_with_the_reference(
            lines in proptest::collection::vec(
                "( {0,5})(- |-|1\\. |2\\. |> |>|\\* )?( {0,5})(- |> )?\t?(# a|## b|###|#c|x|x|===|---|```|~~~|````|\\* \\* \\*)?", 0..9
            )
        ) {
            let text = lines.join("\n");
            prop_assert_eq!(ours(&text), reference(&text));
        }
    }
}
