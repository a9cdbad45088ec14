//! Values of arguments that shells offer as completions.

use std::sync::LazyLock;

pub use command_line::suggesting;

static PRESETS: LazyLock<Vec<String>> =
    LazyLock::new(|| tailback::preset_names().map(|name| format!("preset:{name}")).collect());

pub fn strategies() -> impl Iterator<Item = &'static str> {
    tailback::STRATEGIES.iter().map(|entry| entry.name).chain(PRESETS.iter().map(String::as_str))
}

/// Returns the names of all built-in plots; the plots of scenarios are not included.
pub fn figures() -> impl Iterator<Item = &'static str> {
    dashboards::report::PLOTS.iter().map(|entry| entry.name)
}
