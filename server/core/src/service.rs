//! How many requests are served at once and how long that takes, as far as it is said by the server's own settings and not
//! by its policy's.

use std::time::Duration;

use vocabulary::{Distribution, Instant, Purpose, whole_nanos};

use crate::caps::Caps;
use crate::request::{Request, service_time};
use crate::schedule::Course;

/// The settings that policies may go by.
#[derive(Clone, Debug)]
pub(crate) struct ServiceModel {
    /// Slots before any of `caps`.
    pub(crate) max_busy: u32,
    pub(crate) caps: Caps,
    /// Slots on the run's clock, instead of both.
    pub(crate) course: Option<Box<Course>>,
    /// When the run began.
    pub(crate) began: Option<Instant>,
    pub(crate) service_time: Distribution,
    pub(crate) reject_time: Distribution,
    /// Whether a rejection counts as busy while it takes its time.
    pub(crate) rejects_occupy: bool,
}

impl ServiceModel {
    /// Slots at this instant.
    #[inline]
    pub(crate) fn slots(&self, at: Instant) -> u32 {
        if self.course.is_none() && self.caps.is_empty() { self.max_busy } else { self.slots_just_then(at) }
    }

    fn slots_just_then(&self, at: Instant) -> u32 {
        match &self.course {
            None => self.caps.at(at).unwrap_or(self.max_busy),
            Some(course) => {
                let elapsed = self.began.map_or(0, |began| whole_nanos(at.since(began)));
                course.whole(elapsed).unwrap_or(self.max_busy)
            }
        }
    }

    /// How long the service of this request takes: the same for every attempt of an op.
    pub(crate) fn service_time(&self, request: &Request) -> Duration {
        service_time(&self.service_time, request.seed, request.op)
    }

    /// How long its rejection takes.
    pub(crate) fn reject_time(&self, request: &Request) -> Duration {
        request.sample(&self.reject_time, Purpose::RejectTime)
    }
}
