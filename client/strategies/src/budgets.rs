//! Budgets, one per file.

mod aws_quota;
mod breaker;
mod deposits;
mod envoy_admission;
mod envoy_budget;
mod failsafe_budget;
mod failsafe_throttle;
mod finagle_budget;
mod gax_breaker;
mod gax_throttle;
mod go_zero_breaker;
mod live;
mod ratio_breaker;
mod refusal;
mod retry_budget;
mod slices;
mod sre_throttle;
mod success_rate_breaker;
mod tally;
mod tower_budget;
mod when_open;

pub(crate) use aws_quota::AwsQuota;
pub(crate) use breaker::BreakerConfig;
pub(crate) use envoy_admission::EnvoyAdmission;
pub(crate) use envoy_budget::EnvoyBudget;
pub(crate) use failsafe_budget::FailsafeBudget;
pub(crate) use failsafe_throttle::FailsafeThrottle;
pub(crate) use finagle_budget::FinagleBudget;
pub(crate) use gax_breaker::GaxBreaker;
pub(crate) use gax_throttle::GaxThrottle;
pub(crate) use go_zero_breaker::GoZeroBreaker;
pub(crate) use ratio_breaker::RatioBreaker;
pub(crate) use retry_budget::RetryBudget;
pub(crate) use sre_throttle::SreThrottle;
pub(crate) use success_rate_breaker::SuccessRateBreaker;
pub(crate) use tower_budget::TowerBudget;
