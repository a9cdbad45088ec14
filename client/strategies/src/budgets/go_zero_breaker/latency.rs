//! Latency rule of go-zero's breaker: refuses launches while answers take much longer than usual.
//!
//! Source: zeromicro/go-zero#5366, `core/breaker/googlebreaker.go` (`calcLatencyRatio`, `updateBaselineLatency`,
//! `updateCurrentLatency`). Values are whole microseconds, truncated at each step as in the source.

use std::time::Duration;

/// Multiple of the usual latency. While the current latency is below this multiple, no launch is refused because of
/// latency.
const ACTIVATION: u64 = 3;
/// Share of the request timeout, as a fraction. If the current latency reaches this share, the probability of refusal
/// is at its maximum.
const CEILING: f64 = 0.95;
/// Weight of a new latency in the usual latency, which is a moving average. The weight is `DECAY` if the new latency is
/// shorter than the usual one, and otherwise `RISE`.
const DECAY: f64 = 0.25;
const RISE: f64 = 0.01;
/// Weight of a new latency in the current latency, which is a moving average.
const CURRENT: f64 = 0.25;
/// Maximum probability that a launch is refused because answers are slow.
const MOST: f64 = 0.3;

/// Timeout of a request, and usual and current latency of successes, all in whole microseconds. A latency of 0 means
/// that no latency has been measured yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latency {
    timeout: u64,
    usual: u64,
    current: u64,
}

impl Latency {
    /// Creates the latency rule. A timeout of zero turns the rule off.
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout: whole_micros(timeout), ..Self::default() }
    }

    /// Records the latency of a successful attempt.
    pub(super) fn on_answer(&mut self, latency: Duration) {
        let latency = whole_micros(latency);
        if self.timeout == 0 || latency == 0 {
            return;
        }
        let share = if latency < self.usual { DECAY } else { RISE };
        self.usual = mixed(self.usual, latency, share);
        self.current = mixed(self.current, latency, CURRENT);
    }

    pub(super) fn refusal(&self) -> f64 {
        let threshold = self.usual.saturating_mul(ACTIVATION);
        let ceiling = cut(self.timeout as f64 * CEILING);
        if self.usual == 0 || self.current < threshold || ceiling <= threshold {
            return 0.0;
        }
        let way = (self.current - threshold) as f64 / (ceiling - threshold) as f64;
        way.min(1.0) * MOST
    }
}

fn mixed(old: u64, new: u64, share: f64) -> u64 {
    if old == 0 { new } else { cut(share * new as f64 + (1.0 - share) * old as f64) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut, as Go does; it is not below 0"
)]
fn cut(micros: f64) -> u64 {
    micros as u64
}

fn whole_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(timeout_ms: u64, answers_us: &[u64]) -> Latency {
        let mut latency = Latency::new(Duration::from_millis(timeout_ms));
        for answer in answers_us {
            latency.on_answer(Duration::from_micros(*answer));
        }
        latency
    }

    /// go-zero, `TestLatencyAwareBreaker`: baseline and current latency.
    #[test]
    fn what_is_usual_falls_fast_and_rises_slowly() {
        assert_eq!(latency(1000, &[1000, 500]).usual, 875);
        assert_eq!(latency(1000, &[1000, 2000]).usual, 1010);
        assert_eq!(latency(1000, &[1000, 2000]).current, 1250);
        assert_eq!(latency(1000, &[1000, 2000, 1000]).current, 1187);
        let off = latency(0, &[1000]);
        assert_eq!((off.usual, off.current), (0, 0));
        let mut answers = [10_000; 20];
        answers[10..].fill(50_000);
        let risen = latency(1000, &answers);
        assert!((10_001..15_000).contains(&risen.usual) && risen.current > 40_000, "{risen:?}");
    }

    /// go-zero, `TestLatencyAwareBreaker`: latency ratio calculation, invalid state, latency-based rejection.
    #[test]
    fn the_nearer_the_timeout_the_more_is_refused() {
        let refusal = |usual, current| Latency { timeout: 1_000_000, usual, current }.refusal();
        for (usual, current, wanted) in [
            (10_000, 20_000, 0.0),
            (10_000, 50_000, 20_000.0 / 920_000.0 * 0.3),
            (10_000, 800_000, 770_000.0 / 920_000.0 * 0.3),
            (10_000, 1_000_000, 0.3),
            (0, 50_000, 0.0),
            (500_000, 600_000, 0.0),
        ] {
            assert!((refusal(usual, current) - wanted).abs() < 1e-12, "{usual}, {current}");
        }
        let mut answers = [1000; 30];
        answers[10..].fill(80_000);
        let late = latency(100, &answers);
        assert!(late.current > 50_000 && late.refusal() > 0.15, "{late:?}");
    }
}
