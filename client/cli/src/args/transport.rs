//! How attempts are sent, where there is a choice.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use loadgen_http::{TRANSPORTS, TransportEntry};

const ID: &str = "transport";

/// `--transport NAME`, which is there once there are two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransportArg(pub(crate) &'static TransportEntry);

impl Args for TransportArg {
    fn augment_args(command: Command) -> Command {
        with_choice_of(TRANSPORTS, command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn with_choice_of(transports: &'static [TransportEntry], command: Command) -> Command {
    let [first, _, ..] = transports else { return command };
    let names = transports.iter().map(|entry| PossibleValue::new(entry.name).help(entry.summary));
    let entry = |name: String| transports.iter().find(|entry| entry.name == name);
    let arg = Arg::new(ID)
        .long(ID)
        .value_name("TRANSPORT")
        .help("How attempts are sent")
        .conflicts_with("simulate");
    command.arg(
        arg.value_parser(PossibleValuesParser::new(names).try_map(move |name| entry(name).ok_or("unknown")))
            .default_value(first.name),
    )
}

impl FromArgMatches for TransportArg {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen = matches.try_get_one::<&'static TransportEntry>(ID).ok().flatten();
        Ok(Self(chosen.copied().unwrap_or(&TRANSPORTS[0])))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_choice_among_two_only() {
        static TWO: [TransportEntry; 2] = [TRANSPORTS[0], TRANSPORTS[0]];
        let simulate = Arg::new("simulate").long("simulate").action(clap::ArgAction::SetTrue);
        let command = || Command::new("loadgen").arg(simulate.clone());
        let chosen = |transports, typed: &[&str]| {
            let command = with_choice_of(transports, command()).no_binary_name(true);
            command
                .try_get_matches_from(typed)
                .map(|matches| TransportArg::from_arg_matches(&matches).unwrap().0.name)
        };
        let name = TRANSPORTS[0].name;
        assert_eq!(chosen(&TWO, &["--transport", name]).unwrap(), name);
        assert_eq!(chosen(&TWO, &[]).unwrap(), name);
        assert!(chosen(&TWO, &["--transport", "carrier-pigeon"]).is_err());
        assert!(chosen(&TWO, &["--transport", name, "--simulate"]).is_err());
        assert!(chosen(&TWO, &["--simulate"]).is_ok());
        assert!(chosen(&TWO[..1], &["--transport", name]).is_err());
        assert_eq!(chosen(&TWO[..1], &[]).unwrap(), name);
    }
}
