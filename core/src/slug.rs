//! Criterion ids.
