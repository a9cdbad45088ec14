//! Smoothing of events to a rate that is calm to look at.
//!
//! Servers answer in waves: slots that were filled together become free together, one service time later. A plain
//! average over a window contains two waves at some times and three at others. So the average rises and falls, although
//! the rate is constant.
//!
//! A bell-shaped kernel avoids this beat, because it gives close events more weight and ends softly. The kernel is
//! Hann's window (F. J. Harris, "On the Use of Windows for Harmonic Analysis", 1978). If waves are shorter than half of
//! the window, less than a hundredth of the waves remains.

use std::f64::consts::TAU;

/// Number of waves of responses over which rates are smoothed.
pub(crate) const WAVES: f64 = 2.0;

/// Smoothing weights around zero. The weights add up to one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GaussianKernel {
    /// Width of the base of the bell-shaped smoothing kernel. A rectangular window of the same height and weight is
    /// half as wide.
    width: f64,
}

impl GaussianKernel {
    pub(crate) fn new(width: f64) -> Self {
        Self { width: 2.0 * width }
    }

    pub(crate) fn reach(self) -> f64 {
        self.width / 2.0
    }

    pub(crate) fn between(self, from: f64, to: f64) -> f64 {
        self.until(to) - self.until(from)
    }

    fn until(self, to: f64) -> f64 {
        let share = (to / self.width).clamp(-0.5, 0.5);
        share + 0.5 + (TAU * share).sin() / TAU
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_come_to_one_and_are_even() {
        let bell = GaussianKernel::new(1.2);
        assert!((bell.between(-9.0, 9.0) - 1.0).abs() < 1e-12);
        assert!((bell.between(-9.0, 0.0) - 0.5).abs() < 1e-12);
        assert!((bell.between(-0.6, 0.6) - bell.between(-1.2, -0.6) * 2.0) > 0.5, "the middle counts most");
        assert!(bell.between(bell.reach(), 9.0).abs() < 1e-12);
    }
}
