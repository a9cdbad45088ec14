//! State of a schedule during the run: the current policies, and the next changes.

use vocabulary::{Instant, WallTime, whole_nanos};

use super::trajectories::Courses;
use crate::policies::Stage;
use crate::{Config, Policies};

#[derive(Debug)]
pub(crate) struct InForce {
    courses: Courses,
    anchor: WallTime,
    /// Instant at which the run began; `None` if the run has not begun. Nothing changes before the run begins.
    began: Option<Instant>,
    policies: Policies,
    /// Time of the next change of each scheduled value, in nanoseconds since the run began. The first entry is for the cap, the other
    /// entries are for parameters of policies.
    next: Vec<Option<u64>>,
}

#[derive(Debug)]
pub(crate) enum Change {
    Slots(Instant),
    /// Parameters of the policy with this index have changed. The [`Stage`] has the new parameters and the initial state.
    Stage(Instant, usize, Stage),
}

impl InForce {
    /// Creates the state of the schedule at the instant `at`, for a run that began at `began`. `began` is `None` if the run has not begun.
    /// Values that do not fit the policies are skipped; [`Config::validate`] rejects such a configuration.
    pub(crate) fn new(
        config: &Config,
        anchor: WallTime,
        began: Option<Instant>,
        at: Instant,
    ) -> Option<Self> {
        if config.schedule.is_empty() {
            return None;
        }
        let courses = config.courses();
        let elapsed = elapsed(began, at);
        let mut policies = config.policy.clone();
        for stage in courses.changed() {
            if let Ok(changed) = policies.with_all(stage, &courses.texts(stage, elapsed)) {
                policies = changed;
            }
        }
        let slots = courses.slots.as_ref().and_then(|course| course.next_after(elapsed));
        let parameters = courses.parameters.iter().map(|parameter| parameter.course.next_after(elapsed));
        let next = std::iter::once(slots).chain(parameters).collect();
        Some(Self { courses, anchor, began, policies, next })
    }

    pub(crate) fn policies(&self) -> &Policies {
        &self.policies
    }

    pub(crate) fn is_down(&self, at: Instant) -> bool {
        self.courses.is_down(elapsed(self.began, at))
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        let began = self.began?;
        let next = self.next.iter().flatten().min()?;
        began.as_nanos().checked_add(*next).map(Instant::from_nanos)
    }

    /// Returns the next change of the schedule that is due by `at`, and marks it as done. Changes are returned in order of time.
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
                // If several changes of the cap are due, only the latest matters.
                self.next[0] = slots.next_after(now);
                return Some(Change::Slots(at));
            }
        }
    }

    /// Sets a parameter of a policy to the value that it has at the time `then`. Returns the index of the policy, and the policy as a stage
    /// with the new value. `None` if nothing changed.
    fn set(&mut self, index: usize, then: u64, now: u64) -> Option<(usize, Stage)> {
        let Self { courses, anchor, policies, next, .. } = self;
        let parameter = &courses.parameters[index];
        let (text, from) = match parameter.course.mean_until(then, now) {
            Some((mean, until)) => (Some(mean), Some(until)),
            None => (parameter.course.text(then), parameter.course.next_after(then)),
        };
        next[index + 1] = from;
        // First tries the new value alone. If the result is not valid, sets all scheduled parameters of the policy to their values at this
        // instant. The values may be valid only together.
        let alone = policies.with(parameter.stage, &parameter.key, &text?);
        let changed = alone
            .or_else(|_| policies.with_all(parameter.stage, &courses.texts(parameter.stage, then)))
            .ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_fit_only_together_are_set_together() {
        let schedule = "1s growing-rate.most=50; 1s growing-rate.start=5";
        let policy = "growing-rate:start=100,most=1000".parse().unwrap();
        let config = Config { policy, schedule: schedule.parse().unwrap(), ..Config::default() };
        assert_eq!(config.validate(), Ok(()));
        let began = Some(Instant::ORIGIN);
        let in_force = |at| InForce::new(&config, WallTime::VIRTUAL_START, began, at).unwrap();
        let end = Instant::from_millis(1500);
        let mut followed = in_force(Instant::ORIGIN);
        while followed.take_change(end).is_some() {}
        for policies in [followed.policies(), in_force(end).policies()] {
            let text = policies.to_string();
            assert!(text.contains("start=5,") && text.contains("most=50,"), "{text}");
        }
    }
}
