//! README: its size, the comparison at its top and the commands of its table; and two programs of the guides.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::judge::is_clearly_a_thousandth;
use crate::support::{Folder, Left, MockServer, recommended, shell, skipped, thinned};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const README: &str = include_str!("../README.md");
const GUIDES: &str = include_str!("../docs/guides.md");

const MAX_LINES: usize = 180;
const MAX_CHARACTERS: usize = 120;

#[test]
fn it_is_short() {
    assert!(README.lines().count() <= MAX_LINES);
    let long: Vec<&str> = README.lines().filter(|line| line.chars().count() > MAX_CHARACTERS).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn the_two_commands_that_need_no_setup_are_there() {
    for command in ["cargo run --release -- --strategy aimd --ops 2000", "cargo test --workspace"] {
        assert!(README.contains(&format!("\n    {command}\n")), "{command}");
    }
}

/// Runs a command in this folder, with both programs on the path.
fn run(folder: &Folder, command: &str) -> Left {
    let programs = Path::new(env!("CARGO_BIN_EXE_loadgen")).parent().unwrap();
    let (folder, programs) = (folder.path(""), programs.display());
    shell(&format!("cd '{}' && PATH='{programs}':\"$PATH\" && {command}", folder.display()), &[])
}

#[test]
fn the_comparison_at_the_top_prints_what_is_shown() {
    let (_, rest) = README.split_once("\n    loadgen compare ").unwrap();
    let (arguments, rest) = rest.split_once("\n\n```text\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let printed = run(&Folder::new(), &format!("loadgen compare {arguments}")).exits(0).stdout;
    assert!(printed == block, "README shows another answer than:\n{printed}");
}

/// The crate of the README's Rust lines is where they say.
#[test]
fn the_crate_for_rust_programs_is_there() {
    let (_, rest) = README.split_once("cargo add --path ../tailback/").unwrap();
    let folder = rest.split(' ').next().unwrap();
    let manifest = std::fs::read_to_string(format!("{ROOT}/{folder}/Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"tailback-http\"\n"), "{folder}");
}

#[test]
fn every_command_of_the_table_works() {
    let rows = README.lines().filter(|line| line.starts_with("| ["));
    let commands: Vec<&str> = rows.filter_map(|row| row.strip_suffix("` |")?.rsplit('`').next()).collect();
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let folder = Folder::new();
        if let Some(flags) = command.strip_prefix("mockserver ") {
            let flags: Vec<&str> = flags.split(' ').collect();
            MockServer::start(&flags).finish_by_signals(Signal::INT).exits(130);
        } else if command.contains(" python3 my_client.py ") {
            judges_the_client_of_the_guides(&folder, command);
        } else if command.contains(" --strategy full-jitter") {
            // The run takes 46 s over HTTP.
            run(&folder, &format!("{command} --print-config")).exits(0);
        } else if let Some(flags) = command.strip_prefix("loadgen recommend ") {
            let flags: Vec<&str> = flags.split(' ').collect();
            recommended(&[&["recommend"], &flags[..]].concat());
        } else {
            let words: Vec<&str> = command.split(' ').collect();
            run(&folder, &thinned(&words).join(" ")).exits(0);
        }
    }
}

fn judges_the_client_of_the_guides(folder: &Folder, command: &str) {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        skipped("there is no python3");
        return;
    }
    assert!(GUIDES.contains(&format!("\n    {command}\n")), "the guides have another command");
    let (_, rest) = GUIDES.split_once("```python\n").unwrap();
    folder.write("my_client.py", rest.split("```").next().unwrap());
    let verdict = run(folder, &command.replacen(" -- ", " --json judged.json -- ", 1)).exits(99).stdout;
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (verdict, guides) = (joined(&verdict), joined(GUIDES));
    let says =
        |text: &str| assert!(verdict.contains(text) && guides.contains(text), "no `{text}` in: {verdict}");
    says("429, Retry-After: 3 FAIL");
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("judged.json")).unwrap()).unwrap();
    if is_clearly_a_thousandth(&document) {
        says("the delays are 1/1000 of the advice (");
        says("Are seconds used as milliseconds?");
    }
}

/// `cargo test` compiles the example, which `cargo run -p tailback --example first_attempt` runs.
#[test]
fn the_guides_show_the_example_of_the_crate() {
    let example = include_str!("../client/strategies/examples/first_attempt.rs");
    assert!(GUIDES.contains(&format!("```rust\n{example}```\n")));
}

/// Each line of Rust on the page is in the compiled example, in the same order, except the code of another crate.
#[test]
fn the_code_for_production_is_compiled() {
    let page = include_str!("../docs/production.md");
    let example: Vec<&str> =
        include_str!("../client/throttle/examples/page.rs").lines().map(str::trim).collect();
    let blocks = page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let own: Vec<&str> = blocks.filter(|block| !block.contains("reqwest_retry")).collect();
    assert!(own.len() >= 3, "{own:?}");
    for block in own {
        let mut at = 0;
        for line in
            block.lines().map(|line| line.trim().trim_end_matches("?;")).filter(|line| !line.is_empty())
        {
            let is_it = |there: &&str| {
                there.trim_end_matches("?;").trim_end_matches(';') == line.trim_end_matches(';')
            };
            let found = example[at..].iter().position(is_it);
            at += found.unwrap_or_else(|| panic!("`{line}` is not in the example")) + 1;
        }
    }
}
