//! `loadgen completions` and `loadgen man`: generates shell completion scripts and man pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use command_line::man_page;
use shell::files::output::to_stdout;
use shell::{Exit, Fatal, Output};

/// Arguments of `loadgen completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell to print the completion script for.
    pub(crate) shell: Shell,
}

/// Arguments of `loadgen man`.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write the pages of the program and of each subcommand to this directory [default: loadgen(1) to stdout].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs, mut program: Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "loadgen", &mut script);
    let text = String::from_utf8(script).context("the script is not UTF-8")?;
    let text = match args.shell {
        Shell::Fish => for_fish(&text, &program),
        Shell::Zsh => for_zsh(&text),
        _ => text,
    };
    to_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Removes the URL without a flag from the zsh script. The script expects subcommands after the URL, but they are in its place.
fn for_zsh(script: &str) -> String {
    let lines = script.lines().filter(|line| !line.starts_with("'::url "));
    lines.map(|line| line.replace("$line[2]", "$line[1]") + "\n").collect()
}

/// Adds completions to the fish script that clap leaves out: values after a flag of the program itself, and values of subcommands. Also
/// changes the helper function that clap generates. It fails while a flag still lacks its value, and fish would then offer only file names.
fn for_fish(script: &str, program: &Command) -> String {
    let parse = "2>/dev/null\n    or return\n";
    let mut script = script.replacen(parse, "2>/dev/null\n    or return 0\n", 1);
    for command in program.get_subcommands() {
        let values = command.get_positionals().flat_map(Arg::get_possible_values);
        let values: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        if !values.is_empty() {
            let condition = format!("__fish_loadgen_using_subcommand {}", command.get_name());
            let line = format!("complete -c loadgen -n \"{condition}\" -f -a \"{}\"\n", values.join(" "));
            script.push_str(&line);
        }
    }
    script
}

pub(crate) fn man(args: &ManArgs, program: Command) -> anyhow::Result<ExitCode> {
    let mut command = program.disable_help_subcommand(true);
    command.build();
    match &args.output {
        None => to_stdout(&page(&command)?.1)?,
        Some(directory) => write_all(&command, directory)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(command: &Command, directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory).map_err(|error| {
        let words = format!("cannot create the directory `{}` (--output)", directory.display());
        Fatal::because(Exit::Output, words, error)
    })?;
    let listed = command.get_subcommands().filter(|command| !command.is_hide_set());
    for command in [command].into_iter().chain(listed) {
        let (name, text) = page(command)?;
        Output::prepare(&directory.join(name), "--output")?.write(&text)?;
    }
    Ok(())
}

fn page(command: &Command) -> anyhow::Result<(String, Vec<u8>)> {
    let text = man_page(command).context("cannot render the man page")?;
    Ok((Man::new(command.clone()).get_filename(), text))
}
