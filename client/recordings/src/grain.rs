//! Measurement precision of recorders. Recorded delays differ from the client's real ones by up to this precision.

/// Measurement precision of a recorder. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grain {
    /// Resolution: recorded delays are whole multiples of this step. 0 if the recorder measured real time.
    step: f64,
    /// Shortest delay that the recorder can measure.
    least: f64,
    /// Maximum excess of a recorded delay over the client's delay. The share `above_ratio` is added to it.
    above: f64,
    /// Maximum excess as a share of the delay, for timers that are later the longer the delay is.
    above_ratio: f64,
    /// Maximum by which a recorded delay falls short of the client's delay.
    below: f64,
    /// Maximum by which a recorded wait until a fixed instant falls short. The program itself uses part of the time before the recorded
    /// wait begins.
    spent: f64,
    /// Maximum wait, before the first attempt or after the last, that is due to the program itself and not to its strategy.
    pub(crate) noise: f64,
}

/// Additional tolerance for all recorded delays, because timers and clocks are read at different instants: a millisecond and a hundredth of
/// the delay. For delays that are too short, this tolerance is not added to `below`; the larger of the two applies.
const TOLERANCE: f64 = 1e-3;
const TOLERANCE_RATIO: f64 = 0.01;

/// Margin for the rounding of the last digit of a recorded delay.
const DIGIT: f64 = 1e-9;

impl Grain {
    pub(crate) fn new(library: &str, language: &str, interception: &str) -> Self {
        let milliseconds = Self {
            step: 1e-3,
            least: 1e-3,
            above: 1e-3,
            above_ratio: 0.0,
            below: 1e-3,
            spent: 5e-3,
            noise: 15e-3,
        };
        let tenths = Self {
            step: 1e-4,
            least: 0.0,
            above: 0.5e-4,
            above_ratio: 0.0,
            below: 0.5e-4,
            spent: 5e-3,
            noise: 15e-3,
        };
        // In real time, recorded delays can only be too long.
        let real = Self {
            step: 0.0,
            least: 0.0,
            above: 15e-3,
            above_ratio: 0.0,
            below: 1e-3,
            spent: 15e-3,
            noise: 15e-3,
        };
        match () {
            // curl's waits of 1 s were recorded as 1.004 to 1.05 s, its wait of 32 s as 32.108 s.
            () if language == "command line" => Self { above: 60e-3, above_ratio: 2e-3, ..real },
            () if interception.starts_with("none: real time") => real,
            () if language == "javascript" || library == "tower" => milliseconds,
            () => tenths,
        }
    }

    /// Returns the value that an exact recorder would write for a client's delay.
    pub(crate) fn seen(&self, delay: f64) -> f64 {
        if self.step == 0.0 {
            return delay;
        }
        ((delay / self.step).round() * self.step).max(self.least)
    }

    /// Returns the largest value that a recorder may write for a client's delay.
    pub(crate) fn highest(&self, delay: f64) -> f64 {
        self.seen(delay) + self.above + self.above_ratio * delay + tolerance(delay) + DIGIT
    }

    pub(crate) fn lowest(&self, delay: f64) -> f64 {
        self.seen(delay) - self.below.max(tolerance(delay)) - DIGIT
    }

    pub(crate) fn takes(&self, delay: f64, recorded: f64) -> bool {
        (self.lowest(delay)..=self.highest(delay)).contains(&recorded)
    }

    /// Returns the precision for the waits before the first attempt and after the last. Some of these waits last until a fixed instant, and
    /// the program has already used part of that time.
    #[must_use]
    pub(crate) fn of_waiting(self) -> Self {
        Self { below: self.below.max(self.spent), least: 0.0, ..self }
    }

    /// Returns 0 for a wait that is short enough to be due to the program itself, and any other wait unchanged. Applies to waits before the
    /// first attempt and after the last.
    pub(crate) fn without_noise(&self, wait: f64) -> f64 {
        if wait <= self.noise { 0.0 } else { wait }
    }

    /// Returns the largest difference between recordings of the same delay.
    pub(crate) fn unsteadiness(&self) -> f64 {
        if self.adds_time() { 1e-3 } else { self.above + DIGIT }
    }

    /// Returns true if recorded delays include processing time of the machine, which cannot be separated from the client's delay.
    pub(crate) fn adds_time(&self) -> bool {
        self.step == 0.0
    }
}

fn tolerance(delay: f64) -> f64 {
    TOLERANCE + TOLERANCE_RATIO * delay
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorder_has_its_grain() {
        let grain = |library, language, interception| Grain::new(library, language, interception);
        let python = grain("urllib3", "python", "time.sleep replaced");
        assert!(python.takes(0.5, 0.5) && python.takes(0.123_44, 0.1234) && !python.takes(0.5, 0.507));
        assert!(!python.takes(0.5, 0.493));
        let node = grain("got", "javascript", "virtual clock");
        assert!(node.takes(0.0, 0.001) && node.takes(0.0204, 0.020) && node.takes(0.0204, 0.021));
        assert!(!node.takes(0.5, 0.508) && !node.takes(0.0, 0.0035));
        let tower = grain("tower", "rust", "no HTTP: paused clock");
        assert!(tower.takes(5.0, 5.001) && !tower.takes(5.0, 5.053));
        let grpc = grain("grpcio", "python", "none: real time, arrival times");
        assert!(grpc.takes(0.7, 0.7016) && !grpc.takes(0.7, 0.724) && !grpc.takes(0.7, 0.69));
        let curl = grain("curl", "command line", "none: real time");
        assert!(curl.takes(32.0, 32.108) && curl.takes(1.0, 1.05) && !curl.takes(1.0, 1.2));
    }

    #[test]
    fn a_delay_may_differ_by_a_millisecond_and_a_hundredth_besides() {
        let grain = |library, language, interception| Grain::new(library, language, interception);
        let octokit = grain("octokit", "javascript", "virtual clock");
        assert!(octokit.takes(2.0, 2.004) && octokit.takes(2.0, 2.022) && !octokit.takes(2.0, 2.0221));
        let grpc = grain("grpcio", "python", "none: real time, arrival times");
        assert!(grpc.takes(0.7, 0.7157) && grpc.takes(0.7, 0.723) && !grpc.takes(0.7, 0.7231));
        let botocore = grain("botocore", "python", "time.sleep replaced");
        assert!(botocore.takes(2.0, 1.9945) && botocore.takes(2.0, 1.979) && !botocore.takes(2.0, 1.9789));
    }
}
