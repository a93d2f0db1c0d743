//! The prompts: fixed texts around untrusted blocks, and the suffixes that hold what varies between calls.
//!
//! The texts are the files in `prompts/`. What a parser may rely on (the evidence judge reads prompts back):
//!
//! - A block is always preceded by exactly one heading line, then the block's opening line. The headings are
//!   [`HEADING_TASK`], [`HEADING_CONTEXT`] (only with a context), [`HEADING_A`], [`HEADING_B`] in a pairwise prompt and
//!   [`HEADING_TASK`], [`HEADING_CONTEXT`], [`HEADING_STEPS`] in a progress prompt, in this order. No line outside
//!   blocks starts with a delimiter unless it opens or closes one.
//! - A pairwise suffix starts with an empty line, then a line [`HEADING_CRITERION`] + name, then a line
//!   [`CRITERION_ID`] + id, an empty line and the criterion's text.
//! - A progress suffix has one line `Checkpoint i: after step k` for each checkpoint.

use crate::delimit::quote_delimiters;
use crate::error::{CoreError, Result};
use crate::template;

/// Version of all prompt texts. Any change of a text needs a new one: it is part of every cache key.
pub const PROMPT_VERSION: &str = "2026-12-01.1";

/// Line before the block of the task.
pub const HEADING_TASK: &str = "## Task";
/// Line before the block of the context.
pub const HEADING_CONTEXT: &str = "## Context";
/// Line before the block in slot A.
pub const HEADING_A: &str = "## Trajectory A";
/// Line before the block in slot B.
pub const HEADING_B: &str = "## Trajectory B";
/// Line before the block of the steps.
pub const HEADING_STEPS: &str = "## Steps";
/// Start of the line with the criterion's name.
pub const HEADING_CRITERION: &str = "## Criterion: ";
/// Start of the line with the criterion's id, directly under its heading.
pub const CRITERION_ID: &str = "Id: ";

const PAIRWISE: &str = include_str!("prompts/pairwise.md");
const PAIRWISE_PROPOSAL: &str = include_str!("prompts/pairwise_proposal.md");
const PAIRWISE_SUFFIX: &str = include_str!("prompts/pairwise_suffix.md");
const PROGRESS: &str = include_str!("prompts/progress.md");
const PROGRESS_SUFFIX: &str = include_str!("prompts/progress_suffix.md");
const DRAFT: &str = include_str!("prompts/draft.md");

/// One criterion, as far as prompts need it.
#[derive(Debug, Clone)]
pub struct Criterion {
    /// Short id, written into the prompt.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// What to look for and what to punish.
    pub description: String,
}

/// What the work to be judged is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Executed work with observed output.
    Trajectory,
    /// Plans, drafts and answers that nobody has executed.
    Proposal,
}

/// What the frame of a pairwise prompt depends on.
#[derive(Debug, Clone)]
pub struct PairwiseOptions {
    /// What counts as truth; may be empty.
    pub ground_truth_note: String,
    /// Whether a block of context follows the task.
    pub has_context: bool,
    /// Images attached to the message.
    pub images: u32,
    /// What is judged.
    pub stage: Stage,
}

/// Fixed texts of a pairwise prompt, in order, with the blocks of task, context, A and B between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairwiseFrame {
    /// Role, notes, heading of the task.
    pub before_task: String,
    /// Heading of the context; empty without one.
    pub before_context: String,
    /// Images and heading of A.
    pub before_a: String,
    /// Heading of B.
    pub before_b: String,
    /// The scale.
    pub after_b: String,
}

/// The frame of a pairwise prompt.
pub fn pairwise_frame(options: &PairwiseOptions) -> PairwiseFrame {
    let note = outside(&options.ground_truth_note);
    let images = images_sentence(options.images);
    let file = match options.stage {
        Stage::Trajectory => PAIRWISE,
        Stage::Proposal => PAIRWISE_PROPOSAL,
    };
    let mut texts = Texts(template::render(
        file,
        &[
            ("note", present(&note)),
            ("context", options.has_context.then_some("")),
            ("images", images.as_deref()),
        ],
    ));
    PairwiseFrame {
        before_task: texts.take("task"),
        before_context: texts.take("context"),
        before_a: texts.take("a"),
        before_b: texts.take("b"),
        after_b: texts.take(""),
    }
}

/// Criterion and output contract of a pairwise prompt.
pub fn pairwise_suffix(criterion: &Criterion) -> String {
    template::render_text(
        PAIRWISE_SUFFIX,
        &[
            ("name", Some(&one_line(&criterion.name))),
            ("id", Some(&one_line(&criterion.id))),
            ("description", Some(&outside(&criterion.description))),
        ],
    )
}

/// What the frame of a progress prompt depends on.
#[derive(Debug, Clone)]
pub struct ProgressOptions {
    /// What counts as truth; may be empty.
    pub ground_truth_note: String,
    /// What "done" means; may be empty.
    pub criteria: Vec<Criterion>,
    /// Whether a block of context follows the task.
    pub has_context: bool,
    /// Images attached to the message.
    pub images: u32,
}

/// Fixed texts of a progress prompt, in order, with the blocks of task, context and steps between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressFrame {
    /// Role, notes, criteria, heading of the task.
    pub before_task: String,
    /// Heading of the context; empty without one.
    pub before_context: String,
    /// Images and heading of the steps.
    pub before_steps: String,
    /// The scale and its calibration.
    pub after_steps: String,
}

/// The frame of a progress prompt.
pub fn progress_frame(options: &ProgressOptions) -> ProgressFrame {
    let note = outside(&options.ground_truth_note);
    let images = images_sentence(options.images);
    let criteria = options
        .criteria
        .iter()
        .map(|c| {
            format!(
                "- {}: {}",
                one_line(&c.name),
                outside(&c.description).replace('\n', "\n  ")
            )
        })
        .collect::<Vec<_>>()
        .join("\n");
    let mut texts = Texts(template::render(
        PROGRESS,
        &[
            ("note", present(&note)),
            ("criteria", present(&criteria)),
            ("context", options.has_context.then_some("")),
            ("images", images.as_deref()),
        ],
    ));
    ProgressFrame {
        before_task: texts.take("task"),
        before_context: texts.take("context"),
        before_steps: texts.take("steps"),
        after_steps: texts.take(""),
    }
}

/// Checkpoint list and output contract of a progress prompt.
///
/// # Errors
/// Unless the checkpoints are ascending step numbers from 1 to `step_count`, at least one.
pub fn progress_suffix(checkpoints: &[u32], step_count: u32) -> Result<String> {
    if checkpoints.is_empty() {
        return Err(CoreError::new("/checkpoints", "must not be empty"));
    }
    let mut previous = 0;
    for (i, &step) in checkpoints.iter().enumerate() {
        if step == 0 || step > step_count {
            return Err(CoreError::with_value(
                format!("/checkpoints/{i}"),
                format!("must be a step number from 1 to {step_count}"),
                step,
            ));
        }
        if step <= previous {
            return Err(CoreError::with_value(
                format!("/checkpoints/{i}"),
                format!("must be larger than the checkpoint before it, {previous}"),
                step,
            ));
        }
        previous = step;
    }
    let list = numbered(checkpoints, |i, step| {
        format!("Checkpoint {i}: after step {step}")
    });
    let form = numbered(checkpoints, |i, _| format!("<c{i}> X </c{i}>"));
    let lines = match checkpoints.len() {
        1 => "this one line".to_string(),
        n => format!("these {n} lines, one for each checkpoint in order,"),
    };
    Ok(template::render_text(
        PROGRESS_SUFFIX,
        &[
            ("checkpoints", Some(&list)),
            ("lines", Some(&lines)),
            ("form", Some(&form)),
        ],
    ))
}

/// What a best-of-N draft prompt depends on.
#[derive(Debug, Clone)]
pub struct DraftOptions {
    /// The request, which *is* the instruction here.
    pub request: String,
    /// Reference material, already in a block when it isn't trusted.
    pub context: Option<String>,
    /// 1-based number of this draft.
    pub draft: u32,
    /// How many drafts there are.
    pub drafts: u32,
}

/// A best-of-N draft prompt; only its last line varies between drafts.
///
/// # Errors
/// Unless `1 <= draft <= drafts`, or when the request is blank.
pub fn draft_prompt(options: &DraftOptions) -> Result<String> {
    if options.request.trim().is_empty() {
        return Err(CoreError::new("/request", "must not be blank"));
    }
    if options.draft == 0 || options.draft > options.drafts {
        return Err(CoreError::with_value(
            "/draft",
            format!("must be from 1 to {}", options.drafts),
            options.draft,
        ));
    }
    let context = options.context.as_deref().unwrap_or_default();
    let prompt = template::render_text(
        DRAFT,
        &[
            ("context", present(context)),
            ("request", Some(&options.request)),
            ("draft", Some(&options.draft.to_string())),
            ("drafts", Some(&options.drafts.to_string())),
        ],
    );
    Ok(prompt.trim_end().to_string())
}

/// The texts of a rendered template by the block that follows them.
struct Texts(Vec<(&'static str, String)>);

impl Texts {
    /// The text before a block, `""` when the block was left out.
    fn take(&mut self, block: &str) -> String {
        self.0
            .iter_mut()
            .find(|(name, _)| *name == block)
            .map(|(_, text)| std::mem::take(text))
            .unwrap_or_default()
    }
}

fn present(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// Text of a rubric as it stands outside blocks.
fn outside(text: &str) -> String {
    quote_delimiters(&text.replace("\r\n", "\n").replace('\r', "\n"))
        .trim()
        .to_string()
}

/// Runs of whitespace and control characters become one space, so that a name can't end its heading line.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn images_sentence(images: u32) -> Option<String> {
    match images {
        0 => None,
        1 => Some("1 image is attached to this message".into()),
        n => Some(format!("{n} images are attached to this message")),
    }
}

fn numbered(checkpoints: &[u32], line: impl Fn(usize, u32) -> String) -> String {
    checkpoints
        .iter()
        .enumerate()
        .map(|(i, &step)| line(i + 1, step))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests;
