//! `fixed-window`: a fixed maximum of attempts in flight, whatever their outcome.
//!
//! Source: the *bulkhead* of client libraries, which limits concurrent calls. It is the right choice for a client that
//! knows the server's concurrency limit.

use crate::part_config::part;
use crate::{Gauges, Limiter};
use vocabulary::parameters;

parameters! {
    pub(crate) struct FixedWindow = "fixed-window" {
        window: u32 = 50, "maximum number of attempts in flight", 1..=u32::MAX;
    }
    summary = "limits attempts in flight to a fixed number";
    rule = "an attempt may start while fewer than window are in flight";
    source = "common practice, also known as bulkhead";
}

part!(FixedWindow: Limiter, |config, _| config);

impl Limiter for FixedWindow {
    fn is_full(&self, in_flight: u32) -> bool {
        in_flight >= self.window
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(f64::from(self.window));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{REJECTED, ended, view};
    use crate::{Admit, Instant, Until};

    #[test]
    fn the_window_is_full_at_its_size() {
        let limiter = FixedWindow { window: 3 };
        assert_eq!(limiter.poll(Instant::ORIGIN, &view(2, 0)), Admit::Go);
        assert_eq!(limiter.poll(Instant::ORIGIN, &view(3, 0)), Admit::Wait(Until::Event));
    }

    #[test]
    fn rejections_do_not_move_it() {
        let mut limiter = FixedWindow::default();
        limiter.on_ended(Instant::ORIGIN, &ended(0, 50), &REJECTED);
        let mut gauges = Gauges::default();
        limiter.report(&mut gauges);
        assert_eq!(gauges.window, Some(50.0));
    }
}
