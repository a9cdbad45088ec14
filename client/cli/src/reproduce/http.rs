//! Scenarios over real HTTP: one run after the other, each with a server of its own.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use vocabulary::TimeScale;

use super::Reproduction;
use crate::args::ReproduceArgs;
use crate::exit::{Exit, Fatal};
use crate::interrupt::Interrupt;
use crate::settings::Settings;
use crate::simulated::Progress;
use crate::target::Server;
use crate::{one_run, summary};

/// Runs what every scenario offers over HTTP.
pub(super) fn run_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let files = loadgen_http::raise_open_files();
    // All first, so that progress knows how many there are.
    let mut tasks = Vec::new();
    for (number, Reproduction { scenario, cells, .. }) in reproductions.iter().enumerate() {
        let Some(http) = &scenario.http else {
            if args.names.is_empty() && args.scenario.is_none() {
                continue;
            }
            let words = format!("scenario `{}` cannot be run over HTTP; leave out `--http`", scenario.name);
            return Err(Fatal::error(Exit::Usage, words));
        };
        let scale = TimeScale::parse(&http.time_scale.to_string()).map_err(|error| anyhow!("{error}"))?;
        let repeats = args.repeats.unwrap_or(http.repeats);
        for (cell, _) in
            cells.iter().enumerate().filter(|(_, cell)| http.experiments.contains(&cell.experiment))
        {
            tasks.extend((0..repeats).map(|repeat| (number, cell, repeat, args.time_scale.unwrap_or(scale))));
        }
    }
    let started = Instant::now();
    let mut progress = Progress::new(!args.output.quiet);
    for (done, (number, cell, repeat, scale)) in tasks.iter().enumerate() {
        if interrupt.exit().is_some() {
            return Ok(());
        }
        let Reproduction { scenario, cells, data } = &mut reproductions[*number];
        let held = &cells[*cell];
        let seed = scenario.seed.wrapping_add(u64::from(*repeat));
        let settings = Settings { time_scale: *scale, ..held.settings.clone() };
        let config = mockserver::core::Config { seed, ..held.server.clone() };
        let server = Server::start(config, &settings, &runtime)?;
        let most = crate::experiment::connections_within(files, &server);
        let underway = one_run::start(&settings, &server, seed, most)?;
        interrupt.watch(Some(underway.control.clone()));
        while underway.over.recv_timeout(Duration::from_millis(200)).is_err() && !underway.is_over() {
            progress.line(|| {
                format!(
                    "{}: {} · {}",
                    scenario.name,
                    held.label,
                    summary::progress(done, tasks.len(), started.elapsed())
                )
            });
        }
        interrupt.watch(None);
        let (over, bins) = underway.finish_with_bins(&settings, &server, &runtime, interrupt)?;
        over.sound(seed)?;
        data.push(*cell, crate::scenario::figures_of(scenario, &over.result, bins.as_ref())?);
    }
    Ok(())
}
