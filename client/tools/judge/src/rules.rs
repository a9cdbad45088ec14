//! Registry of all rules. Each rule is in a file of its own.

pub(super) mod backoff_lost;
pub(super) mod body_changed;
pub(super) mod early_date;
pub(super) mod early_retry;
pub(super) mod endless;
pub(super) mod final_retried;
pub(super) mod gave_up;
pub(super) mod header_ignored;
pub(super) mod key_changed;
pub(super) mod no_backoff;
pub(super) mod no_jitter;
pub(super) mod not_retried;
pub(super) mod quota_retried;
pub(super) mod request_after_success;
pub(super) mod retry_without_key;
pub(super) mod unexpected_attempts;
pub(super) mod would_wait;
pub(super) mod write_repeated;

#[cfg(test)]
pub(super) mod testing;

use crate::rule::Rule;

/// All rules. Those that fail come first.
pub const RULES: [&Rule; 18] = [
    &early_retry::RULE,
    &final_retried::RULE,
    &write_repeated::RULE,
    &key_changed::RULE,
    &body_changed::RULE,
    &no_backoff::RULE,
    &unexpected_attempts::RULE,
    &early_date::RULE,
    &header_ignored::RULE,
    &would_wait::RULE,
    &backoff_lost::RULE,
    &quota_retried::RULE,
    &request_after_success::RULE,
    &no_jitter::RULE,
    &retry_without_key::RULE,
    &gave_up::RULE,
    &not_retried::RULE,
    &endless::RULE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Severity;

    #[test]
    fn rules_have_distinct_names_and_fails_come_first() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        assert!(RULES.is_sorted_by_key(|rule| rule.severity == Severity::Warn));
    }
}
