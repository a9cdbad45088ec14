//! Figures of the runs of one strategy, with one value per run, and sums of counts for the ranking. Of the runs themselves, only the first
//! one is kept, without its time series and latency curve.

use statistics::{Level, Method, Summary};

use crate::{FIGURES, Figure, RunResult, Score};

#[derive(Clone, Debug)]
pub struct RunFigures {
    first: Option<Box<RunResult>>,
    columns: Vec<(&'static Figure, Values)>,
    over_bound: Values,
    pub counts: Counts,
}

/// Totals over the runs.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub runs: usize,
    pub(crate) given_up: u64,
    pub(crate) unfinished: u64,
    /// Sum over runs of the share of ops that succeeded, however late.
    at_all: f64,
    pub is_lower_bound: bool,
    /// True if the share of at least one run is relative to the ops that arrived, because the number of offered ops is unknown.
    pub of_arrived: bool,
    pub stalled: usize,
    /// Number of runs that were interrupted before all of their ops had ended.
    pub(crate) interrupted: usize,
    /// Number of a strategy's runs in which not every op succeeded.
    pub short: usize,
    /// Sum over runs of the share of ops done in time. A run without this figure counts with its share of ops that succeeded at all.
    in_time: f64,
    /// True if at least one run of the strategy has the flag `--within`.
    pub(crate) within: bool,
    /// Time limit of the first run that has one, as given on the command line.
    pub(crate) limit: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Values {
    known: Vec<f64>,
    missing: Vec<u32>,
}

impl Values {
    fn push(&mut self, run: usize, value: Option<f64>) {
        match value {
            Some(value) => self.known.push(value),
            None => self.missing.push(u32::try_from(run).unwrap_or(u32::MAX)),
        }
    }

    fn of_all(&self) -> &[f64] {
        if self.missing.is_empty() { &self.known } else { &[] }
    }

    fn of_each(&self, runs: usize) -> Vec<Option<f64>> {
        let (mut known, mut missing) = (self.known.iter(), self.missing.iter().peekable());
        (0..runs)
            .map(|run| match missing.next_if(|missing| **missing as usize == run) {
                Some(_) => None,
                None => known.next().copied(),
            })
            .collect()
    }
}

impl RunFigures {
    pub fn keeping(figures: impl IntoIterator<Item = &'static Figure>) -> Self {
        let mut columns: Vec<(&'static Figure, Values)> = Vec::new();
        for figure in figures {
            if columns.iter().all(|(there, _)| there.path != figure.path) {
                columns.push((figure, Values::default()));
            }
        }
        let (over_bound, counts) = (Values::default(), Counts::default());
        Self { first: None, columns, over_bound, counts }
    }

    pub fn ranked(by: Score) -> impl Iterator<Item = &'static Figure> {
        let scores = Score::ranking(by).into_iter().filter_map(|score| Figure::find(score.path()));
        Self::summed().chain(scores)
    }

    pub fn summed() -> impl Iterator<Item = &'static Figure> {
        FIGURES.iter().filter(|figure| figure.summed)
    }

    pub fn new<'a>(
        figures: impl IntoIterator<Item = &'static Figure>,
        runs: impl IntoIterator<Item = &'a RunResult>,
    ) -> Self {
        let mut kept = Self::keeping(figures);
        runs.into_iter().for_each(|run| kept.push(run));
        kept
    }

    /// Reserves space for the values of this many runs. Without reserved space, a growing list would copy its values and briefly need twice
    /// the memory.
    pub fn reserve(&mut self, runs: usize) {
        self.columns.iter_mut().for_each(|(_, values)| values.known.reserve_exact(runs));
    }

    pub fn push(&mut self, run: &RunResult) {
        let number = self.counts.runs;
        for (figure, values) in &mut self.columns {
            values.push(number, figure.of(run));
        }
        let bound = run.optimal_makespan_s.filter(|bound| *bound > 0.0);
        let makespan = run.makespan_s.filter(|_| run.makespan_complete);
        self.over_bound.push(number, bound.zip(makespan).map(|(bound, makespan)| makespan / bound));
        self.counts.add(run);
        if self.first.is_none() {
            let (series, op_latency_curve) = (Vec::new(), Vec::new());
            self.first = Some(Box::new(RunResult { op_latency_curve, series, ..run.clone() }));
        }
    }

    pub fn runs(&self) -> usize {
        self.counts.runs
    }

    /// Returns the first run, without its time series and latency curve.
    pub fn first(&self) -> Option<&RunResult> {
        self.first.as_deref()
    }

    pub fn known(&self, path: &str) -> &[f64] {
        self.values(path).map_or(&[], |values| &values.known)
    }

    /// Returns the values of a kept figure for all runs. The result is empty if a run lacks the figure.
    pub fn of_all(&self, path: &str) -> &[f64] {
        self.values(path).map_or(&[], Values::of_all)
    }

    pub fn of_each(&self, path: &str) -> Vec<Option<f64>> {
        self.values(path).map_or_else(Vec::new, |values| values.of_each(self.runs()))
    }

    /// Returns each run's ratio of the makespan to its lower bound. The result is empty if a run lacks one of the two values or left ops
    /// undone.
    pub(crate) fn over_bound(&self) -> &[f64] {
        self.over_bound.of_all()
    }

    pub fn summaries(&self) -> Vec<(&'static str, Summary)> {
        // The seed of the bootstrap is the first run's seed. An experiment that is repeated with other seeds therefore also draws other
        // resamples.
        let seed = self.first.as_ref().map_or(0, |run| run.seed);
        let summed = self.columns.iter().filter(|(figure, _)| figure.summed);
        let figures: Vec<(&'static str, &[f64])> =
            summed.map(|(figure, values)| (figure.path, values.known.as_slice())).collect();
        let values: Vec<&[f64]> = figures.iter().map(|(_, values)| *values).collect();
        let summaries = Summary::of_each(&values, Level::P95, Method::BySize { seed });
        figures.iter().zip(summaries).filter_map(|((path, _), summary)| Some((*path, summary?))).collect()
    }

    fn values(&self, path: &str) -> Option<&Values> {
        self.columns.iter().find(|(figure, _)| figure.path == path).map(|(_, values)| values)
    }
}

impl Counts {
    fn add(&mut self, run: &RunResult) {
        let (ops, config) = (run.ops, &run.config);
        self.runs += 1;
        let at_all = ops.share(ops.succeeded).unwrap_or_default();
        self.at_all += at_all;
        self.is_lower_bound |= run.share_is_lower_bound;
        self.of_arrived |= ops.offered.is_none();
        self.given_up += ops.given_up;
        self.unfinished += ops.unfinished;
        self.stalled += usize::from(run.stalled_at_s.is_some());
        let was_cut_off = run.stalled_at_s.is_none() && run.interrupted.is_some() && run.share_is_lower_bound;
        self.interrupted += usize::from(was_cut_off);
        self.short += usize::from(!run.makespan_complete);
        self.in_time += run.done_share.unwrap_or(at_all);
        self.within |= config.within.is_some();
        if self.limit.is_none() {
            self.limit = config.within.as_ref().or(config.deadline.as_ref()).cloned();
        }
    }

    pub fn at_all(&self) -> f64 {
        self.at_all / self.runs.max(1) as f64
    }

    pub(crate) fn in_time(&self) -> f64 {
        self.in_time / self.runs.max(1) as f64
    }

    pub(crate) fn cut_off(&self) -> usize {
        self.stalled + self.interrupted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;

    #[test]
    fn of_every_run_a_figure_is_kept_or_known_to_be_missing() {
        let mut stalled = run("aimd", 8, 5, 40, 3.0);
        stalled.stalled_at_s = Some(3.0);
        let runs = [run("aimd", 7, 10, 12, 2.0), stalled, run("aimd", 9, 10, 14, 4.0)];
        let wanted = ["stalled_at_s", "attempts.total", "stalled_at_s"];
        let kept = RunFigures::new(wanted.iter().filter_map(|path| Figure::find(path)), &runs);
        assert_eq!((kept.runs(), kept.first().unwrap().seed), (3, 7));
        assert_eq!(kept.of_each("stalled_at_s"), [None, Some(3.0), None]);
        assert_eq!((kept.known("stalled_at_s"), kept.of_all("stalled_at_s")), (&[3.0][..], &[][..]));
        assert_eq!(kept.of_all("attempts.total"), [12.0, 40.0, 14.0]);
        assert!(kept.known("makespan_s").is_empty(), "nobody asked for it");
        assert_eq!((kept.counts.stalled, kept.counts.short), (1, 1));
        assert!((kept.counts.at_all() - 25.0 / 30.0).abs() < 1e-12, "{}", kept.counts.at_all());
        let summaries = kept.summaries();
        assert_eq!(summaries.iter().map(|(path, _)| *path).collect::<Vec<_>>(), ["attempts.total"]);
    }
}
