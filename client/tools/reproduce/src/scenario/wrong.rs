//! Error in a claim or a plot of a scenario file, with the invalid key.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(super) struct Wrong {
    pub(super) key: &'static str,
    words: String,
}

impl Wrong {
    pub(super) fn new(key: &'static str, words: impl Into<String>) -> Self {
        Self { key, words: words.into() }
    }
}
