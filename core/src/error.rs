//! The one error type of the core.

/// Bad input: which field, what is wrong, and the value where it helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreError {
    /// JSON pointer into the arguments of the call (`""` for the whole).
    pub path: String,
    /// What is wrong, as a clause for people.
    pub message: String,
    /// The value as text, when showing it helps.
    pub value: Option<String>,
}

impl CoreError {
    /// An error without a value.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            value: None,
        }
    }

    /// An error that shows the faulty value.
    pub fn with_value(
        path: impl Into<String>,
        message: impl Into<String>,
        value: impl ToString,
    ) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            value: Some(value.to_string()),
        }
    }
}

impl std::fmt::Display for CoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for CoreError {}

/// What every fallible function of the core returns.
pub type Result<T> = std::result::Result<T, CoreError>;
