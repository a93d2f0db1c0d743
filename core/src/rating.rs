//! Strengths, slot bias and noise from scored calls.
