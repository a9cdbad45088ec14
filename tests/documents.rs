//! Generated pages of `docs/`, the commands on all pages, and the figures of the findings.
//!
//! `WRITE_DOCS=1 cargo test --test programs documents` writes the generated parts.

mod commands;

use std::fmt::Write as _;
use std::process::Command;

use mockserver_core::POLICIES;
use tailback::{PartKind, STRATEGIES, presets};
use vocabulary::ParameterInfo;

use crate::support::is_current;

const THIS: &str = "tests/documents.rs";

/// Width of the help texts on the page, in columns.
const WIDTH: &str = "100";

const KINDS: [(PartKind, &str, &str); 4] = [
    (
        PartKind::RetryPolicy,
        "Retry policies",
        "A retry policy decides whether and when a failed op is retried.",
    ),
    (PartKind::Limiter, "Limiters", "A limiter decides when the next attempt may start."),
    (PartKind::Budget, "Budgets", "A budget decides whether an attempt is let through."),
    (PartKind::Hedging, "Hedgers", "A hedger decides when copies of an unanswered attempt are sent."),
];

/// Returns a text as the content of a cell, in which `|` would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Returns parameters with their defaults, as a strategy or policy is written.
fn defaults(parameters: &[ParameterInfo]) -> String {
    let pairs: Vec<String> =
        parameters.iter().map(|parameter| format!("`{}={}`", parameter.key, parameter.value)).collect();
    pairs.join(", ")
}

#[test]
fn the_page_of_strategies_is_current() {
    let mut text = String::new();
    for (kind, title, about) in KINDS {
        let _ = write!(text, "\n## {title}\n\n{about}\n\n| name | rule | parameters |\n|---|---|---|\n");
        for entry in STRATEGIES.iter().filter(|entry| entry.kind == kind) {
            let (summary, parameters) = (cell(entry.summary), cell(&defaults(&entry.parameters())));
            let _ = writeln!(text, "| `{}` | {summary} | {parameters} |", entry.name);
        }
    }
    is_current("strategies.md", "strategies", THIS, &format!("{text}\n"));
}

#[test]
fn the_page_of_client_presets_is_current() {
    let mut text = String::from("| preset | client and behaviour | library | version |\n|---|---|---|---|\n");
    for preset in presets() {
        let [name, summary, library, version] =
            [&preset.name, &preset.summary, &preset.library, &preset.version].map(|text| cell(text));
        let _ = writeln!(text, "| `{name}` | {summary} | {library} | {version} |");
    }
    is_current("presets.md", "client presets", THIS, &text);
}

#[test]
fn the_page_of_policies_is_current() {
    let mut text = String::from("| policy | rule | parameters |\n|---|---|---|\n");
    for policy in POLICIES {
        let (summary, parameters) = (cell(policy.summary), cell(&defaults(&policy.parameters())));
        let _ = writeln!(text, "| `{}` | {summary} | {parameters} |", policy.name);
    }
    is_current("policies.md", "policies", THIS, &text);
}

/// Returns the help text of a command, such as `loadgen compare`.
fn help(command: &str) -> String {
    let mut words = command.split(' ');
    let program = match words.next() {
        Some("loadgen") => env!("CARGO_BIN_EXE_loadgen"),
        _ => env!("CARGO_BIN_EXE_mockserver"),
    };
    let output = Command::new(program).args(words).arg("--help").env("COLUMNS", WIDTH).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns both programs and their subcommands.
fn commands() -> Vec<String> {
    let mut all = Vec::new();
    for program in ["loadgen", "mockserver"] {
        all.push(program.to_owned());
        let help = help(program);
        let (_, rest) = help.split_once("Commands:\n").unwrap();
        let list = rest.split("\n\n").next().unwrap();
        let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        all.extend(
            names.filter(|name| !name.is_empty() && *name != "help").map(|name| format!("{program} {name}")),
        );
    }
    all
}

#[test]
fn the_page_of_the_command_line_is_current() {
    let mut text = String::new();
    for command in commands() {
        let help = help(&command);
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "\n## {command}\n\n```text\n{}\n```\n", lines.join("\n"));
    }
    is_current("command-line.md", "command line", THIS, &format!("{text}\n"));
}

#[test]
fn the_page_of_exit_codes_is_current() {
    let mut text = String::from("| command | exit codes |\n|---|---|\n");
    for command in commands() {
        let help = help(&command);
        let Some((_, rest)) = help.split_once("\nExit codes: ") else { continue };
        let codes = rest.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let codes = codes.trim_end_matches('.').replace("; ", "<br>");
        let _ = writeln!(text, "| `{command}` | {} |", cell(&codes));
    }
    is_current("exit-codes.md", "exit codes", THIS, &text);
}

/// Bold figures of the findings must be on a page that the same finding links, in bold or in a block.
#[test]
fn findings_have_the_figures_of_their_pages() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
    let read = |page: &str| std::fs::read_to_string(format!("{docs}/{page}")).unwrap();
    let mut figures = 0;
    for finding in read("findings.md").split("\n- ").skip(1) {
        let finding = finding.split("\n\n").next().unwrap().replace('\n', " ");
        let links = finding.split("](").skip(1).map(|rest| rest.split(['#', ')']).next().unwrap());
        let pages: String = links.map(read).collect();
        let bold = finding.split("**").skip(1).step_by(2);
        for figure in bold.filter(|words| words.starts_with(|first: char| first.is_ascii_digit())) {
            assert!(pages.contains(&format!("**{figure}**")), "no linked page has **{figure}**: {finding}");
            figures += 1;
        }
    }
    assert!(figures >= 10, "{figures}");
}
