//! Renders structured steps as text.
