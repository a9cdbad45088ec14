//! Exit codes of the program, and the report of errors.

use std::fmt;
use std::io;
use std::process::ExitCode;

use experiments::{ErrorKind, words_of};
use rustix::io::Errno;

use crate::text::to_stderr;

/// Exit codes. Users and scripts rely on their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command completed, but an expectation failed.
    Unmet = 1,
    Usage = 2,
    Unreachable = 69,
    /// The accounting check found a mismatch between the counts of client and server, or among the counts of the client.
    NotConserved = 70,
    Output = 74,
    /// A condition of `--fail-if` held, or a figure is worse than the baseline's.
    Failed = 99,
    HungUp = 129,
    Interrupted = 130,
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

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Fatal {
    pub exit: Exit,
    message: String,
    #[source]
    source: Option<anyhow::Error>,
}

impl Fatal {
    pub fn error(exit: Exit, message: impl Into<String>) -> anyhow::Error {
        Self { exit, message: message.into(), source: None }.into()
    }

    pub fn because(
        exit: Exit,
        message: impl Into<String>,
        source: impl Into<anyhow::Error>,
    ) -> anyhow::Error {
        Self { exit, message: message.into(), source: Some(source.into()) }.into()
    }
}

/// Returns the error of a command line or an input that cannot be used.
pub fn usage(message: impl fmt::Display) -> anyhow::Error {
    Fatal::error(Exit::Usage, message.to_string())
}

/// Returns the error of a command line or an input that cannot be used because of another error.
pub fn usage_because(message: impl Into<String>, source: impl Into<anyhow::Error>) -> anyhow::Error {
    Fatal::because(Exit::Usage, message, source)
}

pub fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let advice = error.chain().find_map(limit_to_raise).unwrap_or_default();
    to_stderr(&format!("error: {}{advice}\n", vocabulary::excerpt(&words_of(error.as_ref()))));
    let exit = error.chain().find_map(|cause| {
        let fatal = cause.downcast_ref::<Fatal>().map(|fatal| fatal.exit);
        fatal.or_else(|| cause.downcast_ref::<experiments::Error>().map(|error| error.kind().into()))
    });
    exit.unwrap_or(Exit::Usage).into()
}

/// Returns the advice if the cause of an error is a limit on open files, or on threads and their memory.
fn limit_to_raise(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    match Errno::from_io_error(cause.downcast_ref()?)? {
        Errno::MFILE => Some("; raise their limit: `ulimit -n 1024`"),
        Errno::AGAIN | Errno::NOMEM => Some(
            "; start fewer (--threads, --jobs), or raise the limits on memory (`ulimit -v`) or processes (`ulimit -u`)",
        ),
        _ => None,
    }
}

pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(closed))
}

pub fn exit_code(exit: Option<Exit>) -> ExitCode {
    exit.map_or(ExitCode::SUCCESS, ExitCode::from)
}

/// Ignores the error of a reader that closed its end of a pipe, because it wants no more.
pub fn unless_closed(written: anyhow::Result<()>) -> anyhow::Result<()> {
    written.or_else(|error| if is_broken_pipe(&error) { Ok(()) } else { Err(error) })
}
