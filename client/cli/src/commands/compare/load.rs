//! Notes on the load of a comparison: how hard it pushes the server, and which load to try if it decides nothing.

use std::fmt::Write as _;

use experiments::judge::comparison::Comparison;
use experiments::runs::blocks::Blocks;
use experiments::workload::WorkloadSpec;
use experiments::{Experiment, Load};
use mockserver::core::Config;
use results::{Mode, Score, Standing};

use crate::text::figures::{counted, thousands};
use crate::text::wrapping::wrapped;

/// Makespans and attempts that differ by less are equal.
const EQUAL: f64 = 1.02;

/// The load of docs/clients.md: 20 % more than the default server can do for one minute of three.
const OVERLOAD: &str = "--rate 72/s --duration 3m --caps 60s=30,120s=50";

/// The load that all strategies of a comparison meet.
pub(super) fn load(blocks: Blocks<'_>, simulated: bool) -> Option<Load> {
    let mode = if simulated { Mode::Simulated } else { Mode::Http };
    Load::new(blocks.strategies.first()?, blocks.opponent.model(), mode)
}

/// The load as a line below the table; empty where no capacity is known.
pub(super) fn line(load: Option<&Load>) -> String {
    load.map_or_else(String::new, |load| format!("\n{}\n", wrapped(&format!("{}.", load.sentence()), "", "")))
}

/// Note for a comparison in which no attempt was rejected and none failed.
pub(super) enum Unthrottled {
    /// The strategies are equal: this text replaces their differences.
    NothingToCompare(String),
    /// The strategies differ by their own limits: this text follows their differences.
    OwnLimits(String),
}

/// Whether the server ever threw an attempt back, and what that means for the comparison.
pub(super) fn unthrottled(comparison: &Comparison, load: Option<&Load>) -> Option<Unthrottled> {
    let standings = &comparison.standings;
    let most = |standing: &Standing, path| standing.figure(path).map(|figure| figure.max);
    let is_spared = |standing: &Standing| {
        ["attempts.rejected", "attempts.failed"].iter().all(|path| most(standing, path) == Some(0.0))
    };
    if !standings.iter().all(is_spared) {
        return None;
    }
    let sum = |standing: &Standing| standing.figure("attempts.total").map(|all| all.mean * all.count as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let attempts = counted(standings.iter().filter_map(sum).sum::<f64>().round() as u64, "attempt");
    if !are_equal(standings, comparison.by) {
        let words =
            format!("Not one of {attempts} was rejected: the differences come from the clients' own limits.");
        return Some(Unthrottled::OwnLimits(format!("{}\n", wrapped(&words, "", ""))));
    }
    let mut text = format!("Nothing to compare: not one of {attempts} was rejected.\n");
    for words in load.map(Load::within_limit).unwrap_or_default() {
        let _ = writeln!(text, "{}", wrapped(&words, "", ""));
    }
    Some(Unthrottled::NothingToCompare(text))
}

/// Whether no strategy differs from another by more than 2 % in what is ranked, in makespan or in attempts.
fn are_equal(standings: &[Standing], by: Score) -> bool {
    let scores = [by, Score::makespan(), Score::attempts()];
    scores.iter().all(|score| {
        let values: Vec<f64> = standings.iter().map(|standing| standing.score(*score)).collect();
        let (least, most) = values
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(*value), most.max(*value)));
        most.is_finite() && most <= EQUAL * least
    })
}

/// Where every strategy gave up by itself under the default load: that the load suits clients that wait, and a command with one that
/// suits these. Empty otherwise.
pub(super) fn all_gave_up(comparison: &Comparison, blocks: Blocks<'_>, simulated: bool) -> String {
    let gave_up =
        |standing: &Standing| standing.figure("ops.given_up").is_some_and(|given_up| given_up.min > 0.0);
    let (Some(first), Some(server)) = (blocks.strategies.first(), blocks.opponent.model()) else {
        return String::new();
    };
    if !is_default_load(first) || !comparison.standings.iter().all(gave_up) {
        return String::new();
    }
    let pushes = load(blocks, simulated).map(|load| format!(", and {}", load.sentence())).unwrap_or_default();
    let ops = thousands(first.run.workload.ops.unwrap_or_default());
    let words = format!(
        "every strategy gave up by itself: this load suits clients that wait ({ops} ops arrive within seconds{pushes})"
    );
    let mut text = format!("\n{}\n", wrapped(&words, "note: ", "      "));
    if is_default_server(server) {
        let command = command(blocks, simulated);
        let _ = writeln!(text, "      The load of docs/clients.md suits those that give up:\n\n{command}");
    } else if let Some(load) = load(blocks, simulated) {
        let _ = writeln!(text, "      For those that give up try {}.", load.beyond_limit());
    }
    text
}

/// True if neither the number nor the rate of ops was set.
fn is_default_load(experiment: &Experiment) -> bool {
    let WorkloadSpec { ops, ops_per_client, duration, .. } = &experiment.workload;
    !experiment.workload.is_paced() && ops.is_none() && ops_per_client.is_none() && duration.is_none()
}

fn is_default_server(server: &Config) -> bool {
    Config { seed: Config::default().seed, ..server.clone() } == Config::default()
}

/// The same comparison with the load of docs/clients.md, for a shell.
fn command(blocks: Blocks<'_>, simulated: bool) -> String {
    let how = if simulated { "compare --simulate" } else { "compare" };
    let strategies = blocks.strategies.iter().map(|experiment| {
        let name = experiment.strategy.to_string();
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_:=.,+%/".contains(c);
        let name = if name.chars().all(is_word) { name } else { format!("'{name}'") };
        format!("  --strategies {name} \\\n")
    });
    let repeats = match blocks.count() {
        1 => String::new(),
        count => format!(" --repeats {count}"),
    };
    format!("loadgen {how} \\\n{}  {OVERLOAD}{repeats}", strategies.collect::<String>())
}
