//! `loadgen completions` and `loadgen man`: the command line, told to shells and to the manual.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{Exit, Fatal};
use crate::output::{Output, to_stdout};

/// Prints what a shell needs to complete.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "loadgen", &mut script);
    to_stdout(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the program's man page, or writes it and those of all subcommands to a directory.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    match &args.output {
        None => to_stdout(&page(&command)?.1)?,
        Some(directory) => write_all(&command, directory)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(command: &Command, directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory).map_err(|error| {
        let words = format!("`{}` (--output) cannot be made a directory", directory.display());
        Fatal::because(Exit::Output, words, error)
    })?;
    for command in [command].into_iter().chain(command.get_subcommands()) {
        let (name, text) = page(command)?;
        Output::prepare(&directory.join(name), "--output")?.write(&text)?;
    }
    Ok(())
}

/// A page with the name of its file.
fn page(command: &Command) -> anyhow::Result<(String, Vec<u8>)> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text).context("the page could not be written")?;
    Ok((man.get_filename(), text))
}
