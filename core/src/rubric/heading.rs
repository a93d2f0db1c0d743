//! What a heading says: which section it opens, or a criterion's name, id and weight.

use super::wrong;
use crate::error::Result;
use crate::fold::lower_text;
use crate::number;
use crate::slug::is_id;

/// The sections a rubric knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What counts as truth.
    GroundTruth,
    /// The criteria.
    Criteria,
}

/// Words that tell the sections apart, in lower case. The first that occurs decides, so the longer ones come first.
const SECTION_WORDS: &[(&str, Section)] = &[
    ("ground truth", Section::GroundTruth),
    ("ground-truth", Section::GroundTruth),
    // Chinese, Japanese
    ("评价基准", Section::Criteria),
    ("评估基准", Section::Criteria),
    ("评分基准", Section::Criteria),
    ("基準真", Section::GroundTruth),
    ("基準事", Section::GroundTruth),
    ("判据", Section::Criteria),
    ("判據", Section::Criteria),
    ("标准", Section::Criteria),
    ("標準", Section::Criteria),
    ("准则", Section::Criteria),
    ("準則", Section::Criteria),
    ("评分", Section::Criteria),
    ("評分", Section::Criteria),
    ("基準", Section::Criteria),
    ("評価", Section::Criteria),
    ("基准", Section::GroundTruth),
    ("真值", Section::GroundTruth),
    ("真相", Section::GroundTruth),
    ("事实", Section::GroundTruth),
    ("事實", Section::GroundTruth),
    ("真実", Section::GroundTruth),
    ("正解", Section::GroundTruth),
    ("グラウンドトゥルース", Section::GroundTruth),
    // Korean
    ("기준", Section::Criteria),
    ("정답", Section::GroundTruth),
    ("사실", Section::GroundTruth),
    // Latin script: criteria, criterion, criterio, critério, critère, Kriterien, kryteria, kritéria
    ("criteri", Section::Criteria),
    ("critéri", Section::Criteria),
    ("critère", Section::Criteria),
    ("kriteri", Section::Criteria),
    ("kritéri", Section::Criteria),
    ("kryteri", Section::Criteria),
    // Cyrillic, Greek, Arabic, Hindi
    ("критер", Section::Criteria),
    ("эталон", Section::GroundTruth),
    ("истин", Section::GroundTruth),
    ("факты", Section::GroundTruth),
    ("κριτήρι", Section::Criteria),
    ("معايير", Section::Criteria),
    ("मानदंड", Section::Criteria),
];

/// The section that a level-2 heading opens; `None` for one that no rubric knows.
pub fn section(heading: &str) -> Option<Section> {
    let heading = lower_text(heading);
    let heading = heading.split_whitespace().collect::<Vec<_>>().join(" ");
    SECTION_WORDS
        .iter()
        .find(|(word, _)| heading.contains(word))
        .map(|(_, section)| *section)
}

/// A criterion's heading.
#[derive(Debug, Clone, PartialEq)]
pub struct CriterionHeading {
    /// Name without the attributes; the id where there is no other.
    pub name: String,
    /// Pinned id.
    pub id: Option<String>,
    /// Positive; 1 by default.
    pub weight: f64,
}

impl CriterionHeading {
    /// Reads `Name {#id weight=2}`. Braces that hold neither an id nor a weight are part of the name.
    ///
    /// # Errors
    /// For an invalid id or weight, and for a heading with neither name nor id.
    pub fn read(text: &str, line: usize) -> Result<Self> {
        let mut heading = CriterionHeading {
            name: text.to_string(),
            id: None,
            weight: 1.0,
        };
        if let Some((name, attributes)) = attributes(text) {
            heading.name = name.to_string();
            // `#bad id` is one broken id and not an id with something behind it.
            for attribute in attributes.split_whitespace() {
                heading.set(attribute, attributes, line)?;
            }
        }
        if heading.name.is_empty() {
            heading.name = heading
                .id
                .clone()
                .ok_or_else(|| wrong(format!("line {line}: the heading has no name")))?;
        }
        if heading.name.chars().count() > super::MAX_NAME {
            let start: String = heading.name.chars().take(40).collect();
            return Err(wrong(format!(
                "line {line}: the name \"{start}…\" is longer than {} characters",
                super::MAX_NAME
            )));
        }
        Ok(heading)
    }

    fn set(&mut self, attribute: &str, all: &str, line: usize) -> Result<()> {
        if let Some(id) = attribute.strip_prefix('#') {
            if !is_id(id) || self.id.is_some() {
                return Err(wrong(format!(
                    "line {line}: {{{all}}} must hold one id of 1 to 40 letters, digits, _ or -"
                )));
            }
            self.id = Some(id.to_string());
        } else if let Some(weight) = attribute.strip_prefix("weight=") {
            self.weight = number::positive(weight).ok_or_else(|| {
                wrong(format!(
                    "line {line}: the weight in {{{all}}} must be a positive number"
                ))
            })?;
        } else {
            return Err(wrong(format!(
                "line {line}: {{{all}}} must hold nothing but #id and weight=number: found \"{attribute}\""
            )));
        }
        Ok(())
    }
}

/// Name and inside of the braces at the end of a heading.
fn attributes(text: &str) -> Option<(&str, &str)> {
    let (name, inside) = text.strip_suffix('}')?.rsplit_once('{')?;
    let inside = inside.trim();
    let meant = inside.starts_with('#') || inside.starts_with("weight=");
    meant.then_some((name.trim_end(), inside))
}

/// Whether a name holds an anchor that isn't at its end, and is therefore none.
pub fn has_stray_anchor(name: &str) -> bool {
    name.split('{').skip(1).any(|rest| {
        rest.strip_prefix('#')
            .and_then(|rest| rest.split_once('}'))
            .is_some_and(|(id, _)| is_id(id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_is_that_of_unicode_for_every_letter_of_a_section_word_or_a_slug() {
        let words: String = SECTION_WORDS.iter().map(|(word, _)| *word).collect();
        let matters = |text: &str| text.chars().any(|c| c.is_ascii() || words.contains(c));
        for c in '\0'..=char::MAX {
            let (ours, unicode) = (lower_text(&c.to_string()), c.to_lowercase().to_string());
            if matters(&ours) || matters(&unicode) {
                assert_eq!(ours, unicode, "{c:?}");
            }
        }
    }
}
