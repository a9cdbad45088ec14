//! Error of an experiment that cannot be run or that failed, with its category and its cause.

use std::error;

/// Category of an error, by which the command line chooses its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    Usage,
    Unreachable,
    /// Counts of ops or attempts do not match, within the client or between the client and the server.
    NotConserved,
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub fn because(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, message: message.into(), source: Some(source.into()) }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// Returns an error about wrong usage.
pub(crate) fn refuse<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(Error::usage(message).into())
}

/// Formats an error and its causes on one line.
pub fn words_of(error: &dyn error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(reason) = cause {
        let words = reason.to_string();
        // A cause is skipped if its message is already in the text, because many libraries repeat the message of the cause.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = reason.source();
    }
    text
}
