//! Accuracy of the retry advice in answers: exact, too early, too late, randomly off, omitted or malformed. The random draws of each advice
//! form depend only on seed, op and attempt.

use std::time::Duration;

use vocabulary::{Draws, Purpose, Rng, draws, unit};

use super::super::response_context::ResponseContext;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AdviceAccuracy {
    /// Time by which the advised wait is shortened. The resulting wait is at least zero.
    pub(super) early: Duration,
    pub(super) late: Duration,
    /// Maximum of the random time that is added to the exact wait. The random time is uniformly distributed from zero to this maximum.
    pub(super) jitter: Duration,
    /// Share of the answers that contain the retry advice, 0 to 1.
    pub(super) share: f64,
    /// Share of the sent retry advice that is malformed, 0 to 1.
    pub(super) malformed: f64,
}

impl Default for AdviceAccuracy {
    fn default() -> Self {
        let zero = Duration::ZERO;
        Self { early: zero, late: zero, jitter: zero, share: 1.0, malformed: 0.0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfAnswer {
    pub(super) speaks: bool,
    /// Malformed value that the server sends in place of correct retry advice. `None` if the server sends well-formed advice.
    pub(super) nonsense: Option<&'static str>,
    later: Duration,
    early: Duration,
}

/// Values that are invalid in every form of retry advice. Broken servers send values like these.
const NONSENSE: [&str; 8] = [
    "",
    "soon",
    "1.2.3",
    "2 minutes",
    "0x1e",
    "null",
    "Thu, 32 Foo 2026 25:61:61 GMT",
    "2026-13-32T25:61:61Z",
];

/// Number of random draws that each form of retry advice uses per answer.
const DRAWS: usize = 4;

impl AdviceAccuracy {
    /// Draws at random the inaccuracy of one form of retry advice in one answer. `form` is the index of the form of advice. Each form uses
    /// its own random draws, so the draws of other forms do not affect it.
    pub(super) fn of_answer(&self, form: usize, context: &ResponseContext<'_>) -> OfAnswer {
        let mut honesty = OfAnswer { speaks: true, nonsense: None, later: self.late, early: self.early };
        if self.share >= 1.0 && self.malformed <= 0.0 && self.jitter.is_zero() {
            return honesty;
        }
        let mut rng: Draws = draws(context.seed, Purpose::Advice, context.op, context.attempt);
        for _ in 0..form * DRAWS {
            rng.next_u64();
        }
        let (share, malformed, which, jitter) =
            (unit(&mut rng), unit(&mut rng), rng.next_u64(), unit(&mut rng));
        honesty.speaks = share < self.share;
        if malformed < self.malformed {
            honesty.nonsense = usize::try_from(which % 8).ok().and_then(|index| NONSENSE.get(index)).copied();
        }
        let jitter = vocabulary::nanos(self.jitter.as_nanos() as f64 * jitter);
        honesty.later = honesty.later.saturating_add(jitter);
        honesty
    }
}

impl OfAnswer {
    pub(super) fn wait(&self, exact: Duration) -> Duration {
        exact.saturating_add(self.later).saturating_sub(self.early)
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::Instant;

    use super::super::super::Outcome;
    use super::*;

    fn of_answers(honesty: AdviceAccuracy, form: usize) -> Vec<OfAnswer> {
        let context = |op| ResponseContext {
            outcome: Outcome::Accepted,
            now: Instant::ORIGIN,
            decided_at: Instant::ORIGIN,
            limit_statuses: &[],
            seed: 7,
            op,
            attempt: 1,
        };
        (0..1000).map(|op| honesty.of_answer(form, &context(op))).collect()
    }

    #[test]
    fn what_is_drawn_has_its_share_and_differs_by_form() {
        let honesty = AdviceAccuracy { share: 0.7, malformed: 0.1, ..AdviceAccuracy::default() };
        let first = of_answers(honesty, 0);
        let spoken = first.iter().filter(|of| of.speaks).count();
        let malformed = first.iter().filter(|of| of.nonsense.is_some()).count();
        assert!((650..750).contains(&spoken) && (70..130).contains(&malformed), "{spoken} {malformed}");
        assert_eq!(first, of_answers(honesty, 0));
        assert_ne!(first, of_answers(honesty, 1));
        let never = of_answers(AdviceAccuracy { share: 0.0, ..honesty }, 0);
        assert!(never.iter().all(|of| !of.speaks));
        let always = of_answers(AdviceAccuracy { malformed: 1.0, ..honesty }, 0);
        assert!(always.iter().all(|of| of.nonsense.is_some()));
    }

    #[test]
    fn waits_are_off_by_the_configured_error() {
        let second = Duration::from_secs(1);
        let wait = |honesty| of_answers(honesty, 0)[0].wait(Duration::from_secs(5));
        assert_eq!(wait(AdviceAccuracy::default()), 5 * second);
        assert_eq!(wait(AdviceAccuracy { early: 2 * second, ..AdviceAccuracy::default() }), 3 * second);
        assert_eq!(wait(AdviceAccuracy { early: 9 * second, ..AdviceAccuracy::default() }), Duration::ZERO);
        assert_eq!(wait(AdviceAccuracy { late: second, ..AdviceAccuracy::default() }), 6 * second);
        let jittered = of_answers(AdviceAccuracy { jitter: second, ..AdviceAccuracy::default() }, 0);
        let waits: Vec<Duration> = jittered.iter().map(|of| of.wait(Duration::ZERO)).collect();
        assert!(waits.iter().all(|wait| *wait <= second));
        let mean = waits.iter().sum::<Duration>() / 1000;
        assert!((480..520).contains(&mean.as_millis()), "{mean:?}");
    }
}
