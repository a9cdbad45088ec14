//! Names that shells complete.

pub(crate) use mockserver::suggesting;

/// The names of all strategies.
pub(crate) fn strategies() -> impl Iterator<Item = &'static str> {
    tailback::STRATEGIES.iter().map(|entry| entry.name)
}

/// The names of all plots that do not depend on a scenario.
pub(crate) fn figures() -> impl Iterator<Item = &'static str> {
    dashboards::report::PLOTS.iter().map(|entry| entry.name)
}

/// The names of all scenarios that are there.
pub(crate) fn scenarios() -> impl Iterator<Item = &'static str> {
    experiments::scenario::EMBEDDED.iter().map(|(name, _)| *name)
}
