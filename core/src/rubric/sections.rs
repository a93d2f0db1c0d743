//! From headings to a ground-truth note and criteria.

use super::document::{Document, Heading};
use super::heading::{CriterionHeading, Section, has_stray_anchor, section};
use super::source::Source;
use super::{MAX_BODY, MAX_CRITERIA, Warning, wrong};
use crate::error::{CoreError, Result};

/// A criterion as it stands in the document.
pub struct Found {
    /// Name, id, weight.
    pub heading: CriterionHeading,
    /// Line of the heading.
    pub line: usize,
    /// The instruction.
    pub body: String,
}

/// What the sections hold.
pub struct Read {
    /// The ground-truth note.
    pub note: String,
    /// In order.
    pub criteria: Vec<Found>,
    /// Text that isn't used.
    pub warnings: Vec<Warning>,
}

/// A stretch of text under one heading.
struct Part<'a> {
    /// `None` before the first heading that counts.
    heading: Option<&'a Heading>,
    kind: Kind,
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Preamble,
    GroundTruth,
    CriteriaIntroduction,
    Criterion,
    Unknown,
}

/// Reads the sections.
///
/// # Errors
/// Everything that `parse` refuses.
pub fn read(source: &Source, document: &Document) -> Result<Read> {
    let parts = split(source, &document.headings);
    let mut read = Read {
        note: String::new(),
        criteria: Vec::new(),
        warnings: Vec::new(),
    };
    let mut without_instruction = Vec::new();
    for part in &parts {
        let body = source.text[part.start..part.end].trim();
        match (part.kind, part.heading) {
            (Kind::Criterion, Some(heading)) => {
                let found = criterion(heading, body)?;
                if has_stray_anchor(&found.heading.name) {
                    read.warnings.push((
                        heading.line,
                        "an {#id} counts only at the end of its heading, so it was read as a part of the name"
                            .into(),
                    ));
                }
                if body.is_empty() {
                    without_instruction
                        .push(format!("\"{}\" (line {})", found.heading.name, heading.line));
                }
                read.criteria.push(found);
            }
            (Kind::GroundTruth, Some(heading)) if read.note.is_empty() => {
                limit(body, "the ground-truth note", heading.line)?;
                read.note = body.to_string();
            }
            (Kind::GroundTruth, Some(heading)) if !body.is_empty() => read.warnings.push((
                heading.line,
                format!(
                    "the section \"{}\" isn't used, as there is a ground-truth note already",
                    heading.text
                ),
            )),
            (Kind::Unknown, Some(heading)) => read.warnings.push((
                heading.line,
                format!(
                    "the section \"{}\" isn't used: a rubric has the sections \"Ground Truth Note\" and \"Criteria\"",
                    heading.text
                ),
            )),
            (Kind::CriteriaIntroduction, _) if !body.is_empty() => read.warnings.push((
                first_line(source, part),
                "the text before the first ### heading is for people, no judge sees it".into(),
            )),
            (Kind::Preamble, _) if !body.is_empty() => read.warnings.push((
                first_line(source, part),
                "the text before the first section is for people, no judge sees it".into(),
            )),
            _ => {}
        }
    }
    if read.criteria.is_empty() {
        return Err(no_criteria(source, document, &parts));
    }
    if !without_instruction.is_empty() {
        return Err(wrong(format!(
            "must have an instruction under every criterion's heading: there is none under {}",
            without_instruction.join(", ")
        )));
    }
    if let Some(excess) = read.criteria.get(MAX_CRITERIA) {
        return Err(wrong(format!(
            "must have at most {MAX_CRITERIA} criteria: \"{}\" (line {}) is number {} of {}",
            excess.heading.name,
            excess.line,
            MAX_CRITERIA + 1,
            read.criteria.len()
        )));
    }
    Ok(read)
}

/// Cuts the document at the headings that count where they stand.
fn split<'a>(source: &Source, headings: &'a [Heading]) -> Vec<Part<'a>> {
    let mut parts = vec![Part {
        heading: None,
        kind: Kind::Preamble,
        start: 0,
        end: source.text.len(),
    }];
    for heading in headings {
        let current = parts.last().map_or(Kind::Preamble, |part| part.kind);
        let kind = match (heading.level, current) {
            (2, _) => match section(&heading.text) {
                Some(Section::GroundTruth) => Kind::GroundTruth,
                Some(Section::Criteria) => Kind::CriteriaIntroduction,
                // A line above `---` is a heading to CommonMark and mostly a paragraph with a rule below to its author.
                None if heading.underlined => continue,
                None => Kind::Unknown,
            },
            (3, Kind::CriteriaIntroduction | Kind::Criterion) => Kind::Criterion,
            // The document's title starts the preamble anew, so that it isn't taken for text of its own.
            (1, Kind::Preamble)
                if parts.len() == 1 && source.text[..heading.start].trim().is_empty() =>
            {
                parts[0].start = heading.end;
                continue;
            }
            _ => continue,
        };
        if let Some(open) = parts.last_mut() {
            open.end = heading.start;
        }
        parts.push(Part {
            heading: Some(heading),
            kind,
            start: heading.end,
            end: source.text.len(),
        });
    }
    parts
}

fn criterion(heading: &Heading, body: &str) -> Result<Found> {
    let read = CriterionHeading::read(&heading.text, heading.line)?;
    limit(
        body,
        &format!("the instruction of \"{}\"", read.name),
        heading.line,
    )?;
    Ok(Found {
        heading: read,
        line: heading.line,
        body: body.to_string(),
    })
}

fn limit(body: &str, what: &str, line: usize) -> Result<()> {
    let characters = body.chars().count();
    if characters > MAX_BODY {
        return Err(wrong(format!(
            "line {line}: {what} has {characters} characters, at most {MAX_BODY} are allowed"
        )));
    }
    Ok(())
}

/// Line of the first text in a part.
fn first_line(source: &Source, part: &Part<'_>) -> usize {
    let text = &source.text[part.start..part.end];
    source.line(part.start + (text.len() - text.trim_start().len()))
}

/// Says what is missing, from what is there.
fn no_criteria(source: &Source, document: &Document, parts: &[Part<'_>]) -> CoreError {
    let all = |kind: Kind| -> Option<String> {
        let named: Vec<_> = parts
            .iter()
            .filter(|part| part.kind == kind)
            .filter_map(|part| part.heading)
            .map(|heading| format!("\"{}\" (line {})", heading.text, heading.line))
            .collect();
        (!named.is_empty()).then(|| named.join(", "))
    };
    if source.text.trim().is_empty() {
        return wrong("has no criteria: the text is blank");
    }
    if let Some(sections) = all(Kind::CriteriaIntroduction) {
        return wrong(format!(
            "has no criteria: there is no heading \"### Name\" under {sections}"
        ));
    }
    if let Some(sections) = all(Kind::Unknown) {
        return wrong(format!(
            "has no criteria: none of its sections is called \"## Criteria\", they are {sections}"
        ));
    }
    match document.headings.iter().find(|heading| heading.level == 3) {
        Some(heading) => wrong(format!(
            "has no criteria: \"{}\" (line {}) stands in no section \"## Criteria\"",
            heading.text, heading.line
        )),
        None => wrong("has no criteria: there is no section \"## Criteria\""),
    }
}
