//! Names that shells complete.

use std::sync::LazyLock;

pub(crate) use mockserver::suggesting;

/// Every preset as it is typed: `preset:NAME`.
static PRESETS: LazyLock<Vec<String>> =
    LazyLock::new(|| tailback::preset_names().map(|name| format!("preset:{name}")).collect());

/// The names of all strategies and presets.
pub(crate) fn strategies() -> impl Iterator<Item = &'static str> {
    tailback::STRATEGIES.iter().map(|entry| entry.name).chain(PRESETS.iter().map(String::as_str))
}

/// The names of all plots that do not depend on a scenario.
pub(crate) fn figures() -> impl Iterator<Item = &'static str> {
    dashboards::report::PLOTS.iter().map(|entry| entry.name)
}

/// The names of all scenarios that are there.
pub(crate) fn scenarios() -> impl Iterator<Item = &'static str> {
    experiments::scenario::EMBEDDED.iter().map(|(name, _)| *name)
}
