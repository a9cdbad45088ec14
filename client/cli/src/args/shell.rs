//! What shells and manuals can be told about the command line, and what `loadgen completions` and `loadgen man` can.

use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Args, Command};
use clap_complete::Shell;

/// Which shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell that completes.
    pub(crate) shell: Shell,
}

/// Where man pages go.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write a page for the program and one for each subcommand to this directory [default: loadgen(1) to stdout].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// A parser whose values shells offer for completion, though it takes others, too.
#[derive(Clone)]
pub(crate) struct Suggesting<P, F> {
    parser: P,
    names: F,
}

/// Parses as before and offers these names. The argument should hide its possible values from its help.
pub(crate) fn suggesting<P, F, I>(parser: P, names: F) -> Suggesting<P, F>
where
    P: TypedValueParser,
    F: Fn() -> I + Clone + Send + Sync + 'static,
    I: Iterator<Item = &'static str> + 'static,
{
    Suggesting { parser, names }
}

impl<P, F, I> TypedValueParser for Suggesting<P, F>
where
    P: TypedValueParser,
    F: Fn() -> I + Clone + Send + Sync + 'static,
    I: Iterator<Item = &'static str> + 'static,
{
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().map(PossibleValue::new)))
    }
}

/// The names of all strategies.
pub(crate) fn strategies() -> impl Iterator<Item = &'static str> {
    tailback::STRATEGIES.iter().map(|entry| entry.name)
}
