//! Commands on the pages: every one is parsed, and most are run.
//!
//! A command is a line `    loadgen …` or `    mockserver …`; `\` at its end continues it in the next line, and two spaces begin a remark.
//! Commands with flags in tables are commands, too.
//! Above its block, a comment `<!-- not run: REASON -->` excludes the commands of the block from running, and
//! `<!-- exits with 1 -->` sets their exit code. Commands of the pages and sections in `RUN_ELSEWHERE` are run by other tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::support::{Folder, MockServer, count, recommended, thinned};

/// Pages and sections whose commands `tests/report/pictures.rs`, `tests/readme.rs` or a test of this module runs. Without a section, it is the whole page.
const RUN_ELSEWHERE: [(&str, Option<&str>); 11] = [
    ("README.md", Some("")),
    ("README.md", Some("I want to …")),
    ("docs/clients.md", None),
    ("docs/recommend.md", None),
    ("docs/tailback.md", None),
    ("docs/servers.md", Some("Policies, one picture each")),
    ("docs/servers.md", Some("Vendors against strategies")),
    ("docs/guides.md", Some("Which strategy?")),
    ("docs/guides.md", Some("Which parameters?")),
    ("docs/guides.md", Some("Pictures and reports")),
    ("docs/guides.md", Some(COMING_FROM)),
];

const COMING_FROM: &str = "Coming from k6, vegeta, wrk or oha";

#[derive(Debug, PartialEq)]
struct Shown {
    line: usize,
    /// Heading of the second level above the command; empty before the first one.
    section: String,
    words: Vec<String>,
    /// Exit code with which the command must end; `None` if the command is not run.
    code: Option<i32>,
}

/// Returns the commands of a page, in their order.
fn shown(page: &str) -> Vec<Shown> {
    let (mut section, mut code, mut is_fenced) = (String::new(), Some(0), false);
    let mut all = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced || line.is_empty() {
            continue;
        } else if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut section);
        }
        let Some(first) = line.strip_prefix("    ") else {
            code = expected_code(line);
            let cells = in_table(line).into_iter();
            all.extend(cells.map(|(words, code)| Shown {
                line: index + 1,
                section: section.clone(),
                words,
                code,
            }));
            continue;
        };
        let mut text = first.to_owned();
        while text.ends_with('\\') {
            text.truncate(text.len() - 1);
            text += lines.next().map_or("", |(_, next)| next.trim_start());
        }
        let words = words(&text);
        if is_program(&words) {
            all.push(Shown { line: index + 1, section: section.clone(), words, code });
        }
    }
    all
}

fn is_program(words: &[String]) -> bool {
    words.first().is_some_and(|program| program == "loadgen" || program == "mockserver")
}

/// Returns the commands with flags in a row of a table. Those of virtual time, and servers, are run.
fn in_table(line: &str) -> Vec<(Vec<String>, Option<i32>)> {
    let row = if line.starts_with("| ") { line } else { "" };
    let spans = row.split('`').skip(1).step_by(2).filter(|span| span.contains(" --"));
    let commands = spans.map(|span| words(&span.replace("\\|", "|"))).filter(|words| is_program(words));
    let is_quick =
        |words: &[String]| words[0] == "mockserver" || words.iter().any(|word| word == "--simulate");
    commands
        .map(|words| {
            let code = is_quick(&words).then_some(0);
            (words, code)
        })
        .collect()
}

fn expected_code(line: &str) -> Option<i32> {
    let Some(comment) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) else {
        return Some(0);
    };
    match comment.strip_prefix("exits with ") {
        Some(code) => Some(code.parse().unwrap()),
        None if comment.starts_with("not run: ") => None,
        None => Some(0),
    }
}

/// Splits a command into words like a shell. A remark, `|`, `>` and `&` end the command. A variable has the value 0.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut spaces = 0;
    let mut letters = text.chars().chain([' ']).peekable();
    while let Some(letter) = letters.next() {
        spaces = if letter == ' ' { spaces + 1 } else { 0 };
        match (letter, quote) {
            (' ', None) if spaces > 1 => break,
            (' ', None) if word.is_empty() => {}
            (' ', None) => words.push(std::mem::take(&mut word)),
            ('|' | '>' | '&', None) if word.is_empty() => break,
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            ('$', None | Some('"')) => {
                while letters.next_if(|next| next.is_ascii_alphanumeric() || *next == '_').is_some() {}
                word.push('0');
            }
            (letter, _) => word.push(letter),
        }
    }
    words
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the pages, as paths from the root of the project.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in ["", "docs", "examples/locust", "tests/real_clients", "examples", "examples/judge"] {
        let Ok(entries) = std::fs::read_dir(root().join(folder)) else { continue };
        let names = entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name()));
        pages.extend(names.filter(|name| name.extension().is_some_and(|extension| extension == "md")));
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    std::fs::read_to_string(root().join(page)).unwrap()
}

#[test]
fn every_command_of_the_pages_is_accepted() {
    let mut count = 0;
    for page in pages() {
        for Shown { line, words, .. } in shown(&read(&page)) {
            let parsed =
                if words[0] == "loadgen" { loadgen::parse(&words) } else { mockserver::parse(&words) };
            assert!(parsed.is_ok(), "{}:{line}: {words:?}: {parsed:?}", page.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// Returns the commands of a page that run here, each with its line and its exit code.
fn run_here(page: &Path) -> Vec<(usize, Vec<String>, i32)> {
    let is_elsewhere = |section: &str| {
        let is_named = |(name, part): &(&str, Option<&str>)| {
            Path::new(name) == page && part.is_none_or(|part| part == section)
        };
        RUN_ELSEWHERE.iter().any(is_named)
    };
    let all = shown(&read(page)).into_iter().filter(|shown| !is_elsewhere(&shown.section));
    all.filter_map(|Shown { line, words, code, .. }| Some((line, words, code?))).collect()
}

fn runs(page: &str) {
    let text = read(Path::new(page));
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("docs/pictures")).unwrap();
    // A page that describes scenarios has one, which its commands read.
    if let Some(scenario) = text.split("```toml\n").skip(1).find(|block| block.starts_with("name = ")) {
        folder.write("mine.toml", scenario.split("```").next().unwrap());
    }
    for (line, words, code) in run_here(Path::new(page)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        eprintln!("{page}:{line}: {words:?}");
        let arguments = &words[1..];
        if arguments.first() == Some(&"recommend") {
            recommended(arguments);
        } else if words[0] == "loadgen" {
            folder.loadgen_words(&thinned(arguments)).exits(code);
        } else if arguments.first().is_none_or(|first| first.starts_with('-')) {
            MockServer::start(arguments).finish_by_signals(Signal::INT);
        } else {
            let ended = Command::new(env!("CARGO_BIN_EXE_mockserver")).args(arguments).output().unwrap();
            assert!(ended.status.success(), "{ended:?}");
        }
    }
}

/// Runs the commands for users of other tools. Those over HTTP reach a mockserver at twenty times the speed. Returns their results.
fn of_other_tools() -> Vec<(Vec<String>, serde_json::Value)> {
    let server = MockServer::start(&["--time-scale", "0.05", "--network-delay", "0", "--max-busy", "1000"]);
    let folder = Folder::new();
    for file in ["item.json", "balance.json", "transfer.json"] {
        folder.write(file, "{}");
    }
    let page = shown(&read(Path::new("docs/guides.md")));
    let loads = page.into_iter().filter(|shown| shown.section == COMING_FROM && shown.words[0] == "loadgen");
    let results = loads.map(|Shown { words, .. }| {
        let target = |word: &String| word.replace("http://localhost:8080/", &server.url());
        let mut arguments: Vec<String> = words[1..].iter().map(target).collect();
        arguments.extend(["--json", "-", "-q"].map(ToOwned::to_owned));
        if !words.iter().any(|word| word == "--simulate") {
            arguments.extend(["--time-scale", "0.05"].map(ToOwned::to_owned));
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let result = folder.loadgen_words(&arguments).exits(0).json();
        (words, result)
    });
    results.collect()
}

#[test]
fn loads_of_other_tools_do_what_their_section_says() {
    let results = of_other_tools();
    let [limit, constant, post, targets, rpc, nginx] = &results[..] else { panic!("{}", results.len()) };
    let counts = |(_, result): &(Vec<String>, serde_json::Value)| {
        ["/ops/total", "/server/accepted", "/server/rejected"].map(|pointer| count(result, pointer))
    };
    assert_eq!(counts(limit), [61, 60, 1]);
    assert_eq!(counts(constant), [18_000, 18_000, 0]);
    assert_eq!(counts(post), [1_500, 1_500, 0]);
    assert!(
        count(&targets.1, "/generator/connections") >= count(&targets.1, "/attempts/total"),
        "{}",
        targets.1
    );
    assert_eq!(counts(rpc), [1_650 + 6_000 + 500, 1_650 + 6_000 + 500, 0]);
    assert_eq!(counts(nginx), [30, 21, 9]);
}

/// Defines a test for each page, so that pages run side by side.
macro_rules! commands_run {
    ($($test:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];

        mod commands_run {
            $(#[test]
            fn $test() {
                super::runs($page);
            })*
        }
    };
}

commands_run! {
    ci: "docs/ci.md",
    clients_here: "docs/clients-here.md",
    getting_started: "docs/getting-started.md",
    guides: "docs/guides.md",
    hold: "docs/hold.md",
    how_it_works: "docs/how-it-works.md",
    judge: "docs/judge.md",
    outputs: "docs/outputs.md",
    papers: "docs/papers.md",
    policies: "docs/policies.md",
    presets: "docs/presets.md",
    reports: "docs/reports.md",
    scale: "docs/scale.md",
    scenarios: "docs/scenarios.md",
    servers: "docs/servers.md",
    strategies: "docs/strategies.md",
    sweep: "docs/sweep.md",
}

#[test]
fn every_page_with_commands_has_a_test() {
    let with_commands: Vec<PathBuf> = pages().into_iter().filter(|page| !run_here(page).is_empty()).collect();
    let tested: Vec<PathBuf> = PAGES.iter().map(PathBuf::from).collect();
    assert_eq!(tested, with_commands);
}

#[test]
fn commands_are_found_and_split() {
    let page = "# A\n\n    loadgen --a 'b  c' --d   a remark\n\n```text\n    loadgen none\n```\n\n## B\n\n\
                <!-- not run: far -->\n\n    mockserver \\\n      --e \"$F/4\" > g\n    cargo run\n\n\
                <!-- exits with 1 -->\n\n    loadgen h | i\n\nWords.\n\n    loadgen j &\n\n\
                | a | `loadgen k --simulate` | `loadgen l` | `loadgen m --n 'o\\|p'` |\n";
    let shown: Vec<String> = shown(page)
        .iter()
        .map(|Shown { line, section, words, code }| format!("{line} {section} {} {code:?}", words.join("·")))
        .collect();
    let expected = [
        "3  loadgen·--a·b  c·--d Some(0)",
        "13 B mockserver·--e·0/4 None",
        "19 B loadgen·h Some(1)",
        "23 B loadgen·j Some(0)",
        "25 B loadgen·k·--simulate Some(0)",
        "25 B loadgen·m·--n·o|p None",
    ];
    assert_eq!(shown, expected);
}
