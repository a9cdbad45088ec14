//! Flags of a workload, generated from the table of workload parameters.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use experiments::workload::{AllowedIn, Kind, PARAMETERS, Parameter, WorkloadSpec};

pub const WORKLOAD: &str = "Workload";

/// Environment variable with the seed that is used without `--seed`.
pub const SEED: &str = "TAILBACK_SEED";

#[derive(Clone, Debug)]
pub struct WorkloadArgs(pub WorkloadSpec);

fn parameters() -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(|parameter| parameter.place != AllowedIn::Files)
}

impl Args for WorkloadArgs {
    fn augment_args(command: Command) -> Command {
        let flags =
            parameters().flat_map(|parameter| std::iter::once(flag(parameter)).chain(negation(parameter)));
        command.next_help_heading(WORKLOAD).args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for WorkloadArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut spec = WorkloadSpec::default();
        for parameter in parameters() {
            // The parser of each flag has already checked its value, so setting the parameter is not expected to fail.
            let set = match parameter.kind {
                Kind::Switch(_) => parameter.set(&mut spec, &matches.get_flag(parameter.key).to_string()),
                Kind::Truth(_) if matches.get_flag(&negated(parameter)) => parameter.set(&mut spec, "false"),
                Kind::RejectedWhen(_) => matches.get_many::<String>(parameter.key).map_or(Ok(()), |values| {
                    parameter.set(&mut spec, &values.map(String::as_str).collect::<Vec<_>>().join("\n"))
                }),
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

fn negated(parameter: &Parameter) -> String {
    format!("no_{}", parameter.key)
}

/// Returns the flag `--no-KEY` for a parameter that is true by default. Sweeps set the parameter by `--KEY true|false`, which help texts do
/// not list.
fn negation(parameter: &'static Parameter) -> Option<Arg> {
    let is_truth = matches!(parameter.kind, Kind::Truth(_));
    let arg = || {
        Arg::new(negated(parameter))
            .long(format!("no-{}", parameter.flag()))
            .help(parameter.about)
            .action(ArgAction::SetTrue)
            .conflicts_with(parameter.key)
    };
    is_truth.then(arg)
}

fn flag(parameter: &'static Parameter) -> Arg {
    let (line, is_long) = match parameter.about.split_once("\n\n") {
        Some((line, _)) => (line, true),
        None => (parameter.about, false),
    };
    let arg = Arg::new(parameter.key)
        .short(parameter.short)
        .long(parameter.flag())
        .help(line)
        .conflicts_with_all(parameter.excludes.iter());
    let arg = if is_long { arg.long_help(parameter.about) } else { arg };
    let arg = match parameter.kind {
        Kind::Switch(_) => return arg.action(ArgAction::SetTrue),
        Kind::Truth(_) => arg.value_parser(["true", "false"]).hide(true),
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
    let mut arg = arg.value_name(parameter.placeholder);
    if matches!(parameter.kind, Kind::RejectedWhen(_)) {
        arg = arg.action(ArgAction::Append);
    }
    if parameter.key == "seed" {
        // `loadgen judge` runs a command several times, each time with another seed in this variable.
        arg = arg.env(SEED).hide_env_values(true);
    }
    match parameter.default {
        Some(default) => arg.default_value(default),
        None => arg,
    }
}
