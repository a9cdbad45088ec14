//! Flags of the dashboard: whether it is drawn, and its colours.

use clap::{Args, ValueEnum};
use dashboards::Background;

/// Flags that turn off the dashboard and select its colours.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub struct ScreenArgs {
    /// Print one plain line a second on stderr instead of the dashboard.
    #[arg(long)]
    pub no_tui: bool,

    /// Colours for a dark or a light terminal. `auto` follows the environment variable `COLORFGBG`; without the variable, the colours suit
    /// both.
    #[arg(long, value_enum, default_value_t = Theme::Auto, value_name = "THEME")]
    pub theme: Theme,
}

/// Theme that matches the background of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// Theme for the background that the terminal reports in the environment variable `COLORFGBG`.
    Auto,
    /// Theme for terminals with a dark background.
    Dark,
    /// Theme for terminals with a light background.
    Light,
}

impl From<Theme> for Background {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Auto => Self::Auto,
            Theme::Dark => Self::Dark,
            Theme::Light => Self::Light,
        }
    }
}
