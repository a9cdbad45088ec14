//! Error in a scenario file, with the path of the invalid key.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(super) struct Wrong {
    pub(super) path: Vec<String>,
    words: String,
}

impl Wrong {
    pub(super) fn new(key: &str, words: impl Into<String>) -> Self {
        Self { path: vec![key.to_owned()], words: words.into() }
    }

    /// Puts the path of the section that contains the key before the key.
    pub(super) fn within(mut self, section: &[&str]) -> Self {
        self.path.splice(0..0, section.iter().map(|key| (*key).to_owned()));
        self
    }
}

/// Returns an error about a key.
pub(super) fn refuse<T>(key: &str, words: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::new(key, words))
}
