//! Exit codes, and how errors are told.

use std::io;
use std::process::ExitCode;

use experiments::{ErrorKind, words_of};

use crate::text::stderr::to_stderr;

/// Exit codes; relied on from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// An expectation is not met, or it ran but did not come to what was asked.
    Unmet = 1,
    /// Bad usage or configuration.
    Usage = 2,
    /// The target cannot be reached.
    Unreachable = 69,
    /// Counts do not add up.
    NotConserved = 70,
    /// An output cannot be written.
    Output = 74,
    /// A condition of `--fail-if` held, or a figure is worse than the baseline's.
    Failed = 99,
    /// Ended by SIGHUP.
    HungUp = 129,
    /// Ended by SIGINT.
    Interrupted = 130,
    /// Ended by SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Unreachable => Self::Unreachable,
            ErrorKind::NotConserved => Self::NotConserved,
        }
    }
}

/// An error with the exit code it leads to. Without one, an error is bad usage.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Fatal {
    pub(crate) exit: Exit,
    message: String,
    #[source]
    source: Option<anyhow::Error>,
}

impl Fatal {
    /// An error that needs no further reason.
    pub(crate) fn error(exit: Exit, message: impl Into<String>) -> anyhow::Error {
        Self { exit, message: message.into(), source: None }.into()
    }

    /// An error with its reason.
    pub(crate) fn because(
        exit: Exit,
        message: impl Into<String>,
        source: impl Into<anyhow::Error>,
    ) -> anyhow::Error {
        Self { exit, message: message.into(), source: Some(source.into()) }.into()
    }
}

/// Tells an error on stderr and returns its exit code. A closed stdout is no error.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let advice = if is_out_of_files(error) { "; raise their limit: `ulimit -n 1024`" } else { "" };
    to_stderr(&format!("error: {}{advice}\n", vocabulary::excerpt(&words_of(error.as_ref()))));
    let exit = error.chain().find_map(|cause| {
        let fatal = cause.downcast_ref::<Fatal>().map(|fatal| fatal.exit);
        fatal.or_else(|| cause.downcast_ref::<experiments::Error>().map(|error| error.kind().into()))
    });
    exit.unwrap_or(Exit::Usage).into()
}

/// Whether the limit on open files is so low that not even a run can begin.
fn is_out_of_files(error: &anyhow::Error) -> bool {
    const TOO_MANY: i32 = 24;
    let refused = |cause: &io::Error| cause.raw_os_error() == Some(TOO_MANY);
    error.chain().any(|cause| cause.downcast_ref().is_some_and(refused))
}

/// Whether whoever was written to is gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(closed))
}
