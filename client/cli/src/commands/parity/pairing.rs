//! Experiments that `loadgen parity` runs twice: in virtual time and over HTTP.

use std::time::Duration;

use anyhow::anyhow;
use experiments::Experiment;
use loadgen_core::{ArrivalProcess, RunConfig, Workload};
use mockserver::core::Config;
use vocabulary::{Distribution, Purpose, TimeScale, draws, unit};

use crate::exit::{Exit, Fatal};
use crate::scenario::{Source, load};

pub(super) struct Pairing {
    pub(super) name: String,
    pub(super) experiment: Experiment,
    pub(super) server: Config,
}

/// Strategies of the fixed experiments: three that ignore latencies, and two that use them. They run with the default workload and server.
const AT_SEED_SCALE: [&str; 5] =
    ["aimd", "fixed-window:window=45", "exponential:jitter=0.5,base=50ms,cap=30s", "bbr", "preset:vector"];

/// Returns five experiments with the default workload and server, and one with random settings. Nothing in this program was tuned for the
/// random settings.
pub(super) fn at_seed_scale(draw: u64, scale: TimeScale) -> anyhow::Result<Vec<Pairing>> {
    let mut pairings = Vec::new();
    for strategy in AT_SEED_SCALE {
        let experiment =
            Experiment { time_scale: scale, ..Experiment::of_run(strategy.parse()?, RunConfig::default()) };
        pairings.push(Pairing { name: strategy.to_owned(), experiment, server: Config::default() });
    }
    pairings.push(random(draw, scale)?);
    Ok(pairings)
}

fn random(draw: u64, scale: TimeScale) -> anyhow::Result<Pairing> {
    let mut rng = draws(draw, Purpose::Arrivals, 0, 0);
    let mut between = |low: f64, high: f64| (low + (high - low) * unit(&mut rng)).round();
    let millis = |value: f64| Duration::from_secs_f64(value / 1e3);
    let cap = between(8.0, 60.0);
    let service_ms = between(150.0, 600.0);
    let rate_per_s = between(100.0, 1200.0);
    // Number of ops that the server completes in about ten seconds, whatever its concurrency cap and its service time are.
    let ops = (cap * 10_000.0 / service_ms).round();
    let strategies = [
        "aimd".to_owned(),
        "aimd:beta=0.5+full-jitter:base=20ms,cap=2s".to_owned(),
        format!("fixed-window:window={}", (cap * 1.2).round()),
        "full-jitter:base=100ms,cap=5s".to_owned(),
        "decorrelated-jitter:base=100ms,cap=5s".to_owned(),
        "equal-jitter:base=100ms,cap=5s".to_owned(),
    ];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
    let strategy = strategies[between(-0.49, 5.49).abs() as usize].clone();
    let service = millis(service_ms);
    let service_time = if between(0.0, 1.0) > 0.5 {
        Distribution::Constant(service)
    } else {
        Distribution::LogNormal { mean: service, sigma: 0.3 }
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
    let server = Config {
        max_busy: cap as u32,
        service_time,
        reject_time: Distribution::Constant(millis(between(20.0, 80.0))),
        network_delay: Distribution::Constant(millis(between(20.0, 150.0))),
        ..Config::default()
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand at most")]
    let workload =
        Workload { arrivals: ArrivalProcess::Poisson { rate_per_s }, ops: Some(ops as u64), duration: None };
    let run = RunConfig { workload, ..RunConfig::default() };
    let experiment = Experiment { time_scale: scale, ..Experiment::of_run(strategy.parse()?, run) };
    Ok(Pairing { name: format!("{strategy} (drawn at random: --draw {draw})"), experiment, server })
}

pub(super) fn of_scenario(name: &str, scale: Option<TimeScale>) -> anyhow::Result<Vec<Pairing>> {
    let (scenario, cells) = load(Source::Name(name), &[])?;
    let Some(http) = &scenario.http else {
        let words = format!("scenario `{name}` cannot be run over HTTP: there is nothing to compare");
        return Err(Fatal::error(Exit::Usage, words));
    };
    let own = TimeScale::parse(&http.time_scale.to_string()).map_err(|error| anyhow!("{error}"))?;
    let wanted = cells.into_iter().filter(|cell| http.experiments.contains(&cell.experiment));
    Ok(wanted
        .map(|cell| Pairing {
            name: format!("{name} · {}", cell.label),
            experiment: Experiment { time_scale: scale.unwrap_or(own), ..cell.settings },
            server: cell.server,
        })
        .collect())
}
