//! Section of the report with everything needed to repeat the runs: command lines, seeds, versions, configuration.

use std::collections::BTreeSet;

use maud::{Markup, html};
use results::{ConfigRecord, PartRecord, Swept, Written};

use crate::report::{Document, Scenario, Strategy};

/// Settings that may differ between the runs of one command.
const OF_A_RUN: [&str; 6] = ["command_line", "program", "version", "strategy", "seed", "server_model.seed"];

pub(super) fn repeat(document: &Document) -> Markup {
    if document.strategies.is_empty() && document.scenarios.is_empty() {
        return html! {};
    }
    html! {
        section class="repeat" {
            h2 { "To repeat it" }
            @if !document.strategies.is_empty() { (of_runs(&document.strategies)) }
            @for (scenario, sweep) in document.sweeps() { (of_sweep(scenario, sweep)) }
            @for scenario in document.reproduced() { (of_scenario(scenario)) }
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

fn of_sweep(scenario: &Scenario, sweep: &Swept) -> Markup {
    let config = sweep.config.as_ref();
    html! {
        (blocks(config.and_then(command)))
        dl {
            dt { "first seed" } dd { @if let Some(config) = config { (config.seed) } }
            dt { "seeds" } dd { @if let Some(config) = config { (config.repeats) } }
            dt { "version" } dd { @if let Some(config) = config { (config.version) } }
        }
        (configuration("the first strategy at the first point", &scenario.written_sweep.config.clone().unwrap_or_default()))
    }
}

fn configuration(whose: &str, config: &Written) -> Markup {
    html! {
        details class="config" {
            summary { "configuration of " (whose) }
            pre { (config.pretty()) }
        }
    }
}

fn of_runs(strategies: &[Strategy]) -> Markup {
    let Some((first, others)) = strategies.split_first() else { return html! {} };
    let commands: BTreeSet<String> = strategies
        .iter()
        .flat_map(|strategy| &strategy.runs)
        .filter_map(|run| command(&run.result.config))
        .collect();
    let rows = [
        ("seeds", one_or_each(strategies, seeds)),
        ("mode", one_or_each(strategies, |strategy| strategy.runs[0].result.mode.name().to_owned())),
        ("version", one_or_each(strategies, version)),
    ];
    html! {
        (blocks(commands))
        dl {
            @for (key, value) in rows.iter().filter(|(_, value)| !value.is_empty()) { dt { (key) } dd { (value) } }
        }
        @if let Some(config) = &first.runs[0].written.config {
            (configuration(&format!("{}, seed {}", first.label, first.runs[0].result.seed), config))
        }
        @if !others.is_empty() {
            h3 { "The others differ from it in" }
            dl class="differences" {
                @for other in others { dt { code { (other.label) } } dd { (differences(first, other)) } }
            }
        }
    }
}

fn one_or_each(strategies: &[Strategy], value: impl Fn(&Strategy) -> String) -> String {
    let first = value(&strategies[0]);
    if strategies.iter().all(|strategy| value(strategy) == first) {
        return first;
    }
    let each = strategies.iter().map(|strategy| format!("{} {}", strategy.label, value(strategy)));
    each.collect::<Vec<_>>().join("; ")
}

fn differences(first: &Strategy, other: &Strategy) -> String {
    let settings = |strategy: &Strategy| {
        strategy.runs[0].written.config.as_ref().map(Written::settings).unwrap_or_default()
    };
    let (here, there) = (settings(first), settings(other));
    let mut words = vec![parts(&other.runs[0].result.config)];
    words.retain(|words| !words.is_empty());
    let keys: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
    for key in
        keys.into_iter().filter(|key| !OF_A_RUN.contains(&key.as_str()) && here.get(*key) != there.get(*key))
    {
        words.push(format!("{key} {}", there.get(key).map_or("–", String::as_str)));
    }
    words.join("; ")
}

fn parts(config: &ConfigRecord) -> String {
    let part = |part: &PartRecord| {
        let parameters = part.parameters.iter().map(|(key, value)| format!("{key}={value}"));
        format!("{} {}", part.name, parameters.collect::<Vec<_>>().join(", ")).trim_end().to_owned()
    };
    config.strategy.iter().map(part).collect::<Vec<_>>().join(" + ")
}

fn blocks(commands: impl IntoIterator<Item = String>) -> Markup {
    html! { @for command in commands { pre class="command" { (command) } } }
}

fn version(strategy: &Strategy) -> String {
    let versions = strategy.runs.iter().map(|run| run.result.config.version.as_str());
    let versions: BTreeSet<&str> = versions.collect();
    versions.into_iter().collect::<Vec<_>>().join(", ")
}

fn command(config: &ConfigRecord) -> Option<String> {
    // A command line is unknown only if the program's name is missing, too. An empty command line alone may be that of
    // `loadgen` without arguments.
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

pub(super) fn seeds(strategy: &Strategy) -> String {
    let seeds: BTreeSet<u64> = strategy.runs.iter().map(|run| run.result.seed).collect();
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
