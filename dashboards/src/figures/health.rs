//! Health of the load generator: whether the generator, rather than the strategy or the server, is the bottleneck.
//! Dashboards and the summary of a run decide this by the same rule.

use std::time::Duration;

use results::{Bottleneck, GeneratorLoad};

use crate::{Frame, text};

pub(crate) fn trouble(frame: &Frame, time_scale: f64) -> Option<String> {
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    let snapshot = &frame.snapshot;
    let load = GeneratorLoad {
        send_lag_ms: ms(GeneratorLoad::judged_lag(&snapshot.send_lag)),
        usual_attempt_ms: ms(snapshot.attempt_latency.quantile(0.5)),
        // A time scale of 0 means that the caller did not set a time scale, so 1 is used.
        time_scale: if time_scale > 0.0 { time_scale } else { 1.0 },
        cpu_share: Some(frame.generator.cpu_share),
        waited_for_connection: 0,
    };
    if let Some(bottleneck) = load.bottleneck() {
        let why = match bottleneck {
            Bottleneck::Late { late_ms, .. } => {
                format!("sends {} late at p99", text::duration(Duration::from_secs_f64(late_ms / 1e3)))
            }
            Bottleneck::Busy(share) => format!("cpu at {} of a core", text::whole_percent(share)),
        };
        return Some(format!("generator is the bottleneck: {why}"));
    }
    let distorted = snapshot.excess.intolerable()?;
    Some(format!("attempts too long by {} of the service time", text::whole_percent(distorted)))
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
        assert_eq!(trouble(&Frame::default(), 1.0), None);
        assert_eq!(trouble(&with_lag(Duration::from_micros(80)), 1.0), None);
        assert_eq!(
            trouble(&with_lag(Duration::from_millis(25)), 1.0).unwrap(),
            "generator is the bottleneck: sends 25 ms late at p99"
        );
        let mut busy = with_lag(Duration::from_micros(80));
        busy.generator.cpu_share = 0.99;
        assert_eq!(trouble(&busy, 1.0).unwrap(), "generator is the bottleneck: cpu at 99 % of a core");
    }

    #[test]
    fn one_late_send_before_the_first_answer_is_no_bottleneck() {
        let mut frame = Frame::default();
        frame.snapshot.send_lag.record(Duration::from_millis(25));
        assert_eq!(trouble(&frame, 1.0), None);
        (0..19).for_each(|_| frame.snapshot.send_lag.record(Duration::from_millis(5)));
        assert_eq!(trouble(&frame, 1.0), None);
    }

    #[test]
    fn screen_and_summary_say_the_same_at_the_same_figures() {
        // A send lag of 15 ms is negligible beside attempts of 600 ms, but not beside 50 ms. At time scale 0.1 it is
        // 1.5 ms of real time, which is negligible again.
        for (attempt_ms, time_scale, said) in [(600, 1.0, false), (50, 1.0, true), (50, 0.1, false)] {
            let mut frame = with_lag(Duration::from_millis(15));
            (0..200).for_each(|_| frame.snapshot.attempt_latency.record(Duration::from_millis(attempt_ms)));
            let load = GeneratorLoad {
                send_lag_ms: 15.0,
                usual_attempt_ms: attempt_ms as f64,
                time_scale,
                ..GeneratorLoad::default()
            };
            assert_eq!(load.bottleneck().is_some(), said, "{attempt_ms} {time_scale}");
            assert_eq!(trouble(&frame, time_scale).is_some(), said, "{attempt_ms} {time_scale}");
        }
    }

    #[test]
    fn attempts_that_the_machine_makes_longer_are_named() {
        let config = RunConfig { mean_service: Some(Duration::from_millis(5)), ..RunConfig::default() };
        let mut measured = Measurements::new(&config);
        let due = Instant::from_millis(7);
        (0..200).for_each(|_| measured.on_answer_due(due, due + Duration::from_micros(500)));
        let mut frame = Frame::default();
        frame.snapshot.excess = measured.excess;
        assert_eq!(trouble(&frame, 1.0).unwrap(), "attempts too long by 10 % of the service time");
    }
}
