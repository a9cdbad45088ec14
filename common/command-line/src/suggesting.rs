//! Values that shells suggest for completion, although other values are valid, too.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};

#[derive(Clone)]
pub struct Suggesting<P, F> {
    parser: P,
    names: F,
}

/// Returns a parser for which shells suggest `names` for completion. It parses values in the same way as `parser`. The argument should hide
/// its possible values from its help text.
pub fn suggesting<P, F, I>(parser: P, names: F) -> Suggesting<P, F>
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
