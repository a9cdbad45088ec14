//! Everything needed to repeat the runs: command lines, seeds, versions, configuration.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use crate::report::document::Document;
use crate::report::experiment::Scenario;
use crate::report::reading::look;
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
            @for swept in document.scenarios.iter().filter(|scenario| scenario.sweep.is_some()) { (of_sweep(swept)) }
            @for scenario in document.scenarios.iter().filter(|scenario| scenario.sweep.is_none()) {
                (of_scenario(scenario))
            }
        }
    }
}

fn of_scenario(scenario: &Scenario) -> Markup {
    let seed = look(&scenario.raw, "seed").map(ToString::to_string).unwrap_or_default();
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

fn of_sweep(swept: &Scenario) -> Markup {
    let config = look(&swept.raw, "config").cloned().unwrap_or_default();
    let command = typed(&config).map(|command| BTreeSet::from([command])).unwrap_or_default();
    let optional =
        |path| look(&config, path).map(|value| value.to_string().replace('"', "")).unwrap_or_default();
    html! {
        (blocks(&command))
        dl {
            dt { "first seed" } dd { (optional("seed")) }
            dt { "seeds" } dd { (optional("repeats")) }
            dt { "version" } dd { (optional("version")) }
        }
        (configuration("the first strategy at the first point", &config))
    }
}

/// A configuration, folded up.
fn configuration(whose: &str, config: &Value) -> Markup {
    html! {
        details class="config" {
            summary { "configuration of " (whose) }
            pre { (serde_json::to_string_pretty(config).unwrap_or_default()) }
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
    strategy.runs.iter().filter_map(command).collect()
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
        ("version", values(|run| Some(look(&run.raw, "config.version")?.as_str()?.to_owned()))),
    ];
    let drawn = strategy.median();
    html! {
        h3 { code { (strategy.label) } }
        @if with_commands { (blocks(&commands(strategy))) }
        dl {
            @for (key, value) in rows.iter().filter(|(_, value)| !value.is_empty()) { dt { (key) } dd { (value) } }
        }
        @if let Some(config) = look(&drawn.raw, "config") { (configuration(&format!("seed {}", drawn.seed), config)) }
    }
}

/// The command as it can be pasted into a shell.
fn command(run: &Run) -> Option<String> {
    typed(look(&run.raw, "config")?)
}

fn typed(config: &Value) -> Option<String> {
    let typed = look(config, "command_line")?.as_array()?;
    // Files that do not say name no program, either; a bare `loadgen` does.
    let is_said = look(config, "program").is_some_and(|program| program != "");
    if typed.is_empty() && !is_said {
        return None;
    }
    let words = typed.iter().filter_map(Value::as_str).map(quoted);
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
    let told = |(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}–{last}") }
    };
    ranges.iter().map(told).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_that_is_not_known_is_left_out() {
        assert_eq!(typed(&json!({ "program": "", "command_line": [] })), None);
        let bare = typed(&json!({ "program": "loadgen", "command_line": [] }));
        assert_eq!(bare.as_deref(), Some("loadgen"));
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("aimd:beta=0.5"), "aimd:beta=0.5");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
