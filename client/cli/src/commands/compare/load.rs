//! Notes on the load of a comparison: how hard it pushes the server, and which load to try if it decides nothing.

use experiments::judge::comparison::Comparison;
use experiments::runs::blocks::Blocks;
use experiments::workload::WorkloadSpec;
use experiments::{Experiment, Load};
use mockserver::core::Config;
use results::{Mode, Score, Standing};

use crate::text::figures::counted;

/// Makespans and attempts that differ by less are equal.
const EQUAL: f64 = 1.02;

/// The load of docs/clients.md: 20 % more than the default server can do for one minute of three.
const OVERLOAD: &str = "--rate 72/s --duration 3m --caps 60s=30,120s=50";

/// Returns the load of all strategies; `None` if the server's capacity is not known.
pub(super) fn load(blocks: Blocks<'_>, mode: Mode) -> Option<Load> {
    Load::new(blocks.strategies.first()?, blocks.opponent.model(), mode)
}

/// Note for a comparison in which no attempt was rejected and none failed.
pub(super) enum Unthrottled {
    /// The strategies are equal: this text replaces their differences.
    NothingToCompare(Vec<String>),
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
        return Some(Unthrottled::OwnLimits(words));
    }
    let mut paragraphs = vec![format!("Nothing to compare: not one of {attempts} was rejected.")];
    paragraphs.extend(load.map(Load::within_limit).unwrap_or_default());
    Some(Unthrottled::NothingToCompare(paragraphs))
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

/// Returns a warning with a load to try, if every strategy gave up ops under the default load. That load suits clients that wait.
pub(super) fn all_gave_up(comparison: &Comparison, blocks: Blocks<'_>, mode: Mode) -> Option<String> {
    let gave_up =
        |standing: &Standing| standing.figure("ops.given_up").is_some_and(|given_up| given_up.min > 0.0);
    let (first, server) = (blocks.strategies.first()?, blocks.opponent.model()?);
    if !is_default_load(first) || !comparison.standings.iter().all(gave_up) {
        return None;
    }
    let flags =
        if is_default_server(server) { OVERLOAD.to_owned() } else { load(blocks, mode)?.beyond_limit() };
    Some(format!("every strategy gave up ops: this load suits clients that wait; try {flags}"))
}

/// True if neither the number nor the rate of ops was set.
fn is_default_load(experiment: &Experiment) -> bool {
    let WorkloadSpec { ops, ops_per_client, duration, .. } = &experiment.workload;
    !experiment.workload.is_paced() && ops.is_none() && ops_per_client.is_none() && duration.is_none()
}

fn is_default_server(server: &Config) -> bool {
    Config { seed: Config::default().seed, ..server.clone() } == Config::default()
}
