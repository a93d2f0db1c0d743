//! Prompt texts.
