//! Results of runs: documents (types that are written and parsed), the list of figures, ranking, conditions for comparisons, and health
//! checks. This crate does no I/O. It parses and returns texts, and other crates handle files and terminals.
//!
//! [`RunResult`] is one run, [`Document`] is the content of any file. [`FIGURES`] lists every number of a result by its path; scores,
//! columns, checks, sums over seeds and tables are subsets of this list. [`standings`] ranks strategies. [`Conditions`] decides which runs
//! may be compared, and [`RepeatKey`] decides which runs are repeats of one another. [`GeneratorLoad`] and [`Warning`] report reasons to
//! doubt a result.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod baseline;
mod conditions;
mod document;
mod figures;
mod health;
mod merging;
mod plot_data;
mod ranking;
mod repeat_key;
#[cfg(test)]
mod testing;
mod warning_groups;

pub use crate::ranking::knows_the_future;
pub use baseline::{Baseline, judged};
pub use conditions::Conditions;
pub use document::comparison::{
    Compared, Comparison, PairRecord, PairVerdict, Repeats, StandingRecord, TimesRecord, Variation,
};
pub use document::config::{
    ConfigRecord, PartRecord, RequestRecord, ServerModel, SharedConfig, TransportRecord, WorkloadRecord,
    current_transport_name,
};
pub use document::malformed::Malformed;
pub use document::merged::{Incomplete, MergedLoad, ShardRecord};
pub use document::op_latencies::OpLatencies;
pub use document::progress_line::{IntervalFigures, ProgressLine};
pub use document::reading::read;
pub use document::recorded::{Calls, Clients, Columns, DrawnRun, GaugeColumn, Steps, Wait};
pub use document::reproduction::{
    Cell, Claim, ClaimValue, ClaimVerdict, DrawnColumn, Plot, Reproduction, Scenario, Tallies, Tally,
    TimeUnit,
};
pub use document::run::{
    AttemptsResult, GaugePoint, GeneratorResult, LagResult, LoadRecord, Mode, OpsResult, ResultContext,
    RunResult, SeriesPoint,
};
pub use document::sample::{OutcomeName, SampleLine};
#[cfg(feature = "schema")]
pub use document::schema::schema;
pub use document::setting::{At, Setting, at};
pub use document::sweep::{Axis, Best, LeadRecord, Sweep, SweepCell, Swept, Winner};
pub use document::version::{SCHEMA_VERSION, SchemaVersion};
pub use document::written::{Written, WrittenCell, WrittenDocument, WrittenKeys, WrittenRun, WrittenSweep};
pub use document::{Document, sorted};
pub use figures::columns::Column;
pub use figures::numbers;
pub use figures::over_runs::{Estimator, FiguresOverRuns, IntervalRecord, OverRuns, figures_over_runs};
pub use figures::run_figures::{Counts, RunFigures};
pub use figures::{Direction, FIGURES, Figure, Kind, MAKESPAN_OVER_BOUND, Ranked};
pub use health::{
    Bottleneck, GeneratorLoad, Warning, advised_waits, is_about_machine, names_remedy, reason_for_failure,
};
pub use merging::{MergeError, Merged, MergedCommand, MergedPoint, Part as MergePart, merged, together};
pub use plot_data::Basis;
pub use ranking::answer::{
    Answer, Lead, MIN_SEEDS, PairRow, Part, PointWinner, RankedBy, RankingColumn, Row, RowRank, Sentence,
    Times, first_by_point, pair_rows, same_winner_sentence,
};
pub use ranking::ranked_strategy::{RankedStrategy, Work, geometric_mean, paired_ratio};
pub use ranking::score::Score;
pub use ranking::unthrottled::Unthrottled;
pub use ranking::{best_that_can_be_had, ranked, ranked_by_share, standings};
pub use repeat_key::RepeatKey;
pub use warning_groups::WarningGroups;
