//! Comparison of runs over HTTP with simulated ones, figure by figure. The allowed difference covers the spread over seeds and the
//! imprecision of timers.

use results::{Figure, ParityFigure, RunResult};
use statistics::{Level, Method, Summary, percentile};
use vocabulary::TimeScale;

use super::course;

/// Allowed difference between a real run and the mean of simulated runs that is due to timers and threads, as a share of this mean.
const TOLERANCE: f64 = 0.04;
/// Allowed difference between a real run and the mean of simulated runs, in standard deviations of the simulated runs. The simulated runs
/// differ only in their seeds.
const DEVIATIONS: f64 = 4.0;
/// Minimum tolerance for the timers and threads of a real run, applied to latencies, in milliseconds of real time. Timers have no finer
/// resolution.
const TIMER_MS: f64 = 2.0;

/// Figures to compare. Each entry has a name, the path in the result, and true if the figure is a latency. Latencies have a minimum
/// tolerance, because timers do not measure them exactly.
const COMPARED: &[(&str, &str, bool)] = &[
    ("ops succeeded", "ops.succeeded", false),
    ("attempts", "attempts.total", false),
    ("makespan s", "makespan_s", false),
    ("op p50 ms", "op_latency_ms.p50", true),
    ("op p95 ms", "op_latency_ms.p95", true),
    ("op p99 ms", "op_latency_ms.p99", true),
    ("attempt p50 ms", "attempt_latency_ms.p50", true),
];

pub struct Agreement {
    pub figure: &'static str,
    pub simulated: Summary,
    pub real: f64,
    /// Largest allowed difference between the real value and the simulated mean.
    pub band: f64,
}

impl Agreement {
    pub fn holds(&self) -> bool {
        (self.real - self.simulated.mean).abs() <= self.band
    }

    pub fn record(&self) -> ParityFigure {
        ParityFigure {
            figure: self.figure.to_owned(),
            simulated: (&self.simulated).into(),
            http: self.real,
            band: self.band,
            agrees: self.holds(),
        }
    }
}

pub fn agreements(time_scale: TimeScale, simulated: &[RunResult], reals: &[&RunResult]) -> Vec<Agreement> {
    let mut agreements = Vec::new();
    let mut push = |figure: &'static str, of: &dyn Fn(&RunResult) -> Option<f64>, least: f64| {
        let values: Vec<f64> = simulated.iter().filter_map(of).collect();
        let real = median(reals.iter().map(|run| of(run)));
        if let (Some(real), Some(simulated)) = (real, Summary::new(&values, Level::P95, Method::StudentT)) {
            let spread = DEVIATIONS * simulated.deviation.unwrap_or(0.0);
            let band = spread + (TOLERANCE * simulated.mean.abs()).max(least);
            agreements.push(Agreement { figure, simulated, real, band });
        }
    };
    for (name, path, latency) in COMPARED {
        let least = if *latency { TIMER_MS / time_scale.factor() } else { 0.0 };
        push(name, &|run| Figure::find(path)?.of(run), least);
    }
    // Mean of the client's window (its limit on attempts in flight) at the end of every second. The mean is computed here, because the
    // `window.mean` of a result weights each window by its duration.
    push("mean window", &|run| course::mean_window(&run.series), 0.0);
    // Curve of the client's window (its limit on attempts in flight) over time. The distance of the real curve from the mean of the
    // simulated curves is compared with the distance of each simulated curve from this mean.
    let courses: Vec<_> = simulated.iter().map(|run| course::windows(&run.series)).collect();
    if let Some(mean) = course::mean(&courses) {
        let off = |windows: &course::Windows| course::distance(windows, &mean);
        let values: Vec<f64> = courses.iter().filter_map(off).collect();
        let real = median(reals.iter().map(|run| off(&course::windows(&run.series))));
        if let (Some(real), Some(simulated)) = (real, Summary::new(&values, Level::P95, Method::StudentT)) {
            let band = DEVIATIONS * simulated.deviation.unwrap_or(0.0) + 2.0 * TOLERANCE;
            agreements.push(Agreement { figure: "window off its course", simulated, real, band });
        }
    }
    agreements
}

fn median(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut values = values.collect::<Option<Vec<f64>>>()?;
    values.sort_by(f64::total_cmp);
    percentile(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadgen_core::{ArrivalProcess, RunConfig, Workload};
    use mockserver::core::Config;
    use vocabulary::Distribution;

    use super::*;
    use crate::experiment::Experiment;
    use crate::runs::blocks::{BlockRun, Blocks};
    use crate::runs::driver::Nobody;
    use crate::runs::stop::Never;
    use crate::runs::virtual_time::VirtualTime;
    use crate::servers::server_under_test::ServerUnderTest;

    fn simulated(max_busy: u32, repeats: u32) -> Vec<RunResult> {
        let arrivals = ArrivalProcess::Poisson { rate_per_s: 100.0 };
        let workload = Workload { arrivals, ops: Some(100), duration: None };
        let run = RunConfig { workload, ..RunConfig::default() };
        let experiment = Experiment { repeats, ..Experiment::of_run("aimd".parse().unwrap(), run) };
        let server = Config {
            max_busy,
            service_time: Distribution::Constant(Duration::from_millis(200)),
            network_delay: Distribution::Constant(Duration::from_millis(50)),
            ..Config::default()
        };
        let server_under_test = ServerUnderTest::Own(Box::new(server));
        let blocks = Blocks { strategies: &[experiment], server_under_test: &server_under_test };
        let mut runs = Vec::new();
        let mut take = |run: BlockRun| runs.push(run.finished.result);
        blocks.run(&VirtualTime { threads: 1 }, &Never, &Nobody, &[], &mut take).unwrap();
        runs
    }

    fn apart(simulated: &[RunResult], reals: &[&RunResult]) -> Vec<&'static str> {
        let agreements = agreements(TimeScale::default(), simulated, reals);
        agreements.iter().filter(|agreement| !agreement.holds()).map(|agreement| agreement.figure).collect()
    }

    #[test]
    fn a_run_agrees_with_simulations_of_its_server_only() {
        let alike = simulated(10, 20);
        assert_eq!(apart(&alike, &[&alike[7]]), Vec::<&str>::new());
        let other = simulated(5, 1);
        let found = apart(&alike, &[&other[0]]);
        assert!(found.contains(&"makespan s") && found.contains(&"op p95 ms"), "{found:?}");
    }

    #[test]
    fn the_median_of_real_runs_counts_so_one_stall_is_ignored() {
        let (alike, stalled) = (simulated(10, 20), simulated(5, 1));
        assert_eq!(apart(&alike, &[&stalled[0], &alike[3], &alike[7]]), Vec::<&str>::new());
        assert!(!apart(&alike, &[&stalled[0], &stalled[0], &alike[7]]).is_empty());
    }
}
