//! Everything needed to repeat the runs: command lines, seeds, versions, configuration.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::report::document::Document;
use crate::report::escaping::escaped;
use crate::report::experiment::Scenario;
use crate::report::reading::look;
use crate::report::run::Run;
use crate::report::strategy::Strategy;

/// The section; nothing without runs.
pub(super) fn repeat(document: &Document) -> String {
    if document.strategies.is_empty() && document.scenarios.is_empty() {
        return String::new();
    }
    let mut section = "<section><h2>To repeat it</h2>\n".to_owned();
    let shared = shared(&document.strategies);
    if let Some(commands) = &shared {
        section.push_str(&blocks(commands));
    }
    for strategy in &document.strategies {
        section.push_str(&of(strategy, shared.is_none()));
    }
    for swept in document.scenarios.iter().filter(|scenario| scenario.sweep.is_some()) {
        section.push_str(&of_sweep(swept));
    }
    for scenario in document.scenarios.iter().filter(|scenario| scenario.sweep.is_none()) {
        let seed = look(&scenario.raw, "seed").map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(
            section,
            "<h3>{name}</h3>\n<pre class=\"command\">loadgen reproduce {name}</pre><dl><dt>first seed</dt><dd>{}</dd></dl>",
            escaped(&seed),
            name = escaped(&scenario.name)
        );
        let cells: BTreeSet<(&str, &str)> =
            scenario.cells.iter().map(|cell| (cell.label.as_str(), cell.strategy.as_str())).collect();
        section.push_str("<details><summary>strategies by label</summary><dl>");
        for (label, strategy) in cells {
            let _ = write!(section, "<dt>{}</dt><dd><code>{}</code></dd>", escaped(label), escaped(strategy));
        }
        section.push_str("</dl></details>\n");
    }
    section + "</section>\n"
}

fn of_sweep(swept: &Scenario) -> String {
    let config = look(&swept.raw, "config").cloned().unwrap_or_default();
    let command = typed(&config).map(|command| BTreeSet::from([command])).unwrap_or_default();
    let optional =
        |path| look(&config, path).map(|value| value.to_string().replace('"', "")).unwrap_or_default();
    let config = serde_json::to_string_pretty(&config).unwrap_or_default();
    format!(
        "{}<dl><dt>first seed</dt><dd>{}</dd><dt>seeds</dt><dd>{}</dd><dt>version</dt><dd>{}</dd></dl>\n\
         <details class=\"config\"><summary>configuration of the first strategy at the first point</summary><pre>{}</pre></details>\n",
        blocks(&command),
        escaped(&optional("seed")),
        escaped(&optional("repeats")),
        escaped(&optional("version")),
        escaped(&config)
    )
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

fn blocks(commands: &BTreeSet<String>) -> String {
    commands.iter().fold(String::new(), |mut blocks, command| {
        let _ = writeln!(blocks, "<pre class=\"command\">{}</pre>", escaped(command));
        blocks
    })
}

/// One strategy; with its commands unless they stand above.
fn of(strategy: &Strategy, with_commands: bool) -> String {
    let mut told = format!("<h3><code>{}</code></h3>\n", escaped(&strategy.label));
    if with_commands {
        told.push_str(&blocks(&commands(strategy)));
    }
    let values = |of: fn(&Run) -> Option<String>| -> String {
        strategy
            .runs
            .iter()
            .filter_map(of)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut rows = vec![("seeds", seeds(strategy)), ("mode", values(|run| Some(run.mode.clone())))];
    rows.push(("version", values(|run| Some(look(&run.raw, "config.version")?.as_str()?.to_owned()))));
    told.push_str("<dl>");
    for (key, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(told, "<dt>{key}</dt><dd>{}</dd>", escaped(value));
    }
    told.push_str("</dl>\n");
    if let Some(config) = look(&strategy.median().raw, "config") {
        let config = serde_json::to_string_pretty(config).unwrap_or_default();
        let _ = writeln!(
            told,
            "<details class=\"config\"><summary>configuration of seed {}</summary><pre>{}</pre></details>",
            strategy.median().seed,
            escaped(&config)
        );
    }
    told
}

/// The command as it can be pasted into a shell.
fn command(run: &Run) -> Option<String> {
    typed(look(&run.raw, "config")?)
}

fn typed(config: &Value) -> Option<String> {
    let typed = look(config, "command_line")?.as_array()?;
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
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("aimd:beta=0.5"), "aimd:beta=0.5");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
