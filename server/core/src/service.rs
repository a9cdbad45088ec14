//! Slots and service times that follow from the server's own settings. A policy may have its own slots and service times instead.

use std::time::Duration;

use vocabulary::{Distribution, Instant, Purpose, whole_nanos};

use crate::request::service_time;
use crate::schedule::Trajectory;
use crate::{Caps, Request};

#[derive(Clone, Debug)]
pub(crate) struct ServiceModel {
    /// Number of slots that applies before the first change in `caps`.
    pub(crate) max_busy: u32,
    pub(crate) caps: Caps,
    /// Number of slots as a function of the run's time. If set, this function replaces `max_busy` and `caps`.
    pub(crate) course: Option<Box<Trajectory>>,
    pub(crate) began: Option<Instant>,
    pub(crate) service_time: Distribution,
    pub(crate) reject_time: Distribution,
    pub(crate) rejects_occupy: bool,
}

impl ServiceModel {
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

    pub(crate) fn service_time(&self, request: &Request) -> Duration {
        service_time(&self.service_time, request.seed, request.op)
    }

    pub(crate) fn reject_time(&self, request: &Request) -> Duration {
        request.sample(&self.reject_time, Purpose::RejectTime)
    }
}
