//! Rubrics from Markdown.
