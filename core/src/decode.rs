//! Reads scores out of a judge's answer.
