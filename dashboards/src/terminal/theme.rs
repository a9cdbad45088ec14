//! Colours of the dashboard: the palette of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people
//! can distinguish. Each colour is the nearest of the 256 indexed colours, which nearly every terminal has.
//!
//! Terminals are dark or light and rarely report it. So there are colours for dark, for light, and for unknown
//! backgrounds. No colour carries meaning alone, because areas, lines and dashes differ in shape, and everything is
//! labelled.

use ratatui::style::{Color, Modifier, Style};

use crate::Background;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Dark,
    Light,
    /// Medium colours with a little less contrast, which are readable on every background.
    Either,
    Monochrome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Accepted,
    Rejected,
    /// Role of bars and lines that show attempts without a usable response.
    Failed,
    Window,
    Ssthresh,
    /// Role of the line of a gauge that a strategy reports under a name of its own.
    Drawn,
    InFlight,
    Cap,
    LowerBound,
    Latency,
    Title,
    /// Role of the name of the strategy or command.
    Name,
    /// Role of the title of the view that is shown.
    Selected,
    Plain,
    Faint,
    Alert,
}

impl Theme {
    /// Returns the theme for the background. Colours are printed even if the variable `NO_COLOR` is set, because the caller decides.
    pub(crate) fn chosen(background: Background) -> Self {
        crossterm::style::force_color_output(background != Background::Colourless);
        match background {
            Background::Colourless => Self::Monochrome,
            Background::Dark => Self::Dark,
            Background::Light => Self::Light,
            Background::Auto => Self::chosen_by(&std::env::var("COLORFGBG").unwrap_or_default()),
        }
    }

    /// Returns the theme for a value of the variable `COLORFGBG`. The value is `foreground;background`, as numbers of
    /// the first sixteen colours.
    fn chosen_by(colours: &str) -> Self {
        match colours.rsplit(';').next().map(str::parse) {
            Some(Ok(0..=6 | 8)) => Self::Dark,
            Some(Ok(7 | 9..=15)) => Self::Light,
            _ => Self::Either,
        }
    }

    pub(crate) fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let coloured = match role {
            Role::Plain => plain,
            Role::Title => plain.add_modifier(Modifier::BOLD),
            // The default text colour is set explicitly. Without it, text over a bar would take the bar's colour and be
            // invisible.
            Role::Cap => plain.fg(Color::Reset).add_modifier(Modifier::BOLD),
            Role::Selected => plain.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            Role::Name => plain.fg(Color::Indexed(self.colour(role))).add_modifier(Modifier::BOLD),
            // Alerts have black text on orange, whatever the background of the terminal is.
            Role::Alert => plain.fg(Color::Indexed(16)).bg(Color::Indexed(214)).add_modifier(Modifier::BOLD),
            role => plain.fg(Color::Indexed(self.colour(role))),
        };
        match (self, role) {
            (Self::Monochrome, Role::Alert) => plain.add_modifier(Modifier::BOLD | Modifier::REVERSED),
            (Self::Monochrome, Role::Faint | Role::InFlight) => plain.add_modifier(Modifier::DIM),
            (Self::Monochrome, _) => Style { fg: None, ..coloured },
            _ => coloured,
        }
    }

    fn colour(self, role: Role) -> u8 {
        let [dark, light, either] = match role {
            Role::Accepted => [36, 29, 29],
            Role::Rejected => [166, 166, 166],
            Role::Failed | Role::Drawn => [175, 132, 169],
            Role::Window | Role::Name => [214, 130, 136],
            Role::Ssthresh | Role::Latency => [74, 25, 67],
            Role::InFlight => [25, 74, 25],
            Role::LowerBound => [227, 58, 100],
            _ => [244, 242, 244],
        };
        match self {
            Self::Dark => dark,
            Self::Light => light,
            Self::Either | Self::Monochrome => either,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [Role; 8] = [
        Role::Accepted,
        Role::Rejected,
        Role::Failed,
        Role::Window,
        Role::Ssthresh,
        Role::LowerBound,
        Role::Latency,
        Role::Faint,
    ];

    /// Backgrounds: black, a usual dark grey, white, and the paper of Solarized Light.
    const DARK: [[u8; 3]; 2] = [[0, 0, 0], [0x1e, 0x1e, 0x1e]];
    const LIGHT: [[u8; 3]; 2] = [[0xff, 0xff, 0xff], [0xfd, 0xf6, 0xe3]];

    /// Returns the relative luminance as defined by WCAG 2.
    fn luminance(rgb: [u8; 3]) -> f64 {
        let linear = rgb.map(|part| match f64::from(part) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    /// Converts one of the 256 indexed colours, from index 16 on.
    fn rgb(index: u8) -> [u8; 3] {
        if index >= 232 {
            return [8 + 10 * (index - 232); 3];
        }
        let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
        [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(level)
    }

    #[test]
    fn every_colour_can_be_read_on_the_backgrounds_it_is_meant_for() {
        let both = [DARK, LIGHT].concat();
        for (theme, backgrounds) in [(Theme::Dark, &DARK[..]), (Theme::Light, &LIGHT), (Theme::Either, &both)]
        {
            for (role, background) in ROLES.iter().flat_map(|role| backgrounds.iter().map(move |b| (role, b)))
            {
                let found = contrast(rgb(theme.colour(*role)), *background);
                assert!(found >= 3.0, "{role:?} of {theme:?} on {background:?}: {found:.2}");
            }
            for background in backgrounds {
                let found = contrast(rgb(theme.colour(Role::InFlight)), *background);
                assert!(found >= 2.2, "an area of {theme:?} on {background:?}: {found:.2}");
            }
        }
    }

    #[test]
    fn the_window_can_be_seen_on_what_is_in_flight() {
        for theme in [Theme::Dark, Theme::Light, Theme::Either] {
            let found = contrast(rgb(theme.colour(Role::Window)), rgb(theme.colour(Role::InFlight)));
            assert!(found >= 1.9, "{theme:?}: {found:.2}");
        }
    }

    #[test]
    fn the_reported_background_of_the_terminal_sets_the_theme() {
        assert_eq!(
            ["15;0", "0;15", "12;8", "0;default;15", "", "x;y"].map(Theme::chosen_by),
            [Theme::Dark, Theme::Light, Theme::Dark, Theme::Light, Theme::Either, Theme::Either]
        );
    }
}
