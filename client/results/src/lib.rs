//! Results of runs: documents as types that are written and parsed, the list of figures, ranking, conditions and health. This crate does no
//! I/O: texts are passed in and out, and other crates handle files and terminals.
//!
//! [`RunResult`] is one run, [`Document`] is the content of any file. [`FIGURES`] lists every number of a result by its path; scores,
//! columns, checks, sums over seeds and tables are subsets of this list. [`standings`] ranks strategies. [`Conditions`] decides which runs
//! may be compared, and [`RepeatKey`] decides which runs are repeats of one another. [`GeneratorLoad`] and [`Warning`] report reasons to
//! doubt a result.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod answer;
mod baseline;
mod basis;
mod client_shards;
mod columns;
mod comparison;
mod conditions;
mod config;
mod countable;
mod document;
mod fields;
mod figures;
mod foresight;
mod front;
mod health;
mod malformed;
pub mod numbers;
mod objects;
mod outline;
mod over_runs;
mod parity;
mod progress_line;
mod ranking;
mod reading;
mod recorded;
mod recordings;
mod repeat_key;
mod reproduction;
mod run;
mod run_figures;
mod sample;
mod schema;
mod score;
mod setting;
mod shards;
mod shares;
mod standing;
mod sweep;
#[cfg(test)]
mod testing;
mod ties;
mod unthrottled;
mod version;
mod written;

pub use answer::{
    Answer, Lead, MIN_SEEDS, PairRow, Part, Place, PointWinner, RankedBy, Row, Sentence, Times,
    first_by_point, pair_rows, same_winner_sentence,
};
pub use baseline::{Baseline, judged};
pub use basis::Basis;
pub use client_shards::{
    ClientShardError, ClientShardRecord, ClientsKind, MergedClients, ShardContext, StartRecord, StartedBy,
    merged_clients,
};
pub use columns::Column;
pub use comparison::{
    Compared, Comparison, PairRecord, PairVerdict, Repeats, StandingRecord, TimesRecord, Variation,
};
pub use conditions::{Conditions, WrittenConditions};
pub use config::{
    ConfigRecord, PartRecord, RequestRecord, ServerModel, TransportRecord, WorkloadRecord,
    current_transport_name,
};
pub use document::{Document, sorted};
pub use figures::{Direction, FIGURES, Figure, Kind, MAKESPAN_OVER_BOUND, Ranked};
pub use foresight::knows_the_future;
pub use health::{Bottleneck, GeneratorLoad, Warning};
pub use malformed::Malformed;
pub use over_runs::{Estimator, FiguresOverRuns, IntervalRecord, OverRuns, figures_over_runs};
pub use parity::{Pairing, Parity, ParityFigure};
pub use progress_line::{IntervalFigures, ProgressLine};
pub use ranking::{best_that_can_be_had, ranked, ranked_by_share, standings};
pub use reading::read;
pub use recorded::{Calls, Clients, Columns, DrawnRun, GaugeColumn, Steps, Wait};
pub use recordings::{CheckDifference, CheckVerdict, CheckedPair, CheckedRecording, RecordingsCheck};
pub use repeat_key::RepeatKey;
pub use reproduction::{
    Cell, Claim, ClaimValue, ClaimVerdict, DrawnColumn, Plot, Reproduction, Scenario, Tallies, Tally,
    TimeUnit,
};
pub use run::{
    AttemptsResult, GaugePoint, GeneratorResult, LagResult, LoadRecord, Mode, OpsResult, ResultContext,
    RunResult, SeriesPoint,
};
pub use run_figures::RunFigures;
pub use sample::{OutcomeName, SampleLine};
pub use schema::schema;
pub use score::Score;
pub use setting::{At, Setting, at};
pub use shards::{
    Assembled, Assembly, Incomplete, PlannedPoint, PlannedServer, ReadShard, ShardError, ShardKind, ShardOf,
    ShardPlan, ShardedCommand, TaskRecord, TaskShard,
};
pub use standing::{Standing, Work, geometric_mean};
pub use sweep::{Axis, Best, LeadRecord, Sweep, SweepCell, Swept, Winner};
pub use unthrottled::Unthrottled;
pub use version::{SCHEMA_VERSION, SchemaVersion};
pub use written::{Written, WrittenCell, WrittenDocument, WrittenKeys, WrittenRun, WrittenSweep};
