//! Keyed delimiters around untrusted text.
