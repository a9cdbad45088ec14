//! Checks of results: against conditions that must not hold, and against a saved baseline.

mod baseline;
mod change;
mod condition;
mod finding;
mod subject;

pub use baseline::{counterparts, refuse_foreign, refuse_other};
pub use change::{Change, ChangeKind, changes};
pub use condition::{Condition, Operator, Share};
pub use finding::{Finding, asked_for, judge, refuse_absent, refuse_unknown};
pub use subject::Subject;
