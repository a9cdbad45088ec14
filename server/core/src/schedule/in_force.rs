//! A schedule in force: what has changed since somebody looked last.

use vocabulary::{Instant, WallTime, whole_nanos};

use super::courses::Courses;
use crate::config::Config;
use crate::policies::Stage;
use crate::policy_stack::Policies;

/// A schedule on the run's clock, with the policies as they are just now.
#[derive(Debug)]
pub(crate) struct InForce {
    courses: Courses,
    /// The calendar at the origin.
    anchor: WallTime,
    /// When the run began; nothing changes before.
    began: Option<Instant>,
    policies: Policies,
    /// When something changes next, in nanoseconds since the run began; by course: the cap's is the first.
    next: Vec<Option<u64>>,
}

/// Something has changed.
#[derive(Debug)]
pub(crate) enum Change {
    /// The server's own cap.
    Slots(Instant),
    /// The figures of a policy of the stack: they are those of this one, of which nobody holds anything.
    Stage(Instant, usize, Stage),
}

impl InForce {
    /// As it is at this instant of a run that began then, if it began. A schedule that the policies cannot follow is none:
    /// [`Config::validate`] refuses it.
    pub(crate) fn new(
        config: &Config,
        anchor: WallTime,
        began: Option<Instant>,
        at: Instant,
    ) -> Option<Self> {
        if config.schedule.is_empty() {
            return None;
        }
        let courses = config.schedule.courses(&config.policy).unwrap_or_default();
        let elapsed = elapsed(began, at);
        let mut policies = config.policy.clone();
        for parameter in &courses.parameters {
            if let Some(text) = parameter.course.text(elapsed)
                && let Ok(changed) = policies.with(parameter.stage, &parameter.key, &text)
            {
                policies = changed;
            }
        }
        let slots = courses.slots.as_ref().and_then(|course| course.next_after(elapsed));
        let parameters = courses.parameters.iter().map(|parameter| parameter.course.next_after(elapsed));
        let next = std::iter::once(slots).chain(parameters).collect();
        Some(Self { courses, anchor, began, policies, next })
    }

    /// The policies as they are just now.
    pub(crate) fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Whether the server is down.
    pub(crate) fn is_down(&self, at: Instant) -> bool {
        self.courses.is_down(elapsed(self.began, at))
    }

    /// When something changes next.
    pub(crate) fn next(&self) -> Option<Instant> {
        let began = self.began?;
        let next = self.next.iter().flatten().min()?;
        began.as_nanos().checked_add(*next).map(Instant::from_nanos)
    }

    /// What has changed by then, one after another in order of time.
    pub(crate) fn take_change(&mut self, at: Instant) -> Option<Change> {
        let now = elapsed(self.began, at);
        loop {
            let due = self.next.iter().enumerate().filter_map(|(index, next)| Some(((*next)?, index)));
            let (then, index) = due.min().filter(|(then, _)| *then <= now)?;
            let instant = Instant::from_nanos(self.began?.as_nanos() + then);
            if let Some(parameter) = index.checked_sub(1) {
                let stage = self.set(parameter, then, now);
                if let Some((stage, changed)) = stage {
                    return Some(Change::Stage(instant, stage, changed));
                }
            } else if let Some(slots) = &self.courses.slots {
                // Between two instants at which somebody looks only the latest cap counts.
                self.next[0] = slots.next_after(now);
                return Some(Change::Slots(at));
            }
        }
    }

    /// Sets a parameter to what it is then. The policy with it, if that is another.
    fn set(&mut self, index: usize, then: u64, now: u64) -> Option<(usize, Stage)> {
        let Self { courses, anchor, policies, next, .. } = self;
        let parameter = &courses.parameters[index];
        let (text, from) = match parameter.course.mean_until(then, now) {
            Some((mean, until)) => (Some(mean), Some(until)),
            None => (parameter.course.text(then), parameter.course.next_after(then)),
        };
        next[index + 1] = from;
        let changed = policies.with(parameter.stage, &parameter.key, &text?).ok()?;
        if changed == *policies {
            return None;
        }
        *policies = changed;
        Some((parameter.stage, policies.stage(parameter.stage, *anchor)?))
    }
}

fn elapsed(began: Option<Instant>, at: Instant) -> u64 {
    began.map_or(0, |began| whole_nanos(at.since(began)))
}
