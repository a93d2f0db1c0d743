//! Shared plumbing of the wasm exports, and the exports of prompts, delimiters, rendering, rubrics and ids.
//!
//! Calling convention, the same for every export:
//! - arguments are numbers, strings, or slices of numbers (typed arrays on the other side);
//! - structured arguments and results are one JSON string;
//! - bad input is `Err`: a thrown *string* holding the JSON of [`CoreError`]. The TypeScript side turns it into an
//!   `AssayError`. Anything else that is thrown is a trap, and the instance is replaced.

use crate::error::CoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

/// What every fallible export returns.
pub(crate) type Exported<T> = std::result::Result<T, JsValue>;

/// Bad input as the string that the TypeScript side expects to catch.
pub(crate) fn thrown(error: CoreError) -> JsValue {
    JsValue::from_str(&to_json(&error))
}

/// Reads one JSON argument; `name` is what an error calls it.
#[allow(dead_code)]
pub(crate) fn from_json<T: DeserializeOwned>(name: &str, json: &str) -> Exported<T> {
    serde_json::from_str(json).map_err(|e| {
        thrown(CoreError::new(
            format!("/{name}"),
            format!("can't be read: {e}"),
        ))
    })
}

/// One JSON result. The types of this crate have string keys only, so this can't fail in practice.
pub(crate) fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value)
        .unwrap_or_else(|e| format!(r#"{{"path":"","message":"can't be written as JSON: {e}"}}"#))
}

/// Version of this crate, from Cargo.toml.
#[wasm_bindgen(js_name = coreVersion)]
pub fn core_version() -> String {
    env!("CARGO_PKG_VERSION").to_string()
}

/// Panics, so that the tests of the loader can see a real trap.
#[wasm_bindgen(js_name = __trapForTests)]
pub fn trap_for_tests() {
    panic!("a trap on purpose");
}
