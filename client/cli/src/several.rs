//! Several strategies with one workload and one server: from what was typed to settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use experiments::servers::opponent::{GivenServer, Opponent};
use tailback::StrategySpec;
use vocabulary::TimeScale;

use crate::args::{RunArgs, SeveralArgs};
use crate::exit::{Exit, Fatal};
use crate::settings::{self, Settings};

/// The settings of every strategy, and the server of all. `what` begins the error when the server cannot be like that. A
/// server that `--target` names is asked what it is unless it was `reached` before.
pub(crate) fn configured(
    args: &SeveralArgs,
    strategies: Vec<StrategySpec>,
    what: &str,
    reached: &mut Option<Arc<GivenServer>>,
) -> anyhow::Result<(Vec<Settings>, Opponent)> {
    // What is not offered here keeps its default.
    let mut run = RunArgs::defaults();
    (run.simulate, run.workload, run.server) = (args.simulate, args.workload.clone(), args.server.clone());
    run.target = args.target.clone();
    if run.simulate && run.workload.0.time_scale.is_some_and(|scale| scale != TimeScale::default()) {
        let words =
            "`--time-scale` means nothing in virtual time: nobody waits; leave it out with `--simulate`";
        return Err(Fatal::error(Exit::Usage, words));
    }
    let settings: Vec<Settings> = strategies
        .into_iter()
        .map(|strategy| {
            run.strategy = strategy;
            settings::settings(&run)
        })
        .collect::<anyhow::Result<_>>()?;
    if let Some(first) = settings.first()
        && reached.is_none()
    {
        *reached = GivenServer::reach(&settings::server_choice(&run, first), first)?.map(Arc::new);
    }
    let opponent = match reached {
        Some(given) => Opponent::Given(given.clone()),
        None => Opponent::Own(Box::new(
            run.server
                .to_config(settings.first().map_or(1, |first| first.run.seed))
                .map_err(|error| Fatal::because(Exit::Usage, what.to_owned(), error))?,
        )),
    };
    for one in &settings {
        opponent.refuse_unusable(one).map_err(|error| Fatal::because(Exit::Usage, what.to_owned(), error))?;
        one.refuse_request_of_its_own()?;
    }
    Ok((settings, opponent))
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
