//! Texts on a terminal: no line is wider than the terminal, and colours follow `--color` and the environment.

use std::process::Command;

use super::pty::{LeftTerminal, Terminal};
use crate::support::{Folder, full_or, loadgen};

const WIDTHS: [u16; 4] = [60, 80, 100, 120];

/// Two documents. `ethernet` takes five seconds, so it is run in full size only.
const LONG: &str = "reproduce occ ethernet --repeats 1 --explain";
const SHORT: &str = "reproduce occ retry-delays --repeats 1 --explain";

/// Commands that print a table, with the exit code of each.
const TABLES: &[(&str, i32)] = &[
    ("compare --simulate --no-tui -n 100 --repeats 5 -s aimd,full-jitter,preset:openai,oracle,immediate", 0),
    (
        "compare --simulate --no-tui -n 100 --repeats 5 -s aimd,full-jitter:base=100ms+aimd+retry-budget,oracle --explain",
        0,
    ),
    (
        "compare --simulate --no-tui --preset openai --rate 12/s --duration 1m --repeats 5 -s aimd,preset:openai",
        0,
    ),
    ("sweep --simulate --no-tui -s aimd,full-jitter --vary ops=50,100 --repeats 5 --explain", 0),
    ("sweep --simulate --no-tui -s aimd,full-jitter,cubic,immediate,linear --vary ops=50,100 --repeats 5", 0),
    ("sweep --simulate --no-tui -s full-jitter --vary full-jitter.cap=2s..8s/3 --ops 100", 0),
    ("recommend --strategy full-jitter --in-flight 5 --ops 20 --change workers --unsure none", 0),
    ("reproduce occ --repeats 2", 1),
    (LONG, 1),
    ("reproduce --list", 0),
    ("strategies", 0),
    ("strategies --explain", 0),
    ("strategies --presets", 0),
    ("strategies --advice", 0),
    ("strategies aimd --explain", 0),
    ("strategies preset:openai", 0),
    ("judge --list", 0),
    ("judge --strategy immediate", 99),
    ("--simulate --no-tui -n 100 --explain", 0),
    ("--simulate --no-tui -n 100 --repeats 5", 0),
    ("merge shard0.json shard1.json", 0),
    ("plot result.json --figure rate", 0),
    ("plot --list", 0),
];

fn assert_fits(columns: u16, command: &str, left: &LeftTerminal) {
    let text = &left.screen.normal;
    assert!(!text.contains("\\u{"), "{command}: a code is printed as text: {text}");
    assert!(text.lines().count() > 3, "{command}: {text}");
    for line in text.lines() {
        assert!(line.chars().count() <= columns.into(), "{command} in {columns} columns: {line}\n{text}");
    }
}

#[test]
fn no_table_is_wider_than_the_terminal_or_shows_an_escape_code() {
    let folder = Folder::new();
    for (file, flags) in [("result", ""), ("shard0", "--shard 0/2"), ("shard1", "--shard 1/2")] {
        folder.done(&format!(
            "compare --simulate --ops 100 --repeats 2 -s aimd,full-jitter --json {file}.json {flags}"
        ));
    }
    for (command, code) in TABLES {
        let command = if *command == LONG { full_or(LONG, SHORT) } else { command };
        let args: Vec<&str> = command.split(' ').collect();
        for columns in WIDTHS {
            let left = Terminal::start_sized((columns, 24), &args, |command| {
                command.current_dir(folder.path(""));
            });
            let left = left.finish();
            assert_eq!(left.code, Some(*code), "{command}: {}", left.screen.normal);
            assert_fits(columns, command, &left);
        }
    }
    for args in [&["presets"][..], &["presets", "github"], &["presets", "--explain"]] {
        for columns in WIDTHS {
            let program = [&[env!("CARGO_BIN_EXE_mockserver")], args].concat();
            let left = Terminal::start_program((columns, 24), &program, |_| ()).finish();
            assert_fits(columns, &args.join(" "), &left);
        }
    }
}

#[test]
fn progress_lines_of_a_run_fit_the_terminal() {
    let args = ["--no-tui", "--ops", "30", "--rate", "20/s", "--strategy", "none"];
    let left = Terminal::start_sized((60, 24), &args, |_| ()).finish();
    assert!(left.screen.normal.contains(" attempts ") && left.screen.normal.contains("/30 ops ("));
    assert_fits(60, "--no-tui", &left);
}

#[test]
fn progress_is_erased_before_the_answer_of_recommend() {
    let args = "recommend --strategy preset:openai --preset openai --in-flight 5 --ops 50";
    let terminal = Terminal::start(&args.split(' ').collect::<Vec<_>>());
    terminal.wait("a progress line", |screen| screen.normal.contains("server ").then_some(()));
    let text = terminal.finish().screen.normal;
    assert!(text.contains("\nRests on ") && !text.contains("fresh server 2"), "{text}");
}

const COMPARED: &[&str] = &[
    "compare",
    "--simulate",
    "--no-tui",
    "--ops",
    "100",
    "--repeats",
    "5",
    "-s",
    "aimd,full-jitter,immediate",
];

/// Start of the row of the best strategy.
const BEST: &str = "\u{1b}[1m1  ";

/// Returns whether the command prints styles on a terminal with these variables.
fn is_styled(args: &[&str], variables: &[(&str, &str)]) -> bool {
    let left = Terminal::start_with(args, |command| {
        command.env_remove("CI").envs(variables.iter().copied());
    });
    left.finish().screen.styles > 0
}

#[test]
fn colours_follow_the_flag_then_the_environment() {
    const NO: (&str, &str) = ("NO_COLOR", "1");
    const DUMB: (&str, &str) = ("TERM", "dumb");
    const FORCE: (&str, &str) = ("CLICOLOR_FORCE", "1");
    for (flags, variables, styled) in [
        (&[][..], &[][..], true),
        (&[], &[NO], false),
        (&[], &[("NO_COLOR", "")], true),
        (&[], &[DUMB], false),
        (&[], &[DUMB, ("CI", "1")], false),
        (&[], &[DUMB, FORCE], true),
        (&[], &[FORCE, NO], false),
        (&["--color", "always"], &[NO, DUMB], true),
        (&["--color=always"], &[NO], true),
        (&["--color", "never"], &[FORCE], false),
        (&["--color", "auto"], &[NO], false),
    ] {
        for command in
            [COMPARED, &["--simulate", "--ops", "100"], &["judge", "--strategy", "immediate"], &["--help"]]
        {
            let args = [command, flags].concat();
            assert_eq!(is_styled(&args, variables), styled, "{args:?} {variables:?}");
        }
    }
    assert!(!is_styled(&[&["--color", "never"], COMPARED].concat(), &[]), "before the subcommand");
}

#[test]
fn colours_reach_a_pipe_only_if_wanted_and_never_the_data() {
    let always = [COMPARED, &["--color", "always"]].concat();
    assert!(loadgen(&always).exits(0).stdout.contains(BEST));
    assert!(!loadgen(COMPARED).exits(0).stdout.contains('\u{1b}'));
    let forced =
        Command::new(env!("CARGO_BIN_EXE_loadgen")).args(COMPARED).env("CLICOLOR_FORCE", "1").output();
    assert!(String::from_utf8(forced.unwrap().stdout).unwrap().contains(BEST));
    for format in ["--json", "--csv"] {
        let left = loadgen(&[&always[..], &[format, "-"]].concat()).exits(0);
        assert!(!left.stdout.contains('\u{1b}') && left.stdout.len() > 100, "{format}");
        assert!(left.stderr.contains(BEST), "{format}: {}", left.stderr);
    }
}
