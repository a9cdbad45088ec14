//! Input of a merge: the runs of all shards, and the requested outputs. A merge yields exactly the result that the merged command would
//! have produced by executing all runs itself.

use std::collections::BTreeMap;

use anyhow::Context as _;
use experiments::Experiment;
use experiments::manifest::restored;
use experiments::runs::stored::Stored;
use experiments::servers::server_under_test::ServerUnderTest;
use results::{Incomplete, Mode, PlannedPoint, Score, ShardPlan};

use crate::args::{CheckArgs, ExplainArgs, ReportArgs, ScreenArgs};
use crate::exit::{Exit, Fatal};
use crate::files::exports::RequestedExport;
use crate::shards::kept::{SpoolRange, Texts};

/// Maximum number of runs in all shards, because a merge iterates over all runs, including the missing ones.
const MAX_TASKS: usize = 100_000_000;

pub(crate) struct Merging {
    pub(crate) plan: ShardPlan,
    /// Serialised runs of the merged shards (`texts`), and the position of each run in them by task number (`places`).
    pub(crate) texts: Texts,
    pub(crate) places: BTreeMap<u64, SpoolRange>,
    /// Start time of the first run; `None` in virtual time.
    pub(crate) began: Option<String>,
    pub(crate) incomplete: Option<Incomplete>,
    pub(crate) asked: Vec<RequestedExport>,
    pub(crate) checks: CheckArgs,
    pub(crate) output: ReportArgs,
    pub(crate) explain: ExplainArgs,
}

impl Merging {
    /// Returns screen flags that turn off the dashboard, because the runs to merge are already complete.
    pub(crate) fn screen() -> ScreenArgs {
        ScreenArgs { no_tui: true, theme: crate::args::Theme::Auto }
    }

    pub(crate) fn score(&self) -> anyhow::Result<Score> {
        let by = self.plan.by.as_deref().unwrap_or_default();
        Score::at(by).ok_or_else(|| {
            Fatal::error(Exit::Usage, format!("`plan.by`: strategies cannot be ranked by `{by}`"))
        })
    }

    pub(crate) fn simulated(&self) -> bool {
        self.plan.mode == Mode::Simulated
    }

    pub(crate) fn points(&self) -> anyhow::Result<Vec<(Vec<Experiment>, ServerUnderTest)>> {
        let ShardPlan { mode, command_line, points, .. } = &self.plan;
        let at = |(index, point): (usize, &PlannedPoint)| {
            restored(point, *mode, command_line).with_context(|| format!("`plan.points[{index}]`"))
        };
        points.iter().enumerate().map(at).collect::<anyhow::Result<_>>().map_err(|error| {
            Fatal::because(
                Exit::Usage,
                "these shards cannot be merged, because a document was changed",
                error,
            )
        })
    }

    pub(crate) fn point(&self) -> anyhow::Result<(Vec<Experiment>, ServerUnderTest)> {
        match <[_; 1]>::try_from(self.points()?) {
            Ok([only]) => Ok(only),
            Err(points) => {
                let words = format!(
                    "`plan.points` has {} points, and a command that varies nothing has one",
                    points.len()
                );
                Err(Fatal::error(Exit::Usage, words))
            }
        }
    }

    /// Returns the stored runs, which replace the execution of `tasks`. The argument `tasks` was planned again from the documents of the
    /// shards.
    pub(crate) fn stored(&mut self, tasks: &experiments::runs::driver::Tasks<'_>) -> anyhow::Result<Stored> {
        if tasks.count() as u64 != self.plan.tasks {
            let words = format!(
                "`plan.tasks` is {}, and the plan has {} runs: a document was changed",
                self.plan.tasks,
                tasks.count()
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
        if tasks.count() > MAX_TASKS {
            let words =
                format!("`plan.tasks` is {}, which is more than the maximum number of runs", tasks.count());
            return Err(Fatal::error(Exit::Usage, words));
        }
        Ok(std::mem::take(&mut self.texts).stored(std::mem::take(&mut self.places)))
    }
}
