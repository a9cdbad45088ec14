//! `loadgen strategies`: lists strategies, explains one, and checks them against recordings of real clients.

mod advice;
mod check;
mod presets;

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use clap::builder::StringValueParser;
use tailback::{Entry, ParameterInfo, PartKind, STRATEGIES, StrategySpec, find};

use shell::args::ExplainArgs;
use shell::args::shell::{strategies, suggesting};
use shell::text::wrapping::columns;
use shell::text::{labelled, to_people, wrapped};
use shell::usage;

pub(crate) use check::EXAMPLES;
#[cfg(feature = "schema")]
pub(crate) use check::RecordingsCheck;

/// Number of common parameters (those of all strategies) whose names are printed without `--explain`.
const NAMED: usize = 2;

/// Arguments of `loadgen strategies`: a strategy to explain, or recordings to check.
#[derive(Args, Debug)]
pub(crate) struct StrategiesArgs {
    /// Strategy or preset to explain, such as `aimd` or `preset:openai`.
    #[arg(value_parser = suggesting(StringValueParser::new(), strategies), hide_possible_values = true)]
    pub(crate) name: Option<String>,

    /// List the presets: strategies of clients used in production.
    #[arg(long, conflicts_with = "name")]
    presets: bool,

    /// List which presets obey `Retry-After` and in which forms, or show it for one strategy.
    #[arg(long, conflicts_with_all = ["presets", "check", "print_settings"])]
    pub(crate) advice: bool,

    /// Print the strategy as configuration of the library of its preset, or of another library: urllib3, envoy, grpc, aws, polly,
    /// resilience4j, tailback. Rules that the library cannot express are listed, too.
    #[arg(
        long, value_name = "FORMAT", num_args = 0..=1, requires = "name", hide_possible_values = true,
        value_parser = suggesting(StringValueParser::new(), settings::names)
    )]
    #[expect(clippy::option_option, reason = "a flag whose value may be left out")]
    print_settings: Option<Option<String>>,

    #[command(flatten)]
    check: check::CheckArgs,

    #[command(flatten)]
    explain: ExplainArgs,
}

pub(crate) fn show(args: &StrategiesArgs) -> anyhow::Result<ExitCode> {
    if args.check.is_asked() {
        return check::run(&args.check);
    }
    if let Some(flag) = args.check.file_without_check() {
        return Err(usage(format!("`{flag}` needs `--check`; leave it out, or name recordings to check")));
    }
    if args.advice {
        to_people(&advice::table(args.name.as_deref())?, false)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(name), Some(format)) = (&args.name, &args.print_settings) {
        shell::settings::print(name, format.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match &args.name {
        None if args.presets => presets::list(),
        None if args.explain.explain => explained_list(),
        None => name_list(),
        Some(name) => match find(name) {
            Some(entry) => explain(entry, args.explain.explain),
            None => presets::explain(name)?,
        },
    };
    to_people(&text, false)?;
    Ok(ExitCode::SUCCESS)
}

fn explain(entry: &Entry, common: bool) -> String {
    let mut text = String::new();
    let kind = match entry.kind {
        PartKind::RetryPolicy => "retry policy",
        PartKind::Limiter => "limiter",
        PartKind::Budget => "budget",
        PartKind::Hedging => "hedger",
    };
    let _ = writeln!(text, "{} ({kind})\n{}\n", entry.name, wrapped(entry.summary, "", ""));
    let _ = writeln!(text, "Rule\n{}\n", wrapped(entry.rule, "  ", "  "));
    let _ = writeln!(text, "Source\n{}\n", wrapped(entry.source, "  ", "  "));
    parameters("Parameters", &entry.parameters(), &mut text);
    let of_all = StrategySpec::common_parameters();
    if common {
        parameters("Common to all strategies", &of_all, &mut text);
    } else {
        let keys: Vec<&str> = of_all.iter().take(NAMED).map(|parameter| parameter.key).collect();
        let keys = keys.join(", ");
        let _ = writeln!(text, "And {} that every strategy has: {keys}, … (--explain)\n", of_all.len());
    }
    let example = entry.parameters().first().map_or_else(
        || entry.name.to_owned(),
        |first| format!("{}:{}={}", entry.name, first.key, first.value),
    );
    let _ = writeln!(text, "Example\n  loadgen --strategy {example} --ops 2000");
    text
}

fn parameters(title: &str, parameters: &[ParameterInfo], text: &mut String) {
    if parameters.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}");
    for parameter in parameters {
        let _ = writeln!(text, "  {} = {}", parameter.key, parameter.value);
        let about = format!("{}; {}", parameter.about, parameter.accepted);
        let _ = writeln!(text, "{}", wrapped(&about, "      ", "      "));
    }
    text.push('\n');
}

const MOST_USED: &[&str] = &["none", "full-jitter", "exponential", "aimd", "token-bucket", "retry-budget"];

const KINDS: [(PartKind, &str); 4] = [
    (PartKind::RetryPolicy, "Retry policies: whether and when a failed op tries again"),
    (PartKind::Limiter, "Limiters: when the next attempt may start"),
    (PartKind::Budget, "Budgets: whether an attempt is let through"),
    (PartKind::Hedging, "Hedgers: when copies of an unanswered attempt are sent"),
];

fn name_list() -> String {
    let mut text = format!("Most used: {}\n", MOST_USED.join(", "));
    for (kind, title) in KINDS {
        let names: Vec<&str> = of_kind(kind).map(|entry| entry.name).collect();
        let _ = write!(text, "{title}\n{}", in_columns(&names));
    }
    text + "\nCombine parts with `+`: aimd+full-jitter:base=100ms+retry-budget\n\
            One: loadgen strategies NAME   Production clients: --presets   All: --explain\n"
}

fn explained_list() -> String {
    let mut text = String::new();
    for (kind, title) in KINDS {
        let _ = writeln!(text, "{title}");
        for entry in of_kind(kind) {
            let _ = writeln!(text, "{}", labelled(&format!("  {}", entry.name), 23, entry.summary));
        }
        text.push('\n');
    }
    let combined = "Combine parts with `+`, such as `aimd+full-jitter:base=100ms+retry-budget`: any number of \
                    limiters and budgets, at most one retry policy and one hedger. `loadgen strategies NAME` explains one, `loadgen strategies --presets` lists what \
                    production clients do.";
    text + &wrapped(combined, "", "") + "\n"
}

fn of_kind(kind: PartKind) -> impl Iterator<Item = &'static tailback::Entry> {
    STRATEGIES.iter().filter(move |entry| entry.kind == kind)
}

/// Arranges names in columns that are read downwards, with as few lines as possible.
fn in_columns(names: &[&str]) -> String {
    let lines =
        (1..=names.len()).find(|lines| width(names, *lines) <= columns()).unwrap_or(names.len()).max(1);
    let columns: Vec<&[&str]> = names.chunks(lines).collect();
    let mut text = String::new();
    for line in 0..lines {
        let mut row = String::new();
        for column in &columns {
            let name = column.get(line).copied().unwrap_or_default();
            let _ = write!(row, "  {name:<width$}", width = longest(column));
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

fn width(names: &[&str], lines: usize) -> usize {
    names.chunks(lines).map(|column| 2 + longest(column)).sum()
}

fn longest(names: &[&str]) -> usize {
    names.iter().map(|name| name.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {

    use tailback::STRATEGIES;

    use super::*;

    #[test]
    fn every_explanation_fits_eighty_columns() {
        for entry in STRATEGIES {
            for common in [false, true] {
                let text = explain(entry, common);
                assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            }
        }
    }

    /// The short list has at most 20 lines.
    #[test]
    fn both_lists_name_every_strategy_within_the_width() {
        let (names, explained) = (name_list(), explained_list());
        for entry in STRATEGIES {
            assert!(names.split_whitespace().any(|word| word == entry.name), "{}", entry.name);
            assert!(explained.contains(&format!("  {} ", entry.name)), "{}", entry.name);
        }
        assert!(MOST_USED.iter().all(|name| tailback::find(name).is_some()));
        assert!(names.lines().count() <= 20, "{names}");
        for line in names.lines().chain(explained.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
