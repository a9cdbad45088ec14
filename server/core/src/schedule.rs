//! Capacity over time: what a server's cap and its policies' figures are at which time of the run, and when it is down.
//!
//! Written `0s max-busy=50; 10s max-busy=20; 20s down; 30s..40s max-busy=20..80; 40s.. primary.rate=50+30*sin(20s)`. Times are those of the
//! clock of the run. What changes all the time changes in steps, so that a request meets a value that depends
//! on the time only, and bounded work: see [`course`].

mod course;
mod courses;
mod entry;
mod in_force;
mod quantity;
mod text;
mod value;

pub(crate) use course::Course;
pub(crate) use courses::Courses;
pub(crate) use entry::Target;
pub(crate) use in_force::{Change, InForce};
pub(crate) use quantity::Quantity;
pub use text::{Schedule, ScheduleError};
