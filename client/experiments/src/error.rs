//! Why an experiment is not run, or did not go well.

use std::error;

/// Whose fault an error is; the command line chooses its exit code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for cannot be.
    Usage,
    /// The server does not answer.
    Unreachable,
    /// Counts of the client and the server do not add up.
    NotConserved,
}

/// What went wrong, in words, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

impl Error {
    /// An error that needs no further reason.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// An error with its reason.
    pub fn because(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, message: message.into(), source: Some(source.into()) }
    }

    /// What was asked for cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Whose fault it is.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// The same among errors of other kinds.
pub(crate) fn refusal(kind: ErrorKind, message: impl Into<String>) -> anyhow::Error {
    Error::new(kind, message).into()
}

/// The same with its reason.
pub(crate) fn refusal_because(
    kind: ErrorKind,
    message: impl Into<String>,
    source: impl Into<Box<dyn error::Error + Send + Sync>>,
) -> anyhow::Error {
    Error::because(kind, message, source).into()
}

/// An error and its reasons in one line.
pub fn words_of(error: &dyn error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(reason) = cause {
        let words = reason.to_string();
        // Libraries like to repeat their sources' words.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = reason.source();
    }
    text
}
