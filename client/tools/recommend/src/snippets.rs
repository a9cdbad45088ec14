//! A candidate's changes as users write them: the library's settings, or words.

use shell::settings::printed;

use crate::candidate::{Candidate, Change};
use crate::recommendation::{RecommendedSetting, SettingOf};

/// Returns the changes of a candidate in words, such as `OpenAI(max_retries=5)` or `8 workers`.
pub(super) fn changes(candidate: &Candidate) -> Vec<RecommendedSetting> {
    candidate.changes.iter().map(of_change).collect()
}

fn of_change(change: &Change) -> RecommendedSetting {
    let (of, text) = match change {
        Change::Knob { knob, value } => (SettingOf::Library, knob.setting_of(value)),
        Change::Strategy(text) => (SettingOf::Strategy, text.clone()),
        Change::Workers(1) => (SettingOf::Workers, "1 worker".to_owned()),
        Change::Workers(workers) => (SettingOf::Workers, format!("{workers} workers")),
        Change::Rate(rate) => (SettingOf::Rate, format!("at most {} requests/s", rate.per_s)),
    };
    RecommendedSetting { of, text }
}

/// Returns the settings of the library as `loadgen strategies S --print-settings` prints them. `None` if no setting changes for which a
/// format is known.
pub(super) fn written(candidate: &Candidate) -> Option<String> {
    if !candidate.changes.iter().any(|change| matches!(change, Change::Knob { .. })) {
        return None;
    }
    // The client's own code limits the rate, so the rate is left out of the library's settings.
    let text = crate::candidate::without_rate(&candidate.text);
    printed(&text, None).ok().filter(|printed| !printed.is_of_knobs).map(|printed| printed.settings)
}
