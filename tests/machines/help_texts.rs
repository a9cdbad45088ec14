//! Tests of the help texts of both programs, on a terminal of 80 columns.

use std::process::Command;

use crate::support::{MockServer, loadgen, request};

const PROGRAMS: [&str; 2] = [env!("CARGO_BIN_EXE_loadgen"), env!("CARGO_BIN_EXE_mockserver")];

/// Width of the terminal, in columns.
const WIDTH: usize = 80;

fn help(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).env("COLUMNS", WIDTH.to_string()).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn subcommands(program: &str) -> Vec<String> {
    let help = help(program, &["-h"]);
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let (list, _) = rest.split_once("\n\n").unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect()
}

fn all() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for program in PROGRAMS {
        let name = program.rsplit('/').next().unwrap();
        for flag in ["-h", "--help"] {
            texts.push((format!("{name} {flag}"), help(program, &[flag])));
            for subcommand in subcommands(program) {
                let text = help(program, &[&subcommand, flag]);
                texts.push((format!("{name} {subcommand} {flag}"), text));
            }
        }
    }
    texts
}

/// Returns the column at which the text of a line starts: after the last gap of two spaces or more.
fn text_column(line: &str) -> usize {
    let letters: Vec<char> = line.chars().collect();
    let gap_ends = |end: &usize| letters[end - 2..*end] == [' ', ' '] && letters.get(*end) != Some(&' ');
    (2..letters.len()).rev().find(gap_ends).unwrap_or(0)
}

/// True if a line continues the paragraph of the line before.
fn continues(line: &str, before: &str) -> bool {
    let indent = line.chars().take_while(|letter| *letter == ' ').count();
    let starts_anew = ["loadgen ", "mockserver ", "curl ", "- ", "[default", "[possible"];
    let text = line.trim_start();
    !text.is_empty()
        && !before.trim().is_empty()
        && !before.ends_with('\\')
        && indent == text_column(before)
        && !starts_anew.iter().any(|start| text.starts_with(start))
}

#[test]
fn short_help_is_at_most_45_lines() {
    for (words, text) in all().iter().filter(|(words, _)| words.ends_with("-h")) {
        let lines = text.lines().count();
        assert!(lines <= 45, "{words}: {lines} lines\n{text}");
    }
}

#[test]
fn help_lines_fit_the_terminal_and_do_not_end_early() {
    for (words, text) in all() {
        let lines: Vec<&str> = text.lines().collect();
        for line in &lines {
            assert!(line.chars().count() <= WIDTH, "{words}: {line}");
        }
        let is_end_of_command = |index: usize| index > 0 && lines[index - 1].ends_with('\\');
        for (_, pair) in lines.windows(2).enumerate().filter(|(index, _)| !is_end_of_command(*index)) {
            let next = pair[1].split_whitespace().next().unwrap_or_default();
            let fits = pair[0].chars().count() + 1 + next.chars().count() <= WIDTH;
            assert!(!(fits && continues(pair[1], pair[0])), "{words}:\n{}\n{}", pair[0], pair[1]);
        }
    }
}

#[test]
fn short_help_names_the_most_used_flags_and_counts_the_others() {
    insta::assert_snapshot!("loadgen", help(PROGRAMS[0], &["-h"]));
    insta::assert_snapshot!("loadgen_compare", help(PROGRAMS[0], &["compare", "-h"]));
    insta::assert_snapshot!("mockserver", help(PROGRAMS[1], &["-h"]));
    for program in PROGRAMS {
        let short = help(program, &["-h"]);
        let (_, rest) = short.split_once("`--help` lists all ").unwrap();
        let count: usize = rest.split(' ').next().unwrap().parse().unwrap();
        let long = help(program, &["--help"]);
        let (listed, _) = long.split_once("Examples:").unwrap();
        let flags = listed.lines().filter(|line| line.starts_with("      --") || line.starts_with("  -"));
        assert_eq!(flags.count(), count, "{long}");
        let headings = long.lines().filter(|line| *line == "Options:");
        assert_eq!(headings.count(), 1, "{long}");
    }
}

#[test]
fn compare_and_sweep_refer_to_the_flags_of_a_run() {
    for subcommand in ["compare", "sweep"] {
        for flag in ["-h", "--help"] {
            let text = help(PROGRAMS[0], &[subcommand, flag]);
            assert!(text.contains("flags of `loadgen` for workload, target and server: `loadgen --help`"));
            assert!(!text.contains("--max-busy <N>") && !text.contains("--arrivals"), "{text}");
        }
    }
}

/// Defaults that help texts describe instead of naming a value.
const DESCRIBED: [&str; 8] = [
    "--max-busy all the time",
    "one per processor",
    "a mockserver",
    "--deadline",
    "`TAILBACK_TRANSPORT` from the environment",
    "chosen by the system",
    "`TAILBACK_ADMIN_TOKEN` from the environment",
    "one per core in virtual time",
];

/// Flags without which another flag has no effect.
const COMPANIONS: [(&str, &[&str]); 4] = [
    ("--delay-noise", &["--simulate"]),
    ("--scale", &["--preset", "github"]),
    ("--drain", &["--duration", "1s"]),
    ("--http2-connections", &["--http2"]),
];

/// Flags that need a free port or a baseline. Their defaults are no words.
const NOT_ALONE: [&str; 2] = ["--listen", "--noise"];

/// Returns each flag of a help text whose default is a value, with this value.
fn named_defaults(help: &str) -> Vec<(String, String)> {
    let mut flag = "";
    let mut texts: Vec<(String, String)> = Vec::new();
    for line in help.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.len() - line.trim_start().len() < 8
            && let Some(name) = words.iter().take(2).find(|word| word.starts_with("--"))
        {
            flag = name;
            texts.push((flag.to_owned(), String::new()));
        } else if let Some((_, text)) = texts.last_mut() {
            *text += &words.join(" ");
            text.push(' ');
        }
    }
    assert!(!flag.is_empty());
    let named = texts.into_iter().filter_map(|(flag, text)| {
        let (_, default) = text.split_once("[default: ")?;
        let default = default.split([']', ',', ';']).next()?.split(" with --").next()?;
        (!DESCRIBED.contains(&default)).then(|| (flag, default.to_owned()))
    });
    named.collect()
}

#[test]
fn every_default_that_a_help_text_names_is_accepted() {
    for program in PROGRAMS {
        let defaults = named_defaults(&help(program, &["--help"]));
        assert!(defaults.len() >= 20, "{defaults:?}");
        for (flag, default) in defaults.iter().filter(|(flag, _)| !NOT_ALONE.contains(&&**flag)) {
            let found = COMPANIONS.iter().find(|(name, _)| name == flag);
            let companions = found.map_or(&[][..], |(_, companions)| companions);
            let args = [&[flag.as_str(), default.as_str()], companions].concat();
            if program == PROGRAMS[0] {
                let left = loadgen(&[&["--print-config"], &args[..]].concat());
                assert_eq!(left.code, Some(0), "{args:?}: {}", left.stderr);
                continue;
            }
            let server = MockServer::start(&args);
            if !default.starts_with(|first: char| first.is_ascii_digit()) {
                let change =
                    format!(r#"{{"{}":"{default}"}}"#, flag.trim_start_matches('-').replace('-', "_"));
                let reply = request(server.address, "PATCH", "/_mock/config", &change);
                assert_eq!(reply.status, 200, "{change}: {}", reply.body);
            }
        }
    }
}
