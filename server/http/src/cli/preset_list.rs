//! Output of `mockserver presets`: one line for each preset.

use std::fmt::Write as _;

use mockserver_core::{ServerPreset, expand, server_presets};

/// Maximum width of a preset's limits in a line of the list, in columns.
const LIMITS: usize = 42;

const MIDDLE: usize = 50;

/// Returns the list of presets in lines of at most 80 columns.
pub(crate) fn short_list() -> String {
    let mut text = format!("{:<17}{:<41}rejects  from\n", "name", "limits (first two)");
    for preset in server_presets() {
        let statuses: Vec<String> = preset.statuses().iter().map(u16::to_string).collect();
        let (limits, statuses) = (limits(preset), statuses.join("/"));
        // A text with several statuses, such as `429/503`, starts one column further left than a single status.
        let before = if statuses.len() > 3 { LIMITS } else { LIMITS + 1 };
        let middle = format!("{limits:<before$}{statuses}");
        let _ = writeln!(text, "{:<17}{middle:<MIDDLE$}{}", preset.name, from(preset));
    }
    text + "mockserver presets NAME: limits, answers, sources.  --preset NAME --scale 0.02\n"
}

fn limits(preset: &ServerPreset) -> String {
    let Ok(expanded) = expand(&preset.name, None) else { return String::new() };
    let limits = expanded.short_limits();
    let listed = |shown: usize| {
        let more = preset.limits.len() - shown.min(limits.len());
        let more = if more == 0 { String::new() } else { format!(" (+{more})") };
        limits[..shown.min(limits.len())].join(" · ") + &more
    };
    let both = listed(2);
    if both.chars().count() <= LIMITS { both } else { listed(1) }
}

fn from(preset: &ServerPreset) -> String {
    let read = preset.limits.iter().filter(|limit| limit.verified).count();
    match (read, preset.limits.len()) {
        (0, _) => "unverified".to_owned(),
        (read, all) if read == all => "docs".to_owned(),
        (read, all) => format!("docs ({read} of {all})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_for_each_preset_of_at_most_80_columns() {
        let list = short_list();
        assert_eq!(list.lines().count(), server_presets().len() + 2);
        assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
        insta::assert_snapshot!(list);
    }

    #[test]
    fn the_origin_of_figures_follows_from_the_limits_of_a_preset() {
        let limit = |rest: &str| format!("[[limit]]\nname = 'a'\nabout = 'all'\npolicy = 'gcra'\n{rest}\n");
        let preset = |limits: &[String]| -> ServerPreset {
            format!("name = 'x'\ntitle = 'X'\nread = '2026-11-21'\n{}", limits.concat()).parse().unwrap()
        };
        let (docs, unverified) = (limit("source = 'x.org, Limits'"), limit("verified = false"));
        for (limits, origin) in [
            (vec![docs.clone()], "docs"),
            (vec![unverified.clone()], "unverified"),
            (vec![docs, unverified], "docs (1 of 2)"),
        ] {
            assert_eq!(from(&preset(&limits)), origin);
        }
    }
}
