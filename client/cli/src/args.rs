//! Command-line flags that several subcommands share, with one file per group of flags.

mod checks;
mod explain;
pub(crate) mod exports;
mod output;
mod run;
mod screen;
mod several;
mod shard;
pub(crate) mod shell;
mod strategy_list;
mod target;
mod transport;
mod values;
mod workload;

pub(crate) use checks::{BaselineName, CheckArgs};
pub(crate) use explain::ExplainArgs;
pub(crate) use output::{OutputArgs, ProgressFormat, ReportArgs};
pub(crate) use run::RunArgs;
pub(crate) use screen::ScreenArgs;
pub(crate) use several::{MultiArgs, blocks};
pub(crate) use strategy_list::StrategyList;
pub(crate) use target::{MOCK_SERVER, TARGET};
pub(crate) use values::{Header, Method, is_url};
pub(crate) use workload::{SEED, WORKLOAD, WorkloadArgs};
