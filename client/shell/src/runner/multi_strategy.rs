//! Conversion of flags into experiments: several strategies with one workload and one server.

use std::collections::BTreeSet;
use std::sync::Arc;

use experiments::Experiment;
use experiments::servers::server_under_test::{GivenServer, ServerUnderTest};
use tailback::StrategySpec;

use crate::runner::experiment;
use crate::{MultiArgs, RunArgs, usage, usage_because};

/// Returns an experiment for each strategy, or one with the default strategy, and the server that all strategies use. The error message for
/// an invalid server configuration starts with `what`. The server of `--target` is queried, unless `reached` already contains it from an
/// earlier call.
pub fn configured(
    args: &MultiArgs,
    strategies: Vec<StrategySpec>,
    what: &str,
    reached: &mut Option<Arc<GivenServer>>,
) -> anyhow::Result<(Vec<Experiment>, ServerUnderTest)> {
    let mut run = RunArgs::defaults();
    (run.simulate, run.workload, run.server) = (args.simulate, args.workload.clone(), args.server.clone());
    (run.target, run.output.threads) = (args.target.clone(), args.output.threads);
    let strategies =
        if strategies.is_empty() { vec![None] } else { strategies.into_iter().map(Some).collect() };
    let mut experiments: Vec<Experiment> = strategies
        .into_iter()
        .map(|strategy| {
            run.strategy = strategy;
            experiment::of_flags(&run)
        })
        .collect::<anyhow::Result<_>>()?;
    if let Some(first) = experiments.first()
        && reached.is_none()
    {
        *reached = GivenServer::reach(&experiment::server_choice(&run, first), first)?.map(Arc::new);
    }
    let server_under_test = match reached {
        Some(given) => ServerUnderTest::Given(given.clone()),
        None => ServerUnderTest::Own(Box::new(
            run.server
                .to_config(experiments.first().map_or(1, |first| first.run.seed))
                .map_err(|error| usage_because(what.to_owned(), error))?,
        )),
    };
    for experiment in &mut experiments {
        server_under_test.choose_strategy(experiment)?;
        let refused = server_under_test.refuse_unusable(experiment);
        refused.map_err(|error| usage_because(what.to_owned(), error))?;
        experiment.refuse_request_of_its_own()?;
    }
    Ok((experiments, server_under_test))
}

/// Refuses a strategy that was named twice, even in different spellings.
pub fn refuse_twice(strategies: &[StrategySpec]) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for strategy in strategies {
        let mut parts: Vec<(&str, Vec<(&str, String)>)> = Vec::new();
        for (name, parameters) in strategy.describe() {
            parts.push((
                name,
                parameters.into_iter().map(|parameter| (parameter.key, parameter.value)).collect(),
            ));
        }
        parts.sort();
        if !seen.insert(parts) {
            let words = format!(
                "`--strategies` has two strategies equal to `{strategy}`; name it once, or give it other \
                 parameters"
            );
            return Err(usage(words));
        }
    }
    Ok(())
}
