//! Colours: the palette of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people can tell
//! apart, in the nearest of the 256 indexed colours, which nearly every terminal has.
//!
//! No colour carries meaning alone: areas, lines and dashes differ in shape, and everything is labelled.

use ratatui::style::{Color, Modifier, Style};

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// The palette.
    Colours,
    /// Shapes, bold and dim only.
    Monochrome,
}

/// What a style stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Attempts that succeeded, work done.
    Accepted,
    /// Attempts the server turned away, waste.
    Rejected,
    /// Attempts without a usable answer.
    Failed,
    /// The window.
    Window,
    /// The slow-start threshold.
    Ssthresh,
    /// Attempts in flight.
    InFlight,
    /// The server's cap.
    Cap,
    /// The optimum.
    Optimum,
    /// Latencies.
    Latency,
    /// Names of panels.
    Title,
    /// Axes, rules, units.
    Faint,
    /// What the user must not overlook.
    Alert,
}

impl Theme {
    /// Without colours when `NO_COLOR` is set to anything.
    pub(crate) fn from_environment() -> Self {
        match std::env::var_os("NO_COLOR") {
            Some(value) if !value.is_empty() => Self::Monochrome,
            _ => Self::Colours,
        }
    }

    /// How something looks.
    pub(crate) fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let style = match role {
            Role::Accepted => plain.fg(Color::Indexed(36)),
            Role::Rejected => plain.fg(Color::Indexed(166)),
            Role::Failed => plain.fg(Color::Indexed(175)),
            Role::Window => plain.fg(Color::Indexed(214)),
            Role::Ssthresh | Role::Latency => plain.fg(Color::Indexed(74)),
            Role::InFlight => plain.fg(Color::Indexed(25)),
            Role::Optimum => plain.fg(Color::Indexed(227)),
            Role::Cap | Role::Title => plain.add_modifier(Modifier::BOLD),
            Role::Faint => plain.fg(Color::Indexed(244)),
            Role::Alert => plain.fg(Color::Indexed(214)).add_modifier(Modifier::BOLD | Modifier::REVERSED),
        };
        match self {
            Self::Colours => style,
            Self::Monochrome => {
                let faint = matches!(role, Role::Faint | Role::InFlight);
                let style = Style { fg: None, ..style };
                if faint { style.add_modifier(Modifier::DIM) } else { style }
            }
        }
    }
}
