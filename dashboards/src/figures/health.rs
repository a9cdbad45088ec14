//! Whether the generator itself, and not the strategy or the server, holds things up.

use std::fmt;
use std::time::Duration;

use crate::Frame;
use crate::text;

/// Sends that run later than this at the 99th percentile distort the experiment.
const TOLERABLE_LAG: Duration = Duration::from_millis(10);

/// A core is as good as full from this share on.
const FULL_CORE: f64 = 0.95;

/// Lags are not judged before there are this many.
const FEWEST_LAGS: u64 = 100;

/// Why the generator is the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bottleneck {
    /// Attempts are sent this late (99th percentile).
    Late(Duration),
    /// It uses this much of a core.
    Busy(f64),
    /// Attempts take longer than the experiment has them, by this share of the service time.
    Distorting(f64),
}

/// The reason when the generator is the bottleneck.
pub(crate) fn bottleneck(frame: &Frame) -> Option<Bottleneck> {
    let lag = &frame.snapshot.send_lag;
    let late = lag.quantile(0.99);
    match frame.generator.cpu_share {
        _ if lag.count() >= FEWEST_LAGS && late > TOLERABLE_LAG => Some(Bottleneck::Late(late)),
        share if share > FULL_CORE => Some(Bottleneck::Busy(share)),
        _ => frame.snapshot.excess.intolerable().map(Bottleneck::Distorting),
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late(lag) => write!(f, "sends {} late at p99", text::duration(*lag)),
            Self::Busy(share) => write!(f, "cpu at {} of a core", text::whole_percent(*share)),
            Self::Distorting(share) => {
                write!(f, "attempts {} of the service time too long", text::whole_percent(*share))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use loadgen_core::{Measurements, RunConfig};
    use vocabulary::Instant;

    use super::*;

    fn with_lag(lag: Duration) -> Frame {
        let mut frame = Frame::default();
        (0..200).for_each(|_| frame.snapshot.send_lag.record(lag));
        frame
    }

    #[test]
    fn late_sends_and_a_full_core_are_named() {
        assert_eq!(bottleneck(&Frame::default()), None);
        assert_eq!(bottleneck(&with_lag(Duration::from_micros(80))), None);
        assert_eq!(
            bottleneck(&with_lag(Duration::from_millis(25))).unwrap().to_string(),
            "sends 25 ms late at p99"
        );
        let mut busy = with_lag(Duration::from_micros(80));
        busy.generator.cpu_share = 0.99;
        assert_eq!(bottleneck(&busy).unwrap().to_string(), "cpu at 99 % of a core");
    }

    #[test]
    fn attempts_that_the_machine_makes_longer_are_named() {
        let config = RunConfig { mean_service: Some(Duration::from_millis(5)), ..RunConfig::default() };
        let mut measured = Measurements::new(&config);
        let due = Instant::from_millis(7);
        (0..200).for_each(|_| measured.on_answer_due(due, due + Duration::from_micros(500)));
        let mut frame = Frame::default();
        frame.snapshot.excess = measured.excess;
        assert_eq!(bottleneck(&frame).unwrap().to_string(), "attempts 10 % of the service time too long");
    }
}
