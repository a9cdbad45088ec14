//! `loadgen reproduce`: the seeds' experiments, claim by claim.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use experiments::scenario::{Data, EMBEDDED, Edge, Judged, Scenario, judge, over_seeds, wanted};
use results::SCHEMA_VERSION;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::files::exporter::{Layout, Source as MadeOf};
use crate::files::exports::Exports;
use crate::files::output::to_stdout;
use crate::interrupt::Interrupt;
use crate::repeats::figure_to_json;
use crate::scenario::{Source, load};
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;
use args::ReproduceArgs;

pub(crate) mod args;
mod plots;
mod recordings;
mod remaining;
mod reproduction;
mod runs;
mod table;
mod tally;
mod watching;

use recordings::Kept;
use reproduction::Reproduction;
use table::{claims_table, experiment_table};

pub(crate) fn run(args: &ReproduceArgs) -> anyhow::Result<ExitCode> {
    if args.list {
        return list(args);
    }
    let mut exports = Exports::prepare(&args.exports.asked, &Layout::default(), None)?;
    let mut reproductions = Vec::new();
    for source in sources(args) {
        let (mut scenario, mut cells) = load(source, &args.set)?;
        if let Some(repeats) = args.repeats {
            for cell in &mut cells {
                cell.settings.repeats = repeats;
            }
        }
        if let Some(seed) = args.seed {
            scenario.seed = seed;
        }
        let data = Data::new(cells.len());
        reproductions.push(Reproduction { scenario, cells, data, kept: Kept::new() });
    }
    let interrupt = Interrupt::listen()?;
    exports.begin()?;
    let started_at = args.http.then(crate::wall_clock::now);
    runs::run_all(&mut reproductions, args, &interrupt)?;
    if exports.want(MadeOf::Document) && !args.http && interrupt.exit().is_none() {
        runs::record_all(&mut reproductions, args, &interrupt)?;
    }
    if let Some(exit) = interrupt.exit() {
        return Ok(exit.into());
    }
    let mut text = String::new();
    let mut document = Vec::new();
    let mut tally = tally::Tally::default();
    for reproduction in &reproductions {
        let judged = reproduction.judged(args.http);
        tally.add(&judged);
        text.push_str(&reproduction.text(&judged));
        document.push(reproduction.json(&judged));
    }
    text.push_str(&tally.conclusion());
    let stdout_is_taken = exports.take_stdout();
    exports.finish(&json!({
        "schema_version": SCHEMA_VERSION, "started_at": started_at, "scenarios": document, "claims": tally.json(),
    }))?;
    if !args.output.quiet {
        if stdout_is_taken {
            to_stderr(&text);
        } else {
            to_stdout(text.as_bytes())?;
        }
    }
    Ok(if tally.is_as_expected() { ExitCode::SUCCESS } else { Exit::Unmet.into() })
}

fn claim_to_json(one: &Judged<'_>) -> Value {
    let values: Vec<Value> = one
        .found
        .iter()
        .map(|found| {
            json!({
                "at": found.at, "value": found.value, "runs": found.runs, "so_in": found.so_in,
                "middle": found.middle, "verdict": found.verdict.words(),
            })
        })
        .collect();
    let edge = |edge: Option<Edge>| edge.map(|edge| edge.value);
    json!({
        "says": one.claim.says, "published": one.claim.published(), "ours_alone": one.claim.ours,
        "figure": one.claim.figure, "of": one.claim.of.all().join(", "), "ours": one.ours, "values": values,
        "accept": [edge(one.condition.low), edge(one.condition.high)], "condition": one.condition.words,
        "judged_by": one.by, "means": one.claim.means, "verdict": one.verdict.words(),
        "as_expected": one.as_expected(), "note": one.claim.note,
    })
}

fn sources(args: &ReproduceArgs) -> Vec<Source<'_>> {
    let files = args.scenario.iter().map(|path| Source::File(Path::new(path)));
    let names = args.names.iter().map(|name| Source::Name(name));
    let asked: Vec<Source<'_>> = names.chain(files).collect();
    if !asked.is_empty() {
        return asked;
    }
    EMBEDDED.iter().map(|(name, _)| Source::Name(name)).collect()
}

fn list(args: &ReproduceArgs) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for source in sources(args) {
        let (scenario, cells) = load(source, &args.set)?;
        let runs: u64 = cells.iter().map(|cell| u64::from(cell.settings.repeats)).sum();
        let Scenario { name, title, source, claim, .. } = &scenario;
        let ours = claim.iter().filter(|claim| claim.ours).count();
        let claims = match ours {
            0 => format!("{} claims", claim.len()),
            ours => format!("{} claims and {ours} of ours", claim.len() - ours),
        };
        let _ = writeln!(text, "{name:<18} {title}\n{:<19}{source}; {claims}, {runs} runs", "");
    }
    to_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

impl Reproduction {
    fn judged(&self, http: bool) -> Vec<Judged<'_>> {
        let claims = self.scenario.claim.iter().filter(|claim| claim.http || !http);
        claims.filter_map(|claim| judge(&self.scenario, claim, &self.cells, &self.data)).collect()
    }

    fn text(&self, judged: &[Judged<'_>]) -> String {
        let Scenario { name, title, source, about, .. } = &self.scenario;
        let mut text = format!("\n{name} · {title}\n{source}\n\n");
        let about = wrapped(about, "  ", "  ");
        let _ = writeln!(text, "{about}");
        for (name, experiment) in &self.scenario.experiment {
            text.push_str(&experiment_table(&self.scenario, name, experiment, &self.cells, &self.data));
        }
        text.push_str(&claims_table(judged));
        text
    }

    fn json(&self, judged: &[Judged<'_>]) -> Value {
        let claims: Vec<Value> = judged.iter().map(claim_to_json).collect();
        let run = || self.cells.iter().enumerate().filter(|(index, _)| self.data.has(*index));
        let numbers = run().enumerate().map(|(number, (index, _))| (index, number)).collect();
        let plots = self.plots(judged, &numbers);
        let cells: Vec<Value> = run()
            .map(|(index, cell)| {
                let figures: serde_json::Map<String, Value> = wanted(&self.scenario)
                    .into_iter()
                    .filter_map(|figure| {
                        let seeds = over_seeds(&self.data.values(index, figure))?;
                        Some((figure.to_owned(), figure_to_json(&seeds)))
                    })
                    .collect();
                let point: serde_json::Map<String, Value> =
                    cell.point.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
                json!({
                    "experiment": cell.experiment, "label": cell.label,
                    "strategy": cell.settings.strategy.to_string(), "at": point, "figures": figures,
                })
            })
            .collect();
        let Scenario { name, title, source, about, seed, .. } = &self.scenario;
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        json!({
            "name": name, "title": title, "source": source, "about": about, "seed": seed,
            "claims": claims, "cells": cells, "plots": plots,
        })
    }
}
