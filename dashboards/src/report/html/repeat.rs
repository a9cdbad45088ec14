//! Everything needed to repeat the runs: command lines, seeds, versions, configuration.

use std::collections::BTreeSet;

use maud::{Markup, html};
use results::{ConfigRecord, Written};

use crate::report::document::Document;
use crate::report::experiment::{Scenario, Sweep};
use crate::report::run::Run;
use crate::report::strategy::Strategy;

/// The section; nothing without runs.
pub(super) fn repeat(document: &Document) -> Markup {
    if document.strategies.is_empty() && document.scenarios.is_empty() {
        return html! {};
    }
    let shared = shared(&document.strategies);
    html! {
        section {
            h2 { "To repeat it" }
            @if let Some(commands) = &shared { (blocks(commands)) }
            @for strategy in &document.strategies { (of(strategy, shared.is_none())) }
            @for sweep in document.scenarios.iter().filter_map(|scenario| scenario.sweep.as_ref()) { (of_sweep(sweep)) }
            @for scenario in document.scenarios.iter().filter(|scenario| scenario.sweep.is_none()) {
                (of_scenario(scenario))
            }
        }
    }
}

fn of_scenario(scenario: &Scenario) -> Markup {
    let seed = scenario.seed.map(|seed| seed.to_string()).unwrap_or_default();
    let cells: BTreeSet<(&str, &str)> =
        scenario.cells.iter().map(|cell| (cell.label.as_str(), cell.strategy.as_str())).collect();
    html! {
        h3 { (scenario.name) }
        pre class="command" { "loadgen reproduce " (scenario.name) }
        dl { dt { "first seed" } dd { (seed) } }
        details {
            summary { "strategies by label" }
            dl { @for (label, strategy) in cells { dt { (label) } dd { code { (strategy) } } } }
        }
    }
}

fn of_sweep(sweep: &Sweep) -> Markup {
    let config = sweep.config.as_ref();
    let command = config.and_then(command).map(|command| BTreeSet::from([command])).unwrap_or_default();
    html! {
        (blocks(&command))
        dl {
            dt { "first seed" } dd { @if let Some(config) = config { (config.seed) } }
            dt { "seeds" } dd { @if let Some(config) = config { (config.repeats) } }
            dt { "version" } dd { @if let Some(config) = config { (config.version) } }
        }
        (configuration("the first strategy at the first point", &sweep.written.config.clone().unwrap_or_default()))
    }
}

/// A configuration, folded up.
fn configuration(whose: &str, config: &Written) -> Markup {
    html! {
        details class="config" {
            summary { "configuration of " (whose) }
            pre { (config.pretty()) }
        }
    }
}

/// The commands, where several strategies were run by the same.
fn shared(strategies: &[Strategy]) -> Option<BTreeSet<String>> {
    let [first, others @ ..] = strategies else { return None };
    let shared = commands(first);
    let same = !others.is_empty() && others.iter().all(|other| commands(other) == shared);
    same.then_some(shared)
}

fn commands(strategy: &Strategy) -> BTreeSet<String> {
    strategy.runs.iter().filter_map(|run| command(&run.result.as_ref()?.config)).collect()
}

fn blocks(commands: &BTreeSet<String>) -> Markup {
    html! { @for command in commands { pre class="command" { (command) } } }
}

/// One strategy; with its commands unless they stand above.
fn of(strategy: &Strategy, with_commands: bool) -> Markup {
    let values = |of: fn(&Run) -> Option<String>| -> String {
        let values: BTreeSet<String> = strategy.runs.iter().filter_map(of).collect();
        values.into_iter().collect::<Vec<_>>().join(", ")
    };
    let rows = [
        ("seeds", seeds(strategy)),
        ("mode", values(|run| Some(run.mode.clone()))),
        ("version", values(version)),
    ];
    let drawn = strategy.median();
    html! {
        h3 { code { (strategy.label) } }
        @if with_commands { (blocks(&commands(strategy))) }
        dl {
            @for (key, value) in rows.iter().filter(|(_, value)| !value.is_empty()) { dt { (key) } dd { (value) } }
        }
        @if let Some(config) = &drawn.written.config { (configuration(&format!("seed {}", drawn.seed), config)) }
    }
}

/// Of the program that made it, where its file says.
fn version(run: &Run) -> Option<String> {
    let version = &run.result.as_ref()?.config.version;
    (!version.is_empty()).then(|| version.clone())
}

/// The command as it can be pasted into a shell.
fn command(config: &ConfigRecord) -> Option<String> {
    // Files that do not say name no program, either; a bare `loadgen` does.
    if config.command_line.is_empty() && config.program.is_empty() {
        return None;
    }
    let words = config.command_line.iter().map(|word| quoted(word));
    Some(std::iter::once("loadgen".to_owned()).chain(words).collect::<Vec<_>>().join(" "))
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+:,./@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Seeds as ranges: `1–30, 42`.
pub(super) fn seeds(strategy: &Strategy) -> String {
    let seeds: BTreeSet<u64> = strategy.runs.iter().map(|run| run.seed).collect();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for seed in seeds {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(seed) => *last = seed,
            _ => ranges.push((seed, seed)),
        }
    }
    let range = |(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}–{last}") }
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_not_known_is_left_out() {
        assert_eq!(command(&ConfigRecord::default()), None);
        let bare = ConfigRecord { program: "loadgen".to_owned(), ..ConfigRecord::default() };
        assert_eq!(command(&bare).as_deref(), Some("loadgen"));
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("aimd:beta=0.5"), "aimd:beta=0.5");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
