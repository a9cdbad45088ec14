//! Budgets, one per file.

mod retry_budget;

pub(crate) use retry_budget::RetryBudget;
