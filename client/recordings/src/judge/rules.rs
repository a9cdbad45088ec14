//! The rules, one file each. [`RULES`](super::rule::RULES) lists them.

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
pub(super) mod request_after_success;
pub(super) mod retry_without_key;
pub(super) mod write_repeated;

#[cfg(test)]
mod testing;
