//! Command-line flags that several subcommands share, with one file per group of flags.

mod checks;
pub mod exports;
mod merge;
mod output;
mod run;
mod several;
pub mod shell;
mod target;
mod values;
mod workload;

pub use crate::args::output::{ExplainArgs, ScreenArgs};
pub use crate::args::several::StrategyList;
pub use checks::{BaselineName, CheckArgs};
pub use merge::MergeArgs;
pub use output::{OutputArgs, ProgressFormat, ReportArgs};
pub use run::RunArgs;
pub use several::{MultiArgs, blocks};
pub use target::{MOCK_SERVER, TARGET};
pub use values::{Header, Method, is_url};
pub use workload::{SEED, WORKLOAD, WorkloadArgs};
