//! The grid of a sweep: every strategy at every point; what is said of it before, and written after it.

use std::ffi::OsString;

use dashboards::LanesHeader;
use experiments::judge::cell::Cell;
use experiments::judge::estimate::Estimate;
use experiments::record::config_record;
use experiments::runs::point::Point;
use results::Swept;

use super::args::SweepArgs;
use super::axis::Axis;
use super::points::points;
use crate::exit::{Exit, Fatal};
use crate::files::exporter::Layout;
use crate::screen::board::Board;
use crate::screen::lanes;
use crate::several::refuse_twice;
use crate::text::figures::counted;

/// What is to be run: every strategy at every point.
pub(super) struct Grid<'a> {
    pub(super) args: &'a SweepArgs,
    pub(super) points: Vec<Point>,
    /// Strategies as typed.
    pub(super) labels: Vec<String>,
}

impl<'a> Grid<'a> {
    /// Refuses what cannot be run.
    pub(super) fn new(args: &'a SweepArgs, typed: &[OsString]) -> anyhow::Result<Self> {
        let strategies: Vec<_> = args.strategies.iter().flat_map(|list| list.0.iter().cloned()).collect();
        refuse_twice(&strategies)?;
        if args.vary.len() > 2 {
            let words = "`--vary` is given more than twice; two axes at most can be seen at once";
            return Err(Fatal::error(Exit::Usage, words));
        }
        let points = points(args, typed)?;
        Ok(Self { args, points, labels: strategies.iter().map(ToString::to_string).collect() })
    }

    /// Seeds at every point.
    pub(super) fn repeats(&self) -> usize {
        self.points.first().map_or(0, |point| point.blocks().count())
    }

    /// Who is asked.
    fn server(&self) -> String {
        let simulated = self.args.several.simulate;
        self.points.first().map(|point| point.opponent.words(simulated)).unwrap_or_default()
    }

    /// How many points there are, and of what.
    fn size(&self) -> String {
        let keys: Vec<String> = self.args.vary.iter().map(|axis| axis.key.to_string()).collect();
        format!("{} of {}", counted(self.points.len() as u64, "point"), keys.join(" and "))
    }

    pub(super) fn announcement(&self) -> String {
        let runs = self.points.len() * self.labels.len() * self.repeats();
        format!(
            "{} · strategies: {} · {} · {}\n{}\n",
            self.size(),
            self.labels.join(", "),
            counted(self.repeats() as u64, "seed"),
            counted(runs as u64, "run"),
            self.server()
        )
    }

    /// A lane for each name, with the seeds of so many points.
    pub(super) fn board(&self, names: &[String], points: usize, at_once: usize) -> Board {
        let first = self.points.first().and_then(|point| point.experiments.first());
        let seeds = counted(self.repeats() as u64, "seed");
        let header = LanesHeader {
            title: self.size(),
            workload: match self.labels.len() {
                1 => format!("one strategy, {seeds}"),
                more => format!("{more} strategies, {seeds}"),
            },
            target: self.server(),
            time_scale: first.map_or(1.0, |first| first.time_scale.factor()),
        };
        lanes::board(header, names.iter().cloned(), points * self.repeats(), at_once)
    }

    /// All but the runs, which were written before.
    pub(super) fn document(
        &self,
        cells: &[Cell],
        estimates: &[Estimate],
        started_at: Option<String>,
        layout: &Layout,
    ) -> results::Sweep {
        let axis = |axis: &Axis| results::Axis { key: axis.key.to_string(), values: axis.values.clone() };
        let cell =
            |cell: &Cell| cell.record(&self.labels[cell.strategy], layout.at(&self.points[cell.point].at));
        let by = self.args.several.by;
        let first = self.points.first();
        let config = first.map(|point| {
            let record = point.opponent.record(self.args.several.simulate);
            config_record(&point.experiments[0], &record, point.experiments[0].run.seed)
        });
        let sweep = Swept {
            started_at,
            axes: self.args.vary.iter().map(axis).collect(),
            by: by.path().to_owned(),
            by_name: by.name().to_owned(),
            config,
            intervals: first.map(|point| point.opponent.intervals().to_owned()),
            cells: cells.iter().map(cell).collect(),
            best: estimates.iter().map(Estimate::record).collect(),
        };
        results::Sweep { runs: Vec::new(), sweep }
    }
}
