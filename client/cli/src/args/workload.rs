//! The flags of a workload, out of the table of its parameters.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use experiments::workload::{Kind, PARAMETERS, Parameter, Place, WorkloadSpec};

/// Heads the flags of [`WorkloadArgs`].
pub(crate) const WORKLOAD: &str = "Workload";

/// What was typed of a workload.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadArgs(pub(crate) WorkloadSpec);

/// Parameters that command lines know.
fn parameters() -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(|parameter| parameter.place != Place::Files)
}

impl Args for WorkloadArgs {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading(WORKLOAD).args(parameters().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for WorkloadArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut spec = WorkloadSpec::default();
        for parameter in parameters() {
            // What was typed has passed the flag's parser.
            let set = match parameter.kind {
                Kind::Switch(_) => parameter.set(&mut spec, &matches.get_flag(parameter.key).to_string()),
                _ => matches
                    .get_one::<String>(parameter.key)
                    .map_or(Ok(()), |text| parameter.set(&mut spec, text)),
            };
            set.map_err(|why| clap::Error::raw(clap::error::ErrorKind::ValueValidation, why))?;
        }
        Ok(Self(spec))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(parameter: &'static Parameter) -> Arg {
    let arg = Arg::new(parameter.key)
        .long(parameter.flag())
        .help(parameter.about)
        .conflicts_with_all(parameter.excludes.iter());
    let arg = match parameter.kind {
        Kind::Switch(_) => return arg.action(ArgAction::SetTrue),
        Kind::Truth(_) => arg.value_parser(["true", "false"]),
        Kind::Words(words) => arg.value_parser(
            PossibleValuesParser::new(
                words.iter().map(|word| PossibleValue::new(word.name).help(word.about)),
            )
            .map(String::from),
        ),
        _ => arg.value_parser(move |text: &str| {
            parameter.set(&mut WorkloadSpec::default(), text).map(|()| text.to_owned())
        }),
    };
    let arg = arg.value_name(parameter.placeholder);
    match parameter.default {
        Some(default) => arg.default_value(default),
        None => arg,
    }
}
