//! Budgets, one per file.

mod aws_quota;
mod breaker;
mod retry_budget;

pub(crate) use aws_quota::AwsQuota;
pub(crate) use breaker::BreakerConfig;
pub(crate) use retry_budget::RetryBudget;
