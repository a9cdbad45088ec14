//! Flags for output files: one flag for each format in which the results of a command can be written.

use std::marker::PhantomData;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::files::exporter::Results;
use crate::files::exporters::EXPORTERS;
use crate::files::exports::RequestedExport;

/// Kind of results that a command writes. The kind determines the formats that have a flag, and the help texts of these flags.
pub trait Offers {
    const RESULTS: Results;
}

macro_rules! offers {
    ($($name:ident),*) => {$(
        #[derive(Debug)]
        pub enum $name {}

        impl Offers for $name {
            const RESULTS: Results = Results::$name;
        }
    )*};
}

offers!(Run, Comparison, Sweep, Reproduction, Recordings, Merged);

#[derive(Debug)]
pub struct ExportArgs<O> {
    pub asked: Vec<RequestedExport>,
    offers: PhantomData<O>,
}

fn name(flag: &'static str) -> &'static str {
    flag.trim_start_matches('-')
}

impl<O: Offers> Args for ExportArgs<O> {
    fn augment_args(command: Command) -> Command {
        EXPORTERS.iter().fold(command, |command, format| match (format.help)(O::RESULTS) {
            None => command,
            Some(help) => command.arg(
                Arg::new(name(format.flag))
                    .long(name(format.flag))
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .help(help)
                    .help_heading("Output"),
            ),
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<O: Offers> FromArgMatches for ExportArgs<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let offered = EXPORTERS.iter().filter(|format| (format.help)(O::RESULTS).is_some());
        let asked = offered
            .filter_map(|format| Some((format, matches.get_one::<PathBuf>(name(format.flag))?.clone())));
        Ok(Self { asked: asked.collect(), offers: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
