//! Budgets, one per file.

mod aws_quota;
mod breaker;
mod deposits;
mod envoy_budget;
mod failsafe_budget;
mod finagle_budget;
mod live;
mod retry_budget;
mod tower_budget;

pub(crate) use aws_quota::AwsQuota;
pub(crate) use breaker::BreakerConfig;
pub(crate) use envoy_budget::EnvoyBudget;
pub(crate) use failsafe_budget::FailsafeBudget;
pub(crate) use finagle_budget::FinagleBudget;
pub(crate) use retry_budget::RetryBudget;
pub(crate) use tower_budget::TowerBudget;
