//! Terminal output of a comparison that was stopped before every strategy had run with the first seed.

use std::fmt::Write as _;

use experiments::runs::blocks::{BlockRun, Blocks};
use experiments::runs::one_run::Finished;

use crate::runner::interrupt::by_whom;
use crate::text::figures::{at_least, counted, seconds, thousands};
use crate::text::table::{Column, LongNames, Table};

pub(super) fn text(runs: &[BlockRun], blocks: Blocks<'_>, stopped_by: Option<&str>) -> String {
    let stopped = stopped_by.map(|by| format!("stopped by {}: ", by_whom(by))).unwrap_or_default();
    let Some(first) = runs.first() else {
        return format!("{stopped}no run was complete, so there is nothing to compare or to write\n");
    };
    let mut table = Table::new(27, [12, 12, 12].map(Column::Right), LongNames::Broken);
    table.line("");
    table.titles(
        &format!("   complete, seed {}", first.finished.result.seed),
        ["makespan", "attempts", "done"],
    );
    for BlockRun { finished: Finished { result, .. }, .. } in runs {
        let makespan = result.makespan_s.filter(|_| result.makespan_complete);
        let cells = [
            makespan.map_or_else(dash, seconds),
            thousands(result.attempts.total),
            result.done_share.map_or_else(dash, |share| at_least(share, result.share_is_lower_bound)),
        ];
        table.row("   ", &result.strategy, &cells);
    }
    let mut text = table.into_text();
    let _ = writeln!(text, "\n{stopped}no strategy can be ranked: the first seed was not complete");
    let (runs, of) = (thousands(runs.len() as u64), counted(blocks.strategies.len() as u64, "run"));
    let _ = writeln!(text, "{runs} of the {of} of the first seed are complete and are in the output files");
    text
}

fn dash() -> String {
    "–".to_owned()
}
