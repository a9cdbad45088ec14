//! Convergence of the clients' windows, summed over all clients, to the server's cap. The figures show how soon the sum converged, how far
//! the cap was exceeded, and how steady the sum was.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use vocabulary::Instant;

use super::convergence::{Convergence, NEAR};

/// Development over time of the sum of all windows and of the server's cap. It takes constant memory, however long the run is.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowCourse {
    window: Option<f64>,
    /// Instant up to which `area` and `area_of_squares` have been computed, the integrals of the window over time.
    since: Instant,
    cap: Option<f64>,
    /// Integrals of the window W and of its square over time (∫ W dt and ∫ W² dt), and the total time with a window. Time is measured in
    /// seconds.
    area: f64,
    area_of_squares: f64,
    lasted_s: f64,
    cuts: u64,
    convergence: Convergence,
    rejected: u64,
    most_in_flight: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct WindowFigures {
    pub convergence_s: Option<f64>,
    pub overshoot: Option<f64>,
    pub rejected_before_convergence: u64,
    pub mean: Option<f64>,
    pub sd: Option<f64>,
    pub variation: Option<f64>,
    pub cuts: Option<u64>,
    pub cuts_per_min: Option<f64>,
}

impl WindowCourse {
    pub(crate) fn new(undisturbed_attempt: Duration) -> Self {
        let convergence = Convergence::new(undisturbed_attempt.saturating_mul(5));
        Self { convergence, ..Self::default() }
    }

    pub(crate) fn on_window(&mut self, at: Instant, window: f64) {
        self.pass(at);
        self.cuts += u64::from(self.window.is_some_and(|before| window < before));
        self.window = Some(window);
        self.judge();
    }

    /// Records the concurrency cap that the server's answer reported at `at`; `None` if the server does not count
    /// slots.
    pub(crate) fn on_cap(&mut self, at: Instant, cap: Option<u32>) {
        let cap = cap.map(f64::from);
        if self.cap == cap {
            return;
        }
        // The first reported cap is assumed to have applied from the start. When a different cap is reported later, the period in which the
        // window was near the cap ends.
        if self.cap.is_some() {
            self.pass(at);
        }
        self.cap = cap;
        self.convergence.fits_since = None;
        self.judge();
    }

    pub(crate) fn on_sent(&mut self, in_flight: u64) {
        self.most_in_flight = self.most_in_flight.max(in_flight);
    }

    pub(crate) fn on_rejected(&mut self) {
        self.rejected += 1;
    }

    pub(crate) fn figures(&self, first_arrival: Option<Instant>, end: Option<Instant>) -> WindowFigures {
        let mut course = self.clone();
        course.pass(end.unwrap_or(self.since));
        let known = course.window.is_some() && course.lasted_s > 0.0;
        let mean = known.then(|| course.area / course.lasted_s);
        // The mean of squares minus the square of the mean may be slightly negative because of rounding, if both terms are nearly equal.
        let sd = mean.map(|mean| (course.area_of_squares / course.lasted_s - mean * mean).max(0.0).sqrt());
        let converged = course.convergence.converged;
        WindowFigures {
            convergence_s: converged.map(|fit| fit.s_after(first_arrival)),
            overshoot: course.cap.map(|cap| (course.most_in_flight as f64 - cap).max(0.0)),
            rejected_before_convergence: converged.map_or(course.rejected, |fit| fit.rejected_before),
            mean,
            sd,
            variation: mean.zip(sd).filter(|(mean, _)| *mean > 0.0).map(|(mean, sd)| sd / mean),
            cuts: known.then_some(course.cuts),
            cuts_per_min: known.then(|| course.cuts as f64 * 60.0 / course.lasted_s),
        }
    }

    fn pass(&mut self, at: Instant) {
        let lasted = at.since(self.since);
        if let Some(window) = self.window {
            let lasted_s = lasted.as_secs_f64();
            self.area += window * lasted_s;
            self.area_of_squares += window * window * lasted_s;
            self.lasted_s += lasted_s;
        }
        self.since = self.since.max(at);
        self.convergence.reach(self.since);
    }

    fn judge(&mut self) {
        let fits = self.window.zip(self.cap).is_some_and(|(window, cap)| (window - cap).abs() <= NEAR * cap);
        self.convergence.judge(self.since, fits, self.rejected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn course(windows: &[(u64, f64)]) -> WindowCourse {
        let mut course = WindowCourse::new(Duration::from_millis(100));
        course.on_cap(at(0), Some(10));
        for (ms, window) in windows {
            course.on_window(at(*ms), *window);
        }
        course
    }

    #[test]
    fn a_window_converges_when_it_has_fitted_for_five_attempts() {
        let course = course(&[(0, 2.0), (100, 9.5), (200, 13.0), (300, 9.0), (500, 11.0), (700, 10.0)]);
        let figures = |end| course.figures(Some(at(50)), Some(at(end)));
        assert_eq!(figures(799).convergence_s, None);
        assert_eq!(figures(800).convergence_s, Some(0.25));
    }

    #[test]
    fn what_fitted_when_the_cap_became_known_fitted_before() {
        let mut course = WindowCourse::new(Duration::from_millis(10));
        course.on_window(at(0), 10.0);
        course.on_rejected();
        course.on_cap(at(40), Some(10));
        let figures = course.figures(Some(at(0)), Some(at(60)));
        assert_eq!((figures.convergence_s, figures.rejected_before_convergence), (Some(0.0), 1));
        // The result stays when the cap changes, although no window was reported since.
        course.on_cap(at(70), Some(40));
        assert_eq!(course.figures(Some(at(0)), Some(at(90))).convergence_s, Some(0.0));
    }

    #[test]
    fn mean_and_spread_are_weighted_by_time() {
        let figures = course(&[(0, 4.0), (300, 8.0)]).figures(Some(at(0)), Some(at(400)));
        assert_eq!((figures.mean, figures.cuts), (Some(5.0), Some(0)));
        assert!((figures.sd.unwrap() - 3.0_f64.sqrt()).abs() < 1e-12, "{figures:?}");
        let figures = course(&[(0, 8.0), (500, 4.0)]).figures(Some(at(0)), Some(at(1000)));
        assert_eq!((figures.cuts, figures.cuts_per_min), (Some(1), Some(60.0)));
    }

    #[test]
    fn without_a_window_there_is_overshoot_and_nothing_else() {
        let mut course = course(&[]);
        course.on_sent(7);
        course.on_sent(35);
        course.on_rejected();
        let figures = course.figures(Some(at(0)), Some(at(400)));
        let expected = WindowFigures { overshoot: Some(25.0), rejected_before_convergence: 1, ..figures };
        assert_eq!(figures, expected);
        assert_eq!((figures.mean, figures.cuts, figures.convergence_s), (None, None, None));
    }

    #[test]
    fn a_client_below_the_cap_does_not_overshoot() {
        let mut course = course(&[]);
        course.on_sent(7);
        assert_eq!(course.figures(Some(at(0)), Some(at(400))).overshoot, Some(0.0));
    }
}
