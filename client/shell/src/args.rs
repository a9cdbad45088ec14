//! Command-line flags that several subcommands share, with one file per group of flags.

mod checks;
mod explain;
pub mod exports;
mod merge;
mod output;
mod run;
mod screen;
mod several;
mod shard;
pub mod shell;
mod strategy_list;
mod target;
mod transport;
mod values;
mod workload;

pub use checks::{BaselineName, CheckArgs};
pub use explain::ExplainArgs;
pub use merge::MergeArgs;
pub use output::{OutputArgs, ProgressFormat, ReportArgs};
pub use run::RunArgs;
pub use screen::ScreenArgs;
pub use several::{MultiArgs, blocks};
pub use strategy_list::StrategyList;
pub use target::{MOCK_SERVER, TARGET};
pub use values::{Header, Method, is_url};
pub use workload::{SEED, WORKLOAD, WorkloadArgs};
