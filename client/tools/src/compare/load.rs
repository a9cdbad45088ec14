//! Notes on the load of a comparison: its ratio to the server's capacity, and a suggested load if the current load shows no difference
//! between strategies.

use experiments::evaluation::comparison::Comparison;
use experiments::runs::blocks::Blocks;
use experiments::workload::WorkloadSpec;
use experiments::{Experiment, Load};
use mockserver::core::Config;
use results::{Mode, RankedStrategy, Unthrottled};

/// Flags of the overload in `docs/clients.md`. This load lasts three minutes. During one of them, it exceeds the capacity of the default
/// server by 20 %.
const OVERLOAD: &str = "--rate 72/s --duration 3m --caps 60s=30,120s=50";

/// Returns the load of a comparison relative to the server's capacity, or `None` if the capacity is unknown.
pub(super) fn load(blocks: Blocks<'_>, mode: Mode) -> Option<Load> {
    Load::new(blocks.strategies.first()?, blocks.server_under_test.model(), mode)
}

/// Returns paragraphs to print instead of a ranking if the server rejected nothing and the strategies have equal results. Otherwise returns
/// `None`.
pub(super) fn nothing_to_compare(unthrottled: Unthrottled, load: Option<&Load>) -> Option<Vec<String>> {
    if !unthrottled.are_equal {
        return None;
    }
    let mut paragraphs = vec![unthrottled.sentence()];
    paragraphs.extend(load.map(Load::within_limit).unwrap_or_default());
    Some(paragraphs)
}

/// Returns a hint that suggests another load if every strategy gave up ops under the default load. The default load suits only clients that
/// wait instead of giving up.
pub(super) fn all_gave_up(comparison: &Comparison, blocks: Blocks<'_>, mode: Mode) -> Option<String> {
    let gave_up = |standing: &RankedStrategy| {
        standing.figure("ops.given_up").is_some_and(|given_up| given_up.min > 0.0)
    };
    let (first, server) = (blocks.strategies.first()?, blocks.server_under_test.model()?);
    if !is_default_load(first) || !comparison.standings.iter().all(gave_up) {
        return None;
    }
    let flags =
        if is_default_server(server) { OVERLOAD.to_owned() } else { load(blocks, mode)?.beyond_limit() };
    Some(format!("every strategy gave up ops, because this load needs clients that wait longer; try {flags}"))
}

fn is_default_load(experiment: &Experiment) -> bool {
    let WorkloadSpec { ops, ops_per_client, duration, .. } = &experiment.workload;
    !experiment.workload.is_paced() && ops.is_none() && ops_per_client.is_none() && duration.is_none()
}

fn is_default_server(server: &Config) -> bool {
    Config { seed: Config::default().seed, ..server.clone() } == Config::default()
}
