//! Terminal output of a survey: the answer, a table for each kind of limit, and with `--explain` groups of settings and worst cases.

use std::fmt::Write as _;

use experiments::survey::{Against, GROUPS, Group, MAX_ATTEMPTS_PER_OP, Ratio, Row, SLOWER, Survey};
use results::numbers::{counted, percent, short, thousands};

use crate::exit::{Exit, Fatal};
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::wrapped;

/// Width in characters of the first column, which contains names, in the table of a survey.
const NAME: usize = 17;

pub(super) struct Judged {
    pub(super) survey: Survey,
    reference: usize,
}

impl Judged {
    pub(super) fn new(survey: Survey, reference: &str) -> anyhow::Result<Self> {
        let reference = self::reference(&survey.strategies, reference)?;
        Ok(Self { survey, reference })
    }

    pub(super) fn reference_name(&self) -> &str {
        &self.survey.strategies[self.reference]
    }

    pub(super) fn compared(&self) -> impl Iterator<Item = Against> {
        let reference = self.reference;
        let others = (0..self.survey.strategies.len()).filter(move |strategy| *strategy != reference);
        others.map(move |strategy| Against { strategy, reference })
    }

    pub(super) fn rows(&self, group: &Group) -> Vec<(&str, Row)> {
        let reference = self.reference;
        let names = self.survey.strategies.iter().enumerate();
        names
            .filter_map(|(strategy, name)| {
                let row = self.survey.row(group, Against { strategy, reference })?;
                Some((name.as_str(), row))
            })
            .collect()
    }
}

pub(super) fn reference(strategies: &[String], reference: &str) -> anyhow::Result<usize> {
    let place = strategies.iter().position(|name| name == reference);
    place.ok_or_else(|| {
        let words =
            format!("`{reference}` (--reference) is not one of --strategies: {}", strategies.join(", "));
        Fatal::error(Exit::Usage, words)
    })
}

pub(super) fn text(judged: &Judged, explain: bool) -> String {
    let mut text = String::new();
    for group in GROUPS.iter().filter(|group| group.is_whole) {
        text += &answer(judged, group);
    }
    for group in GROUPS.iter().filter(|group| group.is_whole || explain) {
        text += &table(judged, group);
    }
    let Survey { seed, repeats, stopped_early, settings, .. } = &judged.survey;
    let early = if *stopped_early { "; stopped early, settings are missing" } else { "" };
    let _ = writeln!(
        text,
        "\n{} drawn with seed {seed}, {} each, simulated{early}",
        counted(settings.len() as u64, "setting"),
        counted((*repeats).into(), "seed"),
    );
    if explain {
        text += &worst(judged);
        text += &legend(judged);
    } else {
        text += "Groups, worst settings, how to read it: --explain   --plot FILE.svg  --csv FILE\n";
    }
    text
}

fn answer(judged: &Judged, group: &Group) -> String {
    let rows = judged.rows(group);
    let best = rows.iter().min_by(|(_, one), (_, other)| one.time.mean.total_cmp(&other.time.mean));
    let Some((name, row)) = best else { return String::new() };
    let reference = judged.reference_name();
    let words = if *name == reference {
        format!("With {}, {name} takes the least time.", group.name)
    } else {
        format!(
            "With {}, {name} takes the least time: {} of {reference}'s, with {} of its attempts.",
            group.name,
            cell(&row.time),
            cell(&row.attempts)
        )
    };
    wrapped(&words, "", "") + "\n"
}

fn table(judged: &Judged, group: &Group) -> String {
    let rows = judged.rows(group);
    let Some((_, first)) = rows.first() else { return String::new() };
    let mut table = Table::new(NAME, [19, 19, 8, 7, 8].map(Column::Right), LongNames::OwnLine);
    table.line("");
    table.line(&format!(
        "{} {}, ÷ {}",
        thousands(first.settings as u64),
        group.name,
        judged.reference_name()
    ));
    table.titles("", ["time (95 %)", "attempts (95 %)", "slower", "worst", "undone"]);
    for (name, row) in &rows {
        let is_reference = *name == judged.reference_name();
        let ratio = |ratio: &Ratio| if is_reference { "1".to_owned() } else { cell(ratio) };
        let dash = |cell: String| if is_reference { "–".to_owned() } else { cell };
        let undone = if row.unfinished == 0 { "–".to_owned() } else { thousands(row.unfinished as u64) };
        let cells = [
            ratio(&row.time),
            ratio(&row.attempts),
            dash(percent(row.slower as f64 / row.settings as f64)),
            dash(short(row.worst.0)),
            undone,
        ];
        table.row("", name, &cells);
    }
    if let Some(fairness) = fairness(&rows) {
        table.line(&wrapped(&fairness, "", ""));
    }
    table.into_text()
}

fn fairness(rows: &[(&str, Row)]) -> Option<String> {
    let figures: Option<Vec<String>> =
        rows.iter().map(|(name, row)| Some(format!("{name} {}", short(row.fairness?)))).collect();
    Some(format!("fairness (Jain): {}", figures?.join(", ")))
}

fn cell(ratio: &Ratio) -> String {
    match ratio.interval {
        Some((low, high)) => format!("{} ({low:.2}–{high:.2})", short(ratio.mean)),
        None => short(ratio.mean),
    }
}

fn worst(judged: &Judged) -> String {
    let mut text = "\nWorst settings\n".to_owned();
    for group in GROUPS.iter().filter(|group| group.is_whole) {
        for against in judged.compared() {
            let Some(row) = judged.survey.row(group, against) else { continue };
            let (ratio, number) = row.worst;
            let setting = judged.survey.settings.iter().find(|surveyed| surveyed.setting.number == number);
            let Some(surveyed) = setting else { continue };
            let name = &judged.survey.strategies[against.strategy];
            let _ =
                writeln!(text, "{name}: {} × the time in setting {number} ({})", short(ratio), group.name);
            let words: Vec<String> = surveyed.setting.words().map(quoted).collect();
            let command = format!(
                "loadgen compare --simulate --strategies {},{name} --repeats {} {}",
                judged.reference_name(),
                judged.survey.repeats,
                words.join(" ")
            );
            let _ = writeln!(text, "    {command}");
        }
    }
    text
}

fn quoted(word: &str) -> String {
    if word.contains(['(', ')']) { format!("'{word}'") } else { word.to_owned() }
}

fn legend(judged: &Judged) -> String {
    let reference = judged.reference_name();
    [
        String::new(),
        format!("time, attempts: geometric mean of the ratio to {reference} over settings, with its 95 % interval (Student's t)."),
        format!("slower: share of settings with more than {SLOWER} × the time. worst: the largest ratio of times."),
        format!(
            "undone: settings with a run that left ops undone, because it stalled or reached {MAX_ATTEMPTS_PER_OP} attempts per op. Such \
             a run counts as five times its time, divided by its share of ops done."
        ),
    ]
    .map(|line| wrapped(&line, "", "") + "\n")
    .concat()
}
