//! What is merged: the runs of all shards, and where the result goes. Every command makes the very result of them that it would have made
//! if it had done them itself.

use std::collections::BTreeMap;

use anyhow::Context as _;
use experiments::Experiment;
use experiments::planned::restored;
use experiments::runs::stored::Stored;
use experiments::servers::opponent::Opponent;
use results::{Incomplete, Mode, PlannedPoint, Score, ShardPlan};

use crate::args::{CheckArgs, ExplainArgs, ReportArgs, ScreenArgs};
use crate::exit::{Exit, Fatal};
use crate::files::exports::Asked;
use crate::shards::kept::{Place, Texts};

/// All of them are gone through, be they there or not.
const MOST_TASKS: usize = 100_000_000;

/// The runs of all shards, and what is wanted of them.
pub(crate) struct Merging {
    /// What was planned.
    pub(crate) plan: ShardPlan,
    /// The texts of the runs, and where they are by their number.
    pub(crate) texts: Texts,
    pub(crate) places: BTreeMap<u64, Place>,
    /// When the first of them began; nothing when they were simulated.
    pub(crate) began: Option<String>,
    /// What of them is missing, if anything is.
    pub(crate) incomplete: Option<Incomplete>,
    pub(crate) asked: Vec<Asked>,
    pub(crate) checks: CheckArgs,
    pub(crate) output: ReportArgs,
    pub(crate) explain: ExplainArgs,
}

impl Merging {
    /// Nothing is drawn of runs that are over.
    pub(crate) fn screen() -> ScreenArgs {
        ScreenArgs { no_tui: true, theme: crate::args::Theme::Auto }
    }

    /// What strategies are ranked by.
    ///
    /// # Errors
    /// When it is no score.
    pub(crate) fn score(&self) -> anyhow::Result<Score> {
        let by = self.plan.by.as_deref().unwrap_or_default();
        Score::at(by)
            .ok_or_else(|| Fatal::error(Exit::Usage, format!("`plan.by`: nobody is ranked by `{by}`")))
    }

    pub(crate) fn simulated(&self) -> bool {
        self.plan.mode == Mode::Simulated
    }

    /// The experiments of every point, and whom they meet.
    ///
    /// # Errors
    /// When the documents hold no plan that this program writes.
    pub(crate) fn points(&self) -> anyhow::Result<Vec<(Vec<Experiment>, Opponent)>> {
        let ShardPlan { mode, command_line, points, .. } = &self.plan;
        let at = |(index, point): (usize, &PlannedPoint)| {
            restored(point, *mode, command_line).with_context(|| format!("`plan.points[{index}]`"))
        };
        points.iter().enumerate().map(at).collect::<anyhow::Result<_>>().map_err(|error| {
            Fatal::because(Exit::Usage, "these shards cannot be merged: a document was changed", error)
        })
    }

    /// The only point of who varies nothing.
    ///
    /// # Errors
    /// The same, and when there are more.
    pub(crate) fn point(&self) -> anyhow::Result<(Vec<Experiment>, Opponent)> {
        match <[_; 1]>::try_from(self.points()?) {
            Ok([only]) => Ok(only),
            Err(points) => {
                let words =
                    format!("`plan.points`: {} are too many for one that varies nothing", points.len());
                Err(Fatal::error(Exit::Usage, words))
            }
        }
    }

    /// The runs, to be handed over in the place of these tasks, which were planned again.
    ///
    /// # Errors
    /// When others were planned.
    pub(crate) fn stored(&mut self, tasks: &experiments::runs::driver::Tasks<'_>) -> anyhow::Result<Stored> {
        if tasks.count() as u64 != self.plan.tasks {
            let words = format!(
                "`plan.tasks` is {}, and the plan has {} runs: a document was changed",
                self.plan.tasks,
                tasks.count()
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
        if tasks.count() > MOST_TASKS {
            let words = format!("`plan.tasks`: {} are more runs than anybody makes", tasks.count());
            return Err(Fatal::error(Exit::Usage, words));
        }
        Ok(std::mem::take(&mut self.texts).stored(std::mem::take(&mut self.places)))
    }
}
