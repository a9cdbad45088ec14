//! Budgets, one per file.

mod breaker;
mod retry_budget;

pub(crate) use breaker::BreakerConfig;
pub(crate) use retry_budget::RetryBudget;
