//! Recorder of counts per time step: attempts sent, rejections and failures, first attempts of ops, successes, and the queue length.

use std::time::Duration;

use loadgen_core::Sample;
use results::Steps;
use tailback::Status;
use vocabulary::Instant;

use crate::recording::rounded::rounded;
use crate::scenario::Counted;

/// Maximum number of time steps. If a run needs more, the steps become wider.
const MAX_STEPS: usize = 6000;

pub(super) struct StepRecorder {
    wanted: Vec<Counted>,
    width_nanos: u64,
    counts: Vec<Step>,
}

#[derive(Clone, Copy, Default)]
struct Step {
    sent: u32,
    turned_away: u32,
    first: u32,
    succeeded: u32,
    /// Change of the queue length from the start to the end of the step.
    queue: i64,
}

impl StepRecorder {
    pub(super) fn new(step: Duration, wanted: &[Counted]) -> Self {
        const USUAL: [Counted; 4] = [Counted::Sent, Counted::TurnedAway, Counted::First, Counted::Queued];
        let wanted = if wanted.is_empty() { USUAL.to_vec() } else { wanted.to_vec() };
        let width_nanos = u64::try_from(step.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { wanted, width_nanos, counts: Vec::new() }
    }

    pub(super) fn note(&mut self, sample: &Sample) {
        let sent = self.at(sample.sent);
        sent.sent += 1;
        sent.first += u32::from(sample.attempt == 1);
        match sample.status {
            Status::Succeeded => {
                // An attempt that succeeds counts as queued from the time at which it is sent until it ends.
                sent.queue += 1;
                let ended = self.at(sample.ended);
                ended.succeeded += 1;
                ended.queue -= 1;
            }
            Status::Rejected | Status::Failed(_) => self.at(sample.ended).turned_away += 1,
            Status::Cancelled | Status::Shed | Status::Deferred => {}
        }
    }

    fn at(&mut self, at: Instant) -> &mut Step {
        while at.as_nanos() / self.width_nanos >= MAX_STEPS as u64 {
            self.width_nanos *= 2;
            self.counts = self.counts.chunks(2).map(Step::merged).collect();
        }
        let index = usize::try_from(at.as_nanos() / self.width_nanos).unwrap_or(MAX_STEPS - 1);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, Step::default());
        }
        &mut self.counts[index]
    }

    pub(super) fn finish(self) -> Steps {
        let mut queued = 0;
        let lengths = self.counts.iter().map(|step| {
            queued += step.queue;
            queued
        });
        let lengths: Vec<i64> = lengths.collect();
        let count = |counted: Counted, of: fn(&Step) -> u32| {
            let column = || self.counts.iter().map(|step| of(step).into()).collect();
            self.wanted.contains(&counted).then(column)
        };
        Steps {
            step_s: rounded(self.width_nanos as f64 / 1e9),
            sent: count(Counted::Sent, |step| step.sent),
            turned_away: count(Counted::TurnedAway, |step| step.turned_away),
            first: count(Counted::First, |step| step.first),
            succeeded: count(Counted::Succeeded, |step| step.succeeded),
            queued: self.wanted.contains(&Counted::Queued).then_some(lengths),
        }
    }
}

impl Step {
    fn merged(steps: &[Self]) -> Self {
        steps.iter().fold(Self::default(), |sum, step| Self {
            sent: sum.sent + step.sent,
            turned_away: sum.turned_away + step.turned_away,
            first: sum.first + step.first,
            succeeded: sum.succeeded + step.succeeded,
            queue: sum.queue + step.queue,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::testing::{rejected, sample};

    #[test]
    fn requests_count_when_sent_and_are_queued_until_success() {
        let mut steps = StepRecorder::new(Duration::from_millis(10), &[]);
        steps.note(&rejected(sample(1, 1, 10, 20)));
        steps.note(&sample(0, 1, 10, 40));
        steps.note(&sample(1, 2, 20, 50));
        let wanted = Steps {
            step_s: 0.01,
            sent: Some(vec![0, 2, 1, 0, 0, 0]),
            turned_away: Some(vec![0, 0, 1, 0, 0, 0]),
            first: Some(vec![0, 2, 0, 0, 0, 0]),
            succeeded: None,
            queued: Some(vec![0, 1, 2, 2, 1, 0]),
        };
        assert_eq!(steps.finish(), wanted);
    }

    #[test]
    fn steps_of_a_long_run_are_wider_and_lose_nothing() {
        let mut steps = StepRecorder::new(Duration::from_millis(1), &[Counted::Sent]);
        for op in 0..20_000 {
            steps.note(&sample(op, 1, op, op + 3));
        }
        let steps = steps.finish();
        let sent = steps.sent.unwrap();
        assert!(sent.len() <= MAX_STEPS && sent.iter().sum::<i64>() == 20_000);
        assert_eq!(steps.step_s.to_string(), "0.004");
    }
}
