//! Parts of a strategy and their parameters, as input for the writers of settings.

/// Name of the only retry policy that writers of settings handle. Retry policies that are short forms of `backoff` are converted to
/// `backoff`.
pub(crate) const BACKOFF: &str = "backoff";

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) values: Vec<Value>,
    /// True if the printed settings express this part of the strategy.
    pub(crate) is_known: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) default: String,
    /// Original text of the parameter from which the value was converted; `None` without a conversion.
    pub(crate) typed: Option<String>,
    pub(crate) is_read: bool,
    pub(crate) notes: Vec<String>,
}

impl Value {
    pub(crate) fn new(key: &str, text: &str, default: &str) -> Self {
        Self {
            key: key.to_owned(),
            text: text.to_owned(),
            default: default.to_owned(),
            typed: None,
            is_read: false,
            notes: Vec::new(),
        }
    }

    pub(crate) fn shown(&self) -> String {
        self.typed.clone().unwrap_or_else(|| format!("{}={}", self.key, self.text))
    }
}
