//! Start screen: the address, the limits, and how to configure clients for this server.

use std::net::SocketAddr;

use mockserver_core::{Config, Expanded, expand};
use vocabulary::{TimeScale, duration_text};

use crate::wrap::{NO_BREAK, USUAL, wrapped};

const INDENT: &str = "                ";

/// Returns the start screen for a terminal with `columns` columns, or for output that does not go to a terminal (`None`).
///
/// The first line starts with `mockserver listening on http://ADDRESS`. Programs that start a server read the address up to the end of that
/// line. Therefore, unless the output goes to a terminal, nothing follows the address on that line.
pub(crate) fn announcement(
    address: SocketAddr,
    config: &Config,
    scale: TimeScale,
    columns: Option<usize>,
) -> String {
    let listening = format!("mockserver listening on http://{address}");
    let expanded = config.preset.as_deref().and_then(|preset| expand(preset, config.scale).ok());
    let server = server(config, expanded.as_ref(), scale);
    let fits = |columns: &usize| listening.chars().count() + 2 + server.chars().count() <= *columns;
    let width = columns.unwrap_or(USUAL);
    let mut screen = match columns.filter(fits) {
        Some(_) => wrapped(&server, &format!("{listening}: "), "  ", width),
        None => format!("{listening}\n{}", wrapped(&server, "  ", "  ", width)),
    };
    for (name, row) in [
        ("your client", client(address, expanded.as_ref())),
        ("loadgen", loadgen(address, expanded.as_ref(), scale)),
    ] {
        screen += &wrapped(&row, &format!("  {name:<14}"), INDENT, width);
    }
    screen += "  look, change  /_mock/stats · PATCH /_mock/config · /metrics   Ctrl-C stops\n";
    for note in config.notes() {
        screen += &wrapped(&note, "note: ", "      ", width);
    }
    screen
}

fn server(config: &Config, expanded: Option<&Expanded>, time_scale: TimeScale) -> String {
    let mut parts = match expanded {
        Some(expanded) => preset(config, expanded),
        None => vec![config.describe()],
    };
    if expanded.is_none() && !config.draws_service_times() {
        // If the server draws service times, its description already contains the status of rejections, next to the time that a rejection
        // takes.
        parts.push(format!("rejections with {}", config.reject_status));
    }
    if config.seed != Config::default().seed {
        parts.push(format!("seed {}", config.seed));
    }
    parts.extend(config.retry_after.map(|after| format!("Retry-After {}", duration_text::format(after))));
    if time_scale != TimeScale::default() {
        parts.push(format!("time scale {time_scale}"));
    }
    parts.join(", ")
}

fn preset(config: &Config, expanded: &Expanded) -> Vec<String> {
    let scale = config.scale.map_or_else(String::new, |scale| format!(" (scale {scale})"));
    let limits = expanded.short_limits();
    let more = expanded.policy.iter().count() - limits.len().min(2);
    let more = if more == 0 { String::new() } else { format!(" (+{more})") };
    let name = config.preset.as_deref().unwrap_or(&expanded.preset.name);
    let shown = limits.iter().take(2).map(|limit| keep_numbers_together(limit));
    let parts: Vec<String> = std::iter::once(format!("{name}{scale}")).chain(shown).collect();
    [vec![parts.join(", ") + &more], config.settings_beside_preset()].concat()
}

/// Replaces spaces within numbers such as `30 000`, and between a number and its unit, by no-break spaces.
fn keep_numbers_together(limit: &str) -> String {
    let mut text = String::with_capacity(limit.len());
    let mut before = ' ';
    for letter in limit.chars() {
        let keep = letter == ' ' && before.is_ascii_digit();
        text.push(if keep { NO_BREAK } else { letter });
        before = letter;
    }
    text
}

fn client(address: SocketAddr, expanded: Option<&Expanded>) -> String {
    match expanded.and_then(|expanded| expanded.preset.base_urls.first()) {
        Some(base_url) if base_url.is_variable() => {
            let program =
                if base_url.client.ends_with("(Node.js)") { "node app.js" } else { "python app.py" };
            format!("{} {program}", base_url.at(address))
        }
        Some(base_url) => base_url.at(address),
        None => format!("curl -i http://{address}/any/path"),
    }
}

fn loadgen(address: SocketAddr, expanded: Option<&Expanded>, scale: TimeScale) -> String {
    let strategy = expanded.and_then(|expanded| expanded.preset.strategy.as_deref()).unwrap_or("aimd");
    let scale = if scale == TimeScale::default() { String::new() } else { format!(" --time-scale {scale}") };
    format!("loadgen --target http://{address} --strategy{NO_BREAK}{strategy}{scale}")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::time::Duration;

    use mockserver_core::server_preset_names;

    use super::*;

    fn announced(config: &Config, columns: Option<usize>) -> String {
        announcement("127.0.0.1:8503".parse().unwrap(), config, TimeScale::default(), columns)
    }

    fn preset(name: &str, scale: Option<f64>) -> Config {
        Config::default().with_preset(name, scale).unwrap()
    }

    #[test]
    fn start_screens_at_80_and_100_columns_and_without_a_terminal() {
        let mut screens = String::new();
        for (about, config) in [
            ("--preset openai", preset("openai", None)),
            (
                "--preset openai --scale 0.02 --loss 0.25",
                Config { loss: 0.25, ..preset("openai", Some(0.02)) },
            ),
            ("--preset github", preset("github", None)),
            ("--preset stripe", preset("stripe", None)),
            ("--preset google-drive", preset("google-drive", None)),
            ("--preset nginx", preset("nginx", None)),
            ("--retry-after 2s", Config { retry_after: Some(Duration::from_secs(2)), ..Config::default() }),
        ] {
            for columns in [Some(80), Some(100), None] {
                let at = columns.map_or("no terminal".to_owned(), |columns| format!("{columns} columns"));
                let _ = writeln!(screens, "$ mockserver {about}   [{at}]\n{}", announced(&config, columns));
            }
        }
        insta::assert_snapshot!(screens);
    }

    #[test]
    fn lines_fit_the_terminal_and_the_first_has_the_address() {
        for name in server_preset_names() {
            for columns in [80, 100, 200] {
                let screen = announced(&preset(name, Some(0.02)), Some(columns));
                assert!(screen.starts_with("mockserver listening on http://127.0.0.1:8503"), "{screen}");
                let longest = screen.lines().map(|line| line.chars().count()).max();
                assert!(longest <= Some(columns), "{screen}");
            }
            let screen = announced(&preset(name, None), None);
            assert_eq!(screen.lines().next(), Some("mockserver listening on http://127.0.0.1:8503"));
        }
    }

    #[test]
    fn a_server_without_slots_announces_none() {
        for policy in ["overwhelmed-queue", "descriptor-pool"] {
            let config = Config { policy: policy.parse().unwrap(), ..Config::default() };
            let screen = announced(&config, Some(200));
            assert!(screen.contains(policy), "{screen}");
            assert!(!screen.contains("cap 50") && !screen.contains("service 500ms"), "{screen}");
            assert!(screen.contains(&config.describe()), "the same as loadgen prints: {screen}");
        }
    }

    #[test]
    fn the_status_of_rejections_is_announced_whatever_the_policy() {
        for policy in ["concurrency-cap", "overwhelmed-queue", "descriptor-pool", "script"] {
            let config = Config { policy: policy.parse().unwrap(), reject_status: 429, ..Config::default() };
            let screen = announced(&config, None);
            assert_eq!(screen.matches("429").count(), 1, "{screen}");
        }
    }
}
