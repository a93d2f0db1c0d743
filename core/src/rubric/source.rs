//! The text of a rubric without comments, and where its lines came from.

use super::Warning;

/// Text with LF line ends, without byte order mark and comments.
pub struct Source {
    /// The text.
    pub text: String,
    /// Line number in the original document for each line of `text`.
    lines: Vec<usize>,
    /// Byte offset of each line of `text`.
    starts: Vec<usize>,
    /// Comments that are never closed.
    pub warnings: Vec<Warning>,
}

impl Source {
    /// Cleans a document.
    pub fn new(markdown: &str) -> Self {
        let text = markdown.strip_prefix('\u{feff}').unwrap_or(markdown);
        let mut source = Source {
            text: String::with_capacity(text.len()),
            lines: vec![1],
            starts: vec![0],
            warnings: Vec::new(),
        };
        source.strip_comments(&text.replace("\r\n", "\n").replace('\r', "\n"));
        source
    }

    /// Line in the original document that holds a byte of `text`.
    pub fn line(&self, offset: usize) -> usize {
        self.lines[self.starts.partition_point(|&start| start <= offset) - 1]
    }

    /// Copies the text without `<!-- … -->`, which is kept inside fenced code and code spans.
    fn strip_comments(&mut self, text: &str) {
        let mut original_line = 1;
        let mut fence: Option<(u8, usize)> = None;
        let mut at = 0;
        while at < text.len() {
            let end = text[at..].find('\n').map_or(text.len(), |n| at + n + 1);
            let line = &text[at..end];
            let toggled = next_fence(fence, line);
            if fence.is_some() || toggled.is_some() {
                fence = toggled;
                self.push(line, &mut original_line);
                at = end;
                continue;
            }
            // Several comments may follow each other on one line, and each may end lines further down.
            let mut from = at;
            let mut end = end;
            while let Some(open) = find_comment(&text[from..end]) {
                let open = from + open;
                let Some(length) = text[open + 4..].find("-->") else {
                    self.warnings.push((
                        original_line,
                        "<!-- is never closed, so it was read as text".into(),
                    ));
                    break;
                };
                self.push(&text[from..open], &mut original_line);
                from = open + 4 + length + 3;
                original_line += text[open..from].matches('\n').count();
                if self.text.is_empty() || self.text.ends_with('\n') {
                    *self.lines.last_mut().expect("never empty") = original_line;
                }
                end = text[from..].find('\n').map_or(text.len(), |n| from + n + 1);
            }
            self.push(&text[from..end], &mut original_line);
            at = end;
        }
    }

    fn push(&mut self, part: &str, original_line: &mut usize) {
        for piece in part.split_inclusive('\n') {
            self.text.push_str(piece);
            if piece.ends_with('\n') {
                *original_line += 1;
                self.lines.push(*original_line);
                self.starts.push(self.text.len());
            }
        }
    }
}

/// The fence that is open after a line: its character and length.
fn next_fence(open: Option<(u8, usize)>, line: &str) -> Option<(u8, usize)> {
    let line = line.trim();
    let mark = line.bytes().next().filter(|b| matches!(b, b'`' | b'~'));
    let length = mark.map_or(0, |m| line.bytes().take_while(|&b| b == m).count());
    match open {
        Some((open_mark, open_length)) => {
            let closes = mark == Some(open_mark) && length >= open_length && length == line.len();
            if closes { None } else { open }
        }
        None if length >= 3 && !(mark == Some(b'`') && line[length..].contains('`')) => {
            mark.map(|m| (m, length))
        }
        None => None,
    }
}

/// Where a comment starts in (the rest of) a line, outside code spans.
fn find_comment(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'`' {
            let run = bytes[at..].iter().take_while(|&&b| b == b'`').count();
            at += run;
            // Longer runs open no span here: only then is the search for their ends linear in the line.
            if run > 8 {
                continue;
            }
            let mut closing = at;
            while closing < bytes.len() {
                let next = bytes[closing..].iter().take_while(|&&b| b == b'`').count();
                if next == run {
                    at = closing + run;
                    break;
                }
                closing += next.max(1);
            }
        } else if bytes[at..].starts_with(b"<!--") {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}
