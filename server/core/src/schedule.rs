//! Schedule of a run: the server's cap, the figures of its policies and its outages as functions of time.
//!
//! A schedule is written for example `0s max-busy=50; 10s max-busy=20; 20s down; 30s..40s max-busy=20..80; 40s..
//! primary.rate=50+30*sin(20s)`. The times are counted from the start of the run. Continuous changes happen in steps. A value therefore
//! depends only on the time, and the work per request is bounded: see [`trajectory`].

mod entry;
mod in_force;
mod quantity;
mod text;
mod trajectories;
mod trajectory;
mod value;

pub(crate) use entry::Target;
pub(crate) use in_force::{Change, InForce};
pub(crate) use quantity::Quantity;
pub use text::{Schedule, ScheduleError};
pub(crate) use trajectories::Courses;
pub(crate) use trajectory::Trajectory;
