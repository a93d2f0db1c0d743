//! The deterministic core of Assay.
