//! Grid of a sweep (every strategy at every point), with its announcement and its result document.

use std::ffi::OsString;

use dashboards::LanesHeader;
use experiments::evaluation::best_point::Cell;
use experiments::evaluation::estimate::Estimate;
use experiments::record::config_record;
use experiments::runs::point::Point;
use results::{At, Swept};
use shell::runner::multi_strategy::refuse_twice;
use shell::screen::lanes;
use shell::text::counted;
use shell::{Board, usage};
use tailback::StrategySpec;

use crate::sweep::args::SweepArgs;
use crate::sweep::points::{named, points, situation};

pub(super) struct Grid<'a> {
    pub(super) args: &'a SweepArgs,
    pub(super) points: Vec<Point>,
    /// Strategies as given on the command line.
    pub(super) labels: Vec<String>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(args: &'a SweepArgs, typed: &[OsString]) -> anyhow::Result<Self> {
        let strategies = named(args)?;
        refuse_twice(&strategies)?;
        if args.vary.len() > 2 {
            return Err(usage("`--vary` may be given at most twice, because a table has two axes"));
        }
        let points = points(args, &strategies, typed)?;
        let of_points = points.iter().take(1).flat_map(|point| &point.experiments);
        let labels = match strategies.as_slice() {
            [] => of_points.map(|experiment| experiment.strategy.to_string()).collect(),
            named => named.iter().map(ToString::to_string).collect(),
        };
        Ok(Self { args, points, labels })
    }

    /// Rebuilds the grid of merged sweeps from the experiments and the server of each point.
    pub(super) fn of_points(args: &'a SweepArgs, labels: Vec<String>, mut points: Vec<Point>) -> Self {
        for point in &mut points {
            point.situation = situation(&args.vary, &point.at);
        }
        Self { args, points, labels }
    }

    pub(super) fn strategies(&self) -> impl Iterator<Item = &StrategySpec> {
        self.points.iter().flat_map(|point| &point.experiments).map(|experiment| &experiment.strategy)
    }

    /// Returns the number of seeds with which every strategy runs at a point of the sweep. It is the same at every point.
    pub(super) fn repeats(&self) -> usize {
        self.points.first().map_or(0, |point| point.blocks().count())
    }

    fn server(&self) -> String {
        let simulated = self.args.several.simulate;
        self.points.first().map(|point| point.server_under_test.words(simulated)).unwrap_or_default()
    }

    fn size(&self) -> String {
        let keys: Vec<&str> = self.args.vary.iter().map(|axis| axis.key.as_str()).collect();
        format!("{} of {}", counted(self.points.len() as u64, "point"), keys.join(" and "))
    }

    pub(super) fn announcement(&self) -> String {
        let runs = self.points.len() * self.labels.len() * self.repeats();
        format!(
            "{}{} · strategies: {} · {} · {}\n{}\n",
            self.size(),
            self.points.first().map_or_else(String::new, |point| point.server_under_test.unasked_words()),
            self.labels.join(", "),
            counted(self.repeats() as u64, "seed"),
            counted(runs as u64, "run"),
            self.server()
        )
    }

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
        let runs = shell::shards::own(self.args.several.shard.shard, points * self.repeats());
        lanes::board(header, names.iter().cloned(), runs, at_once)
    }

    /// Returns the values of the varied parameters at a point, for documents.
    pub(super) fn at(&self, point: usize) -> At {
        results::Axis::at(&self.args.vary, &self.points[point].at)
    }

    pub(super) fn swept(&self, cells: &[Cell], estimates: &[Estimate], started_at: Option<String>) -> Swept {
        let cell = |cell: &Cell| cell.record(&self.labels[cell.strategy], self.at(cell.point));
        let by = self.args.several.by;
        let first = self.points.first();
        let config = first.map(|point| {
            let record = point.server_under_test.record(self.args.several.simulate);
            config_record(&point.experiments[0], &record, point.experiments[0].run.seed)
        });
        Swept {
            started_at,
            axes: self.args.vary.clone(),
            by: by.path().to_owned(),
            by_name: by.name().to_owned(),
            config,
            intervals: first.map(|point| point.server_under_test.intervals().to_owned()),
            cells: cells.iter().map(cell).collect(),
            best: estimates.iter().map(Estimate::record).collect(),
            incomplete: None,
        }
    }
}
