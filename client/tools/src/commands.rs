//! List of the subcommands of `loadgen`. The flags of a subcommand, and which of them `-h` lists, are in its folder.

use std::ffi::OsString;
use std::process::ExitCode;
use std::str::FromStr as _;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, CommandFactory, Parser, Subcommand};
use command_line::{most_used, pointer_to_all, with_first_examples};
use results::MergedCommand;
use shell::args;
use shell::files::output::to_stdout;
use shell::text::styled;
use shell::{RunArgs, StrategyList};

use crate::{compare, completions, merge, plot, report, run, strategies, sweep};

/// Flags that the short help `loadgen -h` lists. All other flags are listed by `--help` only.
const COMMON_FLAGS: [&str; 11] = [
    "strategy",
    "ops",
    "rate",
    "duration",
    "in-flight",
    "target",
    "preset",
    "simulate",
    "repeats",
    "json",
    "html",
];

/// Flags that the short help of `loadgen compare -h` and `loadgen sweep -h` lists.
const COMMON_FLAGS_OF_SEVERAL: [&str; 9] =
    ["vary", "strategies", "by", "simulate", "repeats", "sensitivity", "json", "html", "explain"];

/// Finds out what a retry or throttling strategy costs against a throttling server.
#[derive(Debug, Parser)]
#[command(name = "loadgen", version, after_long_help = run::EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
    /// Colours of texts: `auto` prints them on a terminal, unless `NO_COLOR` is set. JSON and CSV never have colours.
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN", help_heading = "Output",
        hide_short_help = true)]
    color: ColorChoice,
}

/// Subcommands. Without a subcommand, `loadgen` executes a run.
#[derive(Debug, Subcommand)]
enum Command {
    /// Compare strategies with the same seeds: a ranked table.
    #[command(after_long_help = compare::args::EXAMPLES)]
    Compare(Box<compare::args::CompareArgs>),
    /// Name one setting for your API, load and library.
    #[command(after_long_help = recommend::EXAMPLES)]
    Recommend(Box<recommend::RecommendArgs>),
    /// Test the retries of your client, in any language.
    #[command(after_long_help = judge::EXAMPLES)]
    Judge(Box<judge::JudgeArgs>),
    /// Vary a parameter, the workload or the server.
    #[command(after_long_help = sweep::args::EXAMPLES)]
    Sweep(Box<sweep::args::SweepArgs>),
    /// List strategies and presets, or explain one.
    #[command(after_long_help = strategies::EXAMPLES)]
    Strategies(strategies::StrategiesArgs),
    /// Check the claims of published sources, or of your scenario.
    #[command(after_long_help = reproduce::EXAMPLES)]
    Reproduce(reproduce::ReproduceArgs),
    /// Make an HTML report of result files.
    #[command(after_long_help = report::EXAMPLES)]
    Report(report::PageArgs),
    /// Draw one plot of result files, as text or as SVG.
    Plot(plot::PlotArgs),
    /// Merge documents with different seeds, or of shards, into one.
    #[command(after_long_help = merge::EXAMPLES)]
    Merge(Box<args::MergeArgs>),
    /// Print the JSON schema of results.
    Schema,
    /// Print the completion script of a shell.
    Completions(completions::CompletionsArgs),
    /// Print the man page, or write one per subcommand.
    Man(completions::ManArgs),
}

fn command_line() -> clap::Command {
    let several = |subcommand: clap::Command, common: &'static [&'static str]| {
        let note = "And all flags of `loadgen` for workload, target and server: `loadgen --help`.";
        let of_a_run = [args::WORKLOAD, args::TARGET, args::MOCK_SERVER].map(Some);
        let own = most_used(subcommand, common)
            .mut_args(|arg| if of_a_run.contains(&arg.get_help_heading()) { arg.hide(true) } else { arg });
        with_note(own, note)
    };
    let command = most_used(Cli::command(), &COMMON_FLAGS).mut_subcommands(|subcommand| {
        let subcommand = with_first_examples(subcommand);
        match subcommand.get_name() {
            "compare" | "sweep" => several(subcommand, &COMMON_FLAGS_OF_SEVERAL),
            "recommend" => several(subcommand, &recommend::COMMON_FLAGS),
            "judge" => most_used(subcommand, &judge::COMMON_FLAGS),
            _ => subcommand,
        }
    });
    let pointer = pointer_to_all(&command);
    let command = with_first_examples(command);
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command.after_help(format!("{examples}\n\n{pointer}"))
}

fn with_note(command: clap::Command, note: &str) -> clap::Command {
    let noted = |examples: Option<&StyledStr>| {
        let examples = examples.map(ToString::to_string).unwrap_or_default();
        format!("{note}\n\n{examples}")
    };
    let (short, long) = (noted(command.get_after_help()), noted(command.get_after_long_help()));
    command.after_help(short).after_long_help(long)
}

/// Explains which words of a command line exclude each other.
fn conflict(error: &clap::Error) -> String {
    let words = |kind| -> Vec<String> {
        let names = match error.get(kind) {
            Some(ContextValue::String(name)) => std::slice::from_ref(name),
            Some(ContextValue::Strings(names)) => names,
            _ => &[],
        };
        names.to_vec()
    };
    let (invalid, prior) = (words(ContextKind::InvalidArg), words(ContextKind::PriorArg));
    let subcommand = words(ContextKind::InvalidSubcommand);
    let is_url = |name: &String| name.contains("URL") || args::is_url(name);
    if [&invalid, &prior, &subcommand].into_iter().flatten().all(is_url) {
        return "a run has one target; leave out all URLs but one".to_owned();
    }
    if let [name] = &subcommand[..] {
        return format!("a subcommand comes first: loadgen {name}");
    }
    // The name of a value follows the flag.
    let flag = |name: &String| name.split(" <").next().unwrap_or_default().to_owned();
    let flags = |names: &[String]| names.iter().map(flag).collect::<Vec<_>>().join("` and `");
    let (one, others) = (flags(&invalid), flags(&prior));
    if one == others {
        return format!("`{one}` is given twice; leave out one of the two");
    }
    let is_simulated = invalid.iter().chain(&prior).any(|name| name == "--simulate");
    let why = if is_simulated { ", because virtual time has no HTTP" } else { "" };
    let either =
        if prior.len() > 1 { format!("`{one}`, or the others") } else { "one of the two".to_owned() };
    format!("`{one}` cannot be used with `{others}`{why}; leave out {either}")
}

/// Returns a hint with the correct command line for mistakes that users of other load generators make, such as a positional URL, and for
/// flags that exclude each other.
fn explained(error: &clap::Error, typed: &[String]) -> Option<String> {
    if let Some(rate) = rate_after_quiet(typed) {
        return Some(format!("-q is --quiet and takes no value; a rate is `--rate {rate}/s`"));
    }
    if error.kind() == ErrorKind::ArgumentConflict {
        return Some(conflict(error));
    }
    if !matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument) {
        return None;
    }
    let word = command_line::argument(error)?;
    if typed.get(1).is_some_and(|command| command == "judge") && !word.starts_with('-') {
        let rest = typed.iter().skip_while(|other| *other != word).cloned().collect::<Vec<_>>().join(" ");
        return Some(format!("the command goes after `--`: loadgen judge -- {rest}"));
    }
    let after = typed.iter().skip_while(|other| *other != word).skip(1);
    let rest: Vec<&str> = after.map(String::as_str).collect();
    let joined = |start: &str| [&[start], rest.as_slice()].concat().join(" ");
    if args::is_url(word) {
        return Some(format!("a URL goes to --target: --target {word}"));
    }
    if error.kind() == ErrorKind::InvalidSubcommand && Cli::command().find_subcommand(word).is_some() {
        return Some(format!("a subcommand comes first: loadgen {word}"));
    }
    let is_strategy = |word: &str| StrategyList::from_str(word).is_ok();
    match (error.kind(), word, typed.get(1).map(String::as_str)) {
        (ErrorKind::InvalidSubcommand, "run" | "bench" | "test", _) => {
            Some(format!("a run needs no subcommand: {}", joined("loadgen")))
        }
        (ErrorKind::InvalidSubcommand, "simulate", _) => {
            Some(format!("a run needs no subcommand: {}", joined("loadgen --simulate")))
        }
        (ErrorKind::InvalidSubcommand, name, _) if is_strategy(name) => {
            Some(format!("a strategy goes to --strategy: {}", joined(&format!("loadgen --strategy {name}"))))
        }
        (ErrorKind::UnknownArgument, name, Some(command @ ("compare" | "sweep"))) if is_strategy(name) => {
            let names = [name].into_iter().chain(rest.iter().copied().take_while(|word| is_strategy(word)));
            let names: Vec<&str> = names.collect();
            Some(format!("strategies go to --strategies: loadgen {command} --strategies {}", names.join(",")))
        }
        (ErrorKind::UnknownArgument, "--strategies", _)
            if typed.get(1).is_some_and(|first| first.starts_with('-')) =>
        {
            Some(format!(
                "several strategies are for `loadgen compare`: {}",
                joined("loadgen compare --strategies")
            ))
        }
        (ErrorKind::UnknownArgument, flag, _) if error.get(ContextKind::SuggestedArg).is_none() => {
            flag.strip_prefix("--").and_then(flag_of_another_command)
        }
        _ => None,
    }
}

/// Returns the number after `-q`, which sets the rate in other load generators.
fn rate_after_quiet(typed: &[String]) -> Option<&str> {
    let typed = typed.split(|word| word == "--").next()?;
    let values = typed.iter().zip(typed.iter().skip(1).map(String::as_str).chain([""]));
    let mut numbers = values.filter_map(|(flag, next)| match flag.strip_prefix("-q")? {
        "" => Some(next),
        joined => Some(joined.trim_start_matches('=')),
    });
    numbers.find_map(|number| {
        let number = number.split('/').next()?;
        number.parse::<f64>().is_ok().then_some(number)
    })
}

fn flag_of_another_command(flag: &str) -> Option<String> {
    let flag = flag.split('=').next().unwrap_or(flag);
    let command = Cli::command();
    let has = |command: &clap::Command| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
    let mut names: Vec<String> = command
        .get_subcommands()
        .filter(|subcommand| has(subcommand) && !subcommand.is_hide_set())
        .map(|subcommand| format!("`loadgen {}`", subcommand.get_name()))
        .collect();
    if has(&command) {
        names.insert(0, "`loadgen` without a subcommand".to_owned());
    }
    (!names.is_empty()).then(|| format!("`--{flag}` is a flag of {}", names.join(", ")))
}

pub(crate) fn parse(words: &[String]) -> Result<(), String> {
    match command_line().try_get_matches_from(words) {
        Err(error) if error.use_stderr() => Err(error.to_string()),
        _ => Ok(()),
    }
}

pub(crate) fn of_command_line() -> anyhow::Result<ExitCode> {
    let mut typed = command_line::arguments();
    styled::choose(colour(&mut typed));
    of_arguments(&typed)
}

/// Returns the value of `--color`, because clap prints errors and help before it returns values. A flag before the name of a command is moved
/// behind this name, because clap accepts no flag there.
fn colour(typed: &mut [OsString]) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut place = 1;
    while let Some(word) = typed.get(place).and_then(|word| word.to_str()).filter(|word| *word != "--") {
        let Some(rest) = word.strip_prefix("--color") else {
            place += 1;
            continue;
        };
        let length = if rest.is_empty() { 2 } else { 1 };
        let value = rest.strip_prefix('=').or_else(|| typed.get(place + 1)?.to_str());
        choice = value.and_then(|value| value.parse().ok()).unwrap_or(choice);
        let next = typed.get(place + length).and_then(|word| word.to_str());
        if place == 1 && next.is_some_and(|next| !next.starts_with('-')) {
            typed[1..=1 + length].rotate_right(1);
            place += 1;
        }
        place += length;
    }
    choice
}

/// Parses a command line and executes its command. `typed[0]` is the name of the program.
pub(crate) fn of_arguments(typed: &[OsString]) -> anyhow::Result<ExitCode> {
    let cli: Cli = command_line::parsed(typed, &command_line(), explained);
    match cli.command {
        None => run::run(&cli.run.with_url()),
        Some(Command::Strategies(args)) => strategies::show(&args),
        Some(Command::Reproduce(args)) => reproduce::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Recommend(args)) => recommend::run(&args, typed),
        Some(Command::Judge(args)) => judge::run(&args),
        Some(Command::Sweep(args)) => sweep::run(&args, typed),
        Some(Command::Merge(args)) => merge::run(&args, |command| match command {
            MergedCommand::Run => run::merged,
            MergedCommand::Compare => compare::merged,
            MergedCommand::Sweep => sweep::merged,
        }),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Plot(args)) => plot::run(&args),
        Some(Command::Schema) => {
            to_stdout(include_bytes!("../../../docs/result.schema.json"))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Completions(args)) => completions::completions(&args, command_line()),
        Some(Command::Man(args)) => completions::man(&args, command_line()),
    }
}

#[cfg(test)]
mod tests {
    use command_line::examples;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn every_example_of_the_help_can_be_pasted() {
        let command = command_line();
        let ends = std::iter::once(&command)
            .chain(command.get_subcommands())
            .filter_map(|command| command.get_after_long_help().map(ToString::to_string));
        let examples: Vec<Vec<String>> = ends.flat_map(|end| examples(&end, "loadgen")).collect();
        assert!(examples.len() > 40, "{}", examples.len());
        for words in examples {
            if let Err(error) = command.clone().try_get_matches_from(&words) {
                panic!("{words:?}: {error}");
            }
        }
    }
}
