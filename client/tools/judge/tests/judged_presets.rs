//! Test that the tables of rules and of findings for all client presets in docs/judge.md are current.
//!
//! `WRITE_DOCS=1 cargo test -p tailback-judge --test judged_presets` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use judge::{OperationType, RULES, Report, Severity, Simulated, SuiteText};
use tailback::{StrategySpec, presets};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/judge.md");
const IDLE: Duration = Duration::from_secs(6);

fn judged(preset: &str) -> Report {
    let strategy: StrategySpec = format!("preset:{preset}").parse().expect("it is a preset");
    let simulated = Simulated { strategy: &strategy, operation: OperationType::Read, seed: 1, idle: IDLE };
    simulated.report(&SuiteText::built_in(3)).expect("it starts")
}

/// Returns the findings of a severity, each rule with its situations.
fn findings(report: &Report, severity: Severity) -> String {
    let mut rules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for situation in &report.situations {
        for finding in situation.findings.iter().filter(|finding| finding.severity == severity) {
            rules.entry(finding.rule).or_default().push(&situation.name);
        }
    }
    let each = rules.iter().map(|(rule, situations)| format!("{rule}: {}", situations.join(", ")));
    each.collect::<Vec<_>>().join("; ")
}

fn presets_table() -> String {
    let mut text = String::from("| preset | failures | warnings |\n|---|---|---|\n");
    for preset in presets() {
        let report = judged(&preset.name);
        let (fails, warnings) = (findings(&report, Severity::Fail), findings(&report, Severity::Warn));
        let _ = writeln!(text, "| `{}` | {fails} | {warnings} |", preset.name);
    }
    text
}

fn rules_table() -> String {
    let mut text = String::from("| rule | severity | finding | example or source |\n|---|---|---|---|\n");
    for rule in RULES {
        let severity = if rule.severity == Severity::Fail { "fail" } else { "warn" };
        let _ = writeln!(text, "| `{}` | {severity} | {} | {} |", rule.name, rule.summary, rule.source);
    }
    text
}

fn situations_table() -> String {
    let suite = SuiteText::built_in(3).parse().expect("the built-in suite is valid");
    let mut text = String::from("| situation | answers | why |\n|---|---|---|\n");
    for situation in suite.situations.iter().filter(|situation| situation.table.is_none()) {
        let runs = if situation.runs > 1 { format!("; {} runs", situation.runs) } else { String::new() };
        let preset = situation.presets.iter().map(|preset| format!("; with `--preset {preset}` or `--only`"));
        let preset: String = preset.collect();
        let _ = writeln!(
            text,
            "| `{}` | {}{runs}{preset} | {} |",
            situation.name, situation.title, situation.why
        );
    }
    text
}

fn unjudged_table() -> String {
    let suite = SuiteText::built_in(3).parse().expect("the built-in suite is valid");
    let mut text =
        String::from("| situation | answers | why | judged with `--preset` |\n|---|---|---|---|\n");
    for situation in suite.situations.iter().filter(|situation| situation.table.is_some()) {
        let presets: Vec<String> = situation.presets.iter().map(|preset| format!("`{preset}`")).collect();
        let (name, title, why) = (&situation.name, &situation.title, &situation.why);
        let _ = writeln!(text, "| `{name}` | {title} | {why} | {} |", presets.join(", "));
    }
    text
}

/// Compares a table with the one in the page. With `WRITE_DOCS`, writes it there instead.
fn is_current(name: &str, table: &str) {
    let begin = format!("<!-- {name}: written by client/tools/judge/tests/judged_presets.rs -->\n");
    let end = format!("<!-- end of {name} -->\n");
    let page = fs::read_to_string(Path::new(PAGE)).expect("the page comes with the project");
    let (before, rest) = page.split_once(&begin).expect("the page has the table's begin");
    let (there, after) = rest.split_once(&end).expect("the page has the table's end");
    if std::env::var_os("WRITE_DOCS").is_some() {
        fs::write(PAGE, format!("{before}{begin}{table}{end}{after}")).expect("it can be written");
        return;
    }
    let command = "`WRITE_DOCS=1 cargo test -p tailback-judge --test judged_presets` writes the tables anew";
    assert!(there == table, "docs/judge.md: the table of {name} is not current; {command}\n{table}");
}

#[test]
fn the_tables_of_the_page_are_current() {
    is_current("situations", &situations_table());
    is_current("tables", &unjudged_table());
    is_current("rules", &rules_table());
    is_current("presets", &presets_table());
}
