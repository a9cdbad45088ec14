//! A part of a strategy with its parameters, as settings are written from them.

/// The name under which the retry policy is read, whichever it is: all are read as the `backoff` that they are short forms of.
pub(super) const BACKOFF: &str = "backoff";

/// A part with its parameters.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
    /// Whether the settings have something for it.
    pub(super) is_known: bool,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) key: String,
    pub(super) text: String,
    pub(super) default: String,
    /// What was typed when it was not this.
    pub(super) typed: Option<String>,
    pub(super) is_read: bool,
    pub(super) notes: Vec<String>,
}

impl Value {
    pub(super) fn new(key: &str, text: &str, default: &str) -> Self {
        Self {
            key: key.to_owned(),
            text: text.to_owned(),
            default: default.to_owned(),
            typed: None,
            is_read: false,
            notes: Vec::new(),
        }
    }

    /// As it would be typed.
    pub(super) fn shown(&self) -> String {
        self.typed.clone().unwrap_or_else(|| format!("{}={}", self.key, self.text))
    }
}
