//! Scenarios over real HTTP: one run after the other, each with a server of its own.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use experiments::scenario::{Cell, figures_of};
use loadgen_core::Run;
use loadgen_sim::Steer;
use vocabulary::TimeScale;

use super::Reproduction;
use super::args::ReproduceArgs;
use super::plots::Takers;
use super::remaining::Remaining;
use crate::exit::{Exit, Fatal};
use crate::interrupt::Interrupt;
use crate::one_run::Underway;
use crate::own_server::OwnServer;
use crate::settings::Settings;
use crate::simulated;
use crate::text::progress::Live;

/// Runs what every scenario offers over HTTP.
pub(super) fn run_all(
    reproductions: &mut [Reproduction],
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let own = OwnServer::new()?;
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
    let mut remaining = Remaining::of(tasks.iter().map(|(number, cell, ..)| (*number, *cell)));
    for (number, cell, repeat, scale) in tasks.iter().filter(|(_, _, repeat, _)| *repeat == 0) {
        let Reproduction { scenario, cells, .. } = &reproductions[*number];
        let seed = scenario.seed.wrapping_add(u64::from(*repeat));
        remaining.think((*number, *cell), thought(&cells[*cell], seed, *scale, interrupt)?);
    }
    let mut live = Live::new(!args.output.quiet);
    for (number, cell, repeat, scale) in &tasks {
        if interrupt.exit().is_some() {
            return Ok(());
        }
        let Reproduction { scenario, cells, data, kept } = &mut reproductions[*number];
        let held = &cells[*cell];
        // Over HTTP no run can be repeated: the first one is drawn.
        let takers = Takers::of(scenario, cells, *cell).filter(|_| *repeat == 0);
        let samples = takers.as_ref().map(|takers| takers.recording.sink());
        let seed = scenario.seed.wrapping_add(u64::from(*repeat));
        let settings = Settings { time_scale: *scale, ..held.settings.clone() };
        let started = Instant::now();
        let waiting = |_: &Underway| {
            live.line(|| {
                let so_far = remaining.words(1, started.elapsed());
                format!("{so_far}   {}: {}", scenario.name, held.label)
            });
        };
        let (over, bins) = own.run(&settings, &held.server, seed, samples, interrupt, waiting)?;
        if let Some(takers) = takers {
            takers.finish(*cell, &held.label, &over.result, kept)?;
        }
        remaining.over((*number, *cell), started.elapsed());
        data.push(*cell, figures_of(scenario, &over.result, bins.as_ref()));
    }
    Ok(())
}

/// What a run of a cell will take over HTTP: as long as in virtual time, and a moment to begin and to end.
fn thought(cell: &Cell, seed: u64, scale: TimeScale, interrupt: &Interrupt) -> anyhow::Result<Duration> {
    const AROUND: Duration = Duration::from_millis(300);
    let steer = |_: &Run, _| if interrupt.exit().is_some() { Steer::Stop } else { Steer::On };
    let finished = simulated::simulate(&cell.settings, &cell.server, seed, steer)?;
    let over = simulated::result(&cell.settings, &cell.server, seed, &finished, interrupt);
    let experiment =
        Duration::try_from_secs_f64(over.result.makespan_s.unwrap_or_default()).unwrap_or_default();
    Ok(scale.to_real(experiment) + AROUND)
}
