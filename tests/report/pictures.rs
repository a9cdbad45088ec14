//! Checks that tables and plots in the documentation equal the output of the commands beside them.
//!
//! A line `    loadgen …` or `    benches/survey.py …` is a command, and `\` at its end continues it in the next line. A block that opens with ```` ```text WORDS ````
//! contains the output of the commands above it, from the line with these words to the next empty one. Figures in bold must occur in a
//! block of their section, or before the first section in any block of the page.
//!
//! `UPDATE_PICTURES=1 cargo test --test programs pictures` updates tables and plots.

use std::path::Path;
use std::process::Command;

use mockserver_core::POLICIES;

use crate::support::{Folder, recommended, skipped};

const AGAIN: &str = "UPDATE_PICTURES=1 cargo test --test programs pictures";

const PICTURES: &str = "docs/pictures";

/// Script that prints and draws `docs/tailback-survey.json`. Its runs take minutes, so only some are repeated (`tests/survey.rs`).
const SURVEY: &str = "benches/survey.py";

/// Sections of the guides that are checked. Blocks of other sections are excerpts.
const HELD: [&str; 3] = ["Which strategy?", "Which parameters?", "Pictures and reports"];

#[test]
fn blocks_and_pictures_of_the_guides_match_their_commands() {
    sections_are_current("docs/guides.md", &HELD, "pictures");
}

/// Its tables and pictures, and figures in its text.
#[test]
fn clients_document_matches_its_commands() {
    let place = "docs/clients.md";
    let page = kept(place);
    let folder = Folder::new();
    let made = made(&folder, &page);
    page_is_current(place, &made);
    // Links of a page are relative to its folder.
    pictures_are_current(&folder, &made, "pictures");
    figures_stand_in_blocks(&made);
}

#[test]
fn recommend_document_matches_its_commands() {
    let place = "docs/recommend.md";
    let page = kept(place);
    page_is_current(place, &made(&Folder::new(), &page));
}

/// Its tables, and figures in its text.
#[test]
fn hold_document_matches_its_commands() {
    let place = "docs/hold.md";
    let made = made(&Folder::new(), &kept(place));
    page_is_current(place, &made);
    figures_stand_in_blocks(&made);
}

/// Its tables and pictures, and figures in its text.
#[test]
fn tailback_document_matches_its_commands() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skipped("there is no python3");
    }
    let place = "docs/tailback.md";
    let page = kept(place);
    let folder = Folder::new();
    let made = made(&folder, &page);
    page_is_current(place, &made);
    pictures_are_current(&folder, &made, "pictures");
    figures_stand_in_blocks(&made);
}

/// Its sections on policies and on vendors: tables, pictures, and figures in the text.
#[test]
fn servers_document_matches_its_commands() {
    let sections = ["Policies, one picture each", "Vendors against strategies"];
    figures_stand_in_blocks(&sections_are_current("docs/servers.md", &sections, "pictures"));
}

#[test]
fn every_picture_is_made_by_a_command_of_a_page() {
    let pages = ["docs/guides.md", "docs/clients.md", "docs/tailback.md"].map(kept).concat();
    let pages = pages + &joined(&kept("docs/servers.md"));
    for entry in std::fs::read_dir(root().join(PICTURES)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let made =
            ["-o", "--plot"].iter().any(|flag| pages.contains(&format!(" {flag} {PICTURES}/{name}\n")));
        assert!(made, "no command makes `{name}`");
    }
}

/// Checks that each plot is also described in words.
#[test]
fn every_policy_has_its_picture() {
    let page = joined(&kept("docs/servers.md"));
    // `script` has no plot, because its responses are arbitrary.
    for name in POLICIES.iter().map(|policy| policy.name).filter(|name| *name != "script") {
        let made = format!(" -o {PICTURES}/policy-{name}.svg");
        let drawn = page.lines().find(|line| line.ends_with(&made));
        let drawn = drawn.unwrap_or_else(|| panic!("no command draws `{name}`"));
        let file = drawn.trim_start().strip_prefix("loadgen plot ").unwrap().split(' ').next().unwrap();
        let run = page.lines().find(|line| line.ends_with(&format!(" --json {file}"))).unwrap();
        assert!(run.contains(&format!(" --policy {name}")), "`{name}` is not what is drawn: {run}");
        assert!(page.contains(&format!("\n- `{name}`: ")), "no words about `{name}`");
    }
}

fn joined(page: &str) -> String {
    let parts: Vec<&str> = page.split("\\\n").collect();
    let (first, others) = parts.split_first().unwrap();
    others.iter().fold((*first).to_owned(), |page, part| page + part.trim_start())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn kept(place: &str) -> String {
    std::fs::read_to_string(root().join(place)).unwrap_or_default()
}

fn updates() -> bool {
    std::env::var_os("UPDATE_PICTURES").is_some()
}

/// Checks these sections of a page, and returns the page with the output of its commands.
fn sections_are_current(place: &str, heads: &[&str], linked_as: &str) -> String {
    let page = kept(place);
    let folder = Folder::new();
    let mut current = page.clone();
    for head in heads {
        let (_, section) = page.split_once(&format!("\n## {head}\n")).expect("it has this section");
        let section = section.split("\n## ").next().unwrap();
        current = current.replace(section, &made(&folder, section));
    }
    page_is_current(place, &current);
    pictures_are_current(&folder, &current, linked_as);
    current
}

fn figures_stand_in_blocks(page: &str) {
    let unheld = figures_without_a_block(page);
    assert!(unheld.is_empty(), "no block of their section has these figures: {unheld:?}");
}

fn page_is_current(place: &str, made: &str) {
    if updates() {
        std::fs::write(root().join(place), made).unwrap();
    }
    let kept = kept(place);
    let differing = made.lines().zip(kept.lines()).find(|(made, kept)| made != kept);
    assert!(kept == made, "`{place}` is not current: {AGAIN}\nfirst, made and kept: {differing:?}");
}

/// Compares the plots of the page's commands with the stored ones, or replaces them in update mode.
fn pictures_are_current(folder: &Folder, page: &str, linked_as: &str) {
    let pictures = std::fs::read_dir(folder.path(PICTURES)).unwrap();
    let names: Vec<String> =
        pictures.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.is_empty());
    for name in &names {
        assert!(page.contains(&format!("<img src=\"{linked_as}/{name}\"")), "`{name}` is not shown");
        let place = format!("{PICTURES}/{name}");
        let made = folder.read(&place);
        if updates() {
            std::fs::write(root().join(&place), &made).unwrap();
        }
        assert!(kept(&place) == made, "`{place}` is not current: {AGAIN}");
    }
}

fn made(folder: &Folder, page: &str) -> String {
    std::fs::create_dir_all(folder.path(PICTURES)).unwrap();
    let mut lines = page.lines();
    let (mut made, mut printed, mut shown) = (String::new(), String::new(), false);
    while let Some(line) = lines.next() {
        made.extend([line, "\n"]);
        let command = line.strip_prefix("    ");
        let is_run = |command: &&str| command.starts_with("loadgen ") || command.starts_with(SURVEY);
        if let Some(command) = command.filter(is_run) {
            let mut command = command.to_owned();
            while command.ends_with('\\') {
                let next = lines.next().expect("a command goes on");
                made.extend([next, "\n"]);
                command.truncate(command.len() - 1);
                command += next.trim_start();
            }
            if std::mem::take(&mut shown) {
                printed.clear();
            }
            let words = words(&command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let arguments = &words[1..];
            printed += &match words[0] {
                SURVEY => survey(&folder.path("."), arguments),
                _ if arguments[0] == "recommend" => recommended(arguments).text.clone(),
                _ => folder.loadgen_words(arguments).exits(0).stdout,
            };
        } else if let Some(from) = line.strip_prefix("```text ") {
            shown = true;
            made.extend([&*excerpt(&printed, from), "\n```\n"]);
            assert!(lines.any(|line| line == "```"), "a block has no end");
        }
    }
    made
}

fn survey(folder: &Path, words: &[&str]) -> String {
    let mut python = Command::new("python3");
    let output = python.arg(root().join(SURVEY)).args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Splits a command into words like a shell, with support for single quotes only.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(ToOwned::to_owned));
        }
    }
    words
}

/// Returns the lines from the one with these words to the next empty one.
fn excerpt(printed: &str, from: &str) -> String {
    let lines: Vec<&str> = printed
        .lines()
        .skip_while(|line| !line.contains(from))
        .take_while(|line| !line.trim().is_empty())
        .collect();
    assert!(!lines.is_empty(), "no line has `{from}`: {printed}");
    lines.join("\n")
}

/// Returns bold texts with digits that occur in no block of their section.
fn figures_without_a_block(page: &str) -> Vec<String> {
    let sections: Vec<(String, String)> = page.split("\n## ").map(told_and_shown).collect();
    let all: String = sections.iter().map(|(_, shown)| shown.as_str()).collect();
    let unheld = sections.iter().enumerate().flat_map(|(index, (told, shown))| {
        let shown = if index == 0 { &all } else { shown };
        let bold = told.split("**").skip(1).step_by(2);
        bold.filter(|words| {
            words.contains(|letter: char| letter.is_ascii_digit()) && !stands_in(shown, words)
        })
    });
    unheld.map(ToOwned::to_owned).collect()
}

fn told_and_shown(section: &str) -> (String, String) {
    let (mut told, mut shown) = (String::new(), String::new());
    for (index, part) in section.split("```").enumerate() {
        *(if index % 2 == 0 { &mut told } else { &mut shown }) += part;
    }
    (told.replace('\n', " "), shown)
}

/// Whether the figure occurs, other than as a part of a longer number.
fn stands_in(shown: &str, figure: &str) -> bool {
    let digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit() || letter == '.');
    shown.match_indices(figure).any(|(at, _)| {
        !digit(shown[..at].chars().next_back()) && !digit(shown[at + figure.len()..].chars().next())
    })
}

#[test]
fn a_figure_that_no_block_has_is_found() {
    let page = "All **7 %**.\n\n## One\n**7 %** and **3.5**, not **.5**.\n```text x\n 7 %  3.5\n```\n\n## Two\n**7 %**\n";
    assert_eq!(figures_without_a_block(page), [".5", "7 %"]);
}
