//! Several strategies with one workload and one server: from what was typed to settings.

use std::collections::BTreeSet;

use clap::Parser;
use mockserver::core::Config;
use tailback::StrategySpec;
use vocabulary::TimeScale;

use crate::args::{Cli, FiguresArgs, SeveralArgs};
use crate::exit::{Exit, Fatal};
use crate::settings::Settings;

/// The settings of every strategy, and the server of all. `what` begins the error when the server cannot be like that.
pub(crate) fn configured(
    args: SeveralArgs,
    strategies: Vec<StrategySpec>,
    figures: Option<FiguresArgs>,
    what: &str,
) -> anyhow::Result<(Vec<Settings>, Config)> {
    // What is not offered here keeps its default.
    let mut run = Cli::parse_from(["loadgen"]).run;
    (run.simulate, run.workload, run.server) = (args.simulate, args.workload, args.server);
    run.output.figures = figures.unwrap_or(run.output.figures);
    if run.simulate && run.workload.time_scale != TimeScale::default() {
        let words =
            "`--time-scale` means nothing in virtual time: nobody waits; leave it out with `--simulate`";
        return Err(Fatal::error(Exit::Usage, words));
    }
    let server = run
        .server
        .to_config(run.workload.seed)
        .map_err(|error| Fatal::because(Exit::Usage, what.to_owned(), error))?;
    let settings = strategies
        .into_iter()
        .map(|strategy| {
            run.strategy = strategy;
            let settings = Settings::new(&run)?;
            settings
                .refuse_unplannable(&server)
                .map_err(|error| Fatal::because(Exit::Usage, what.to_owned(), error))?;
            Ok(settings)
        })
        .collect::<anyhow::Result<_>>()?;
    Ok((settings, server))
}

/// Refuses a strategy that was named twice, in other words or not.
pub(crate) fn refuse_twice(strategies: &[StrategySpec]) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for strategy in strategies {
        let mut parts: Vec<(&str, Vec<(&str, String)>)> = Vec::new();
        for (name, parameters) in strategy.describe() {
            parts.push((name, parameters.into_iter().map(|one| (one.key, one.value)).collect()));
        }
        parts.sort();
        if !seen.insert(parts) {
            let words = format!(
                "`--strategies` names `{strategy}` twice, perhaps in other words; name it once, or give it other \
                 parameters"
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}
