//! Parts of a strategy and their parameters, as input for the writers of settings.

/// Name of the only retry policy that writers of settings handle. All other retry policies are short forms of `backoff` and are converted
/// to it.
pub(super) const BACKOFF: &str = "backoff";

#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
    /// True if the printed settings express this part.
    pub(super) is_known: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) key: String,
    pub(super) text: String,
    pub(super) default: String,
    /// Original text, if the value was converted from another parameter.
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

    pub(super) fn shown(&self) -> String {
        self.typed.clone().unwrap_or_else(|| format!("{}={}", self.key, self.text))
    }
}
