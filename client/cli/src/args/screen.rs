//! How runs are shown while they go on.

use clap::{Args, ValueEnum};
use dashboards::Background;

/// What to draw on, and in which colours.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ScreenArgs {
    /// No dashboard: one plain line a second on stderr.
    #[arg(long)]
    pub(crate) no_tui: bool,

    /// Colours for a dark or a light terminal; `auto`: as `COLORFGBG` says, else readable on both. `NO_COLOR` goes first.
    #[arg(long, value_enum, default_value_t = Theme::Auto, value_name = "THEME")]
    pub(crate) theme: Theme,
}

/// What the terminal's background is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Theme {
    /// As the terminal says.
    Auto,
    /// Dark.
    Dark,
    /// Light.
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
