//! A candidate's changes as users write them: the library's settings, or words.

use experiments::recommend::{Candidate, Change};
use results::{RecommendedSetting, SettingOf};
use tailback::Knob;

use crate::commands::strategies::settings::printed;

/// Returns the changes of a candidate in words, such as `OpenAI(max_retries=5)` or `8 workers`.
pub(super) fn changes(candidate: &Candidate) -> Vec<RecommendedSetting> {
    candidate.changes.iter().map(of_change).collect()
}

fn of_change(change: &Change) -> RecommendedSetting {
    let (of, text) = match change {
        Change::Knob { knob, value } => (SettingOf::Library, of_knob(knob, value)),
        Change::Strategy(text) => (SettingOf::Strategy, text.clone()),
        Change::Workers(1) => (SettingOf::Workers, "1 worker".to_owned()),
        Change::Workers(workers) => (SettingOf::Workers, format!("{workers} workers")),
        Change::Rate(rate) => (SettingOf::Rate, format!("at most {} requests/s", rate.per_s)),
    };
    RecommendedSetting { of, text }
}

fn of_knob(knob: &Knob, value: &str) -> String {
    match (knob.setting_of(value), &knob.parameter) {
        (Some(setting), _) => setting,
        (None, Some(parameter)) => format!("{parameter}={value}"),
        (None, None) => value.to_owned(),
    }
}

/// Returns the settings of the library as `loadgen strategies S --print-settings` prints them. `None` if no setting changes for which a
/// format is known.
pub(super) fn written(candidate: &Candidate) -> Option<String> {
    let changed = |change: &Change| matches!(change, Change::Knob { knob, .. } if knob.setting.is_none());
    if !candidate.changes.iter().any(changed) {
        return None;
    }
    // The client's own code limits the rate, so the rate is left out of the library's settings.
    let text = experiments::recommend::without_rate(&candidate.text);
    printed(&text, None).ok().map(|printed| printed.settings)
}
