//! Measurement precision of recorders: the amount by which recorded delays may differ from the real delays of the client.

/// Measurement precision of the program that made a recording. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grain {
    /// Step of the recorder's clock, in seconds. Recorded delays are whole multiples of this step. 0 if the recorder measured real time,
    /// without steps.
    step: f64,
    /// Shortest delay that the recorder can measure.
    least: f64,
    /// Fixed part of the time by which a recorded delay may be longer than the client's delay. The other part depends on `above_ratio`.
    above: f64,
    /// Time by which a recorded delay may be longer, as a share of the client's delay. It is added to `above`, because some timers are
    /// later the longer the delay is.
    above_ratio: f64,
    /// Maximum time by which a recorded delay may be shorter than the client's delay.
    below: f64,
    /// Maximum time by which a recorded wait until a fixed instant may be shorter than the client's wait. Part of this wait has already
    /// passed in the program when the recorded wait begins.
    spent: f64,
}

/// Maximum wait that may be due to the program itself and not to its strategy. It applies before the first attempt and after the last one.
const NOISE: f64 = 15e-3;

/// Additional tolerance for all recorded delays, because timers and clocks are read at different instants. It is a millisecond plus a
/// hundredth of the delay. It is added to the allowed excess of a delay. Delays that are too short may differ by the larger of `below` and
/// this tolerance.
const TOLERANCE: f64 = 1e-3;
const TOLERANCE_RATIO: f64 = 0.01;

/// Tolerance for the rounding of a recorded delay to its last digit.
const DIGIT: f64 = 1e-9;

impl Grain {
    pub(crate) fn new(library: &str, language: &str, interception: &str) -> Self {
        // Recorders that measure real time make delays longer, and hardly ever shorter.
        let real = Self { step: 0.0, least: 0.0, above: 15e-3, above_ratio: 0.0, below: 1e-3, spent: 15e-3 };
        match language {
            // The values are derived from recordings of curl. Its waits of 1 s were recorded as 1.004 to 1.05 s, and its wait of 32 s as
            // 32.108 s.
            "command line" => Self { above: 60e-3, above_ratio: 2e-3, ..real },
            _ if interception.starts_with("none: real time") => real,
            _ if language == "javascript" || library == "tower" => {
                Self { step: 1e-3, least: 1e-3, above: 1e-3, spent: 5e-3, ..real }
            }
            _ => Self { step: 1e-4, above: 0.5e-4, below: 0.5e-4, spent: 5e-3, ..real },
        }
    }

    /// Returns the value that an exact recorder would record for a client's delay. It is the delay rounded to whole steps of the recorder's
    /// clock, and not less than the shortest delay that the recorder can measure.
    pub(crate) fn seen(&self, delay: f64) -> f64 {
        if self.step == 0.0 {
            return delay;
        }
        ((delay / self.step).round() * self.step).max(self.least)
    }

    /// Returns the largest value that a recorder may record for the given delay of the client.
    pub(crate) fn highest(&self, delay: f64) -> f64 {
        self.seen(delay) + self.above + self.above_ratio * delay + tolerance(delay) + DIGIT
    }

    pub(crate) fn lowest(&self, delay: f64) -> f64 {
        self.seen(delay) - self.below.max(tolerance(delay)) - DIGIT
    }

    pub(crate) fn takes(&self, delay: f64, recorded: f64) -> bool {
        (self.lowest(delay)..=self.highest(delay)).contains(&recorded)
    }

    /// Returns the precision for an op's waits before its first attempt and after its last one. Some waits end at a fixed instant. Because
    /// the program has then used part of the time before the wait begins, the recorded wait is shorter.
    #[must_use]
    pub(crate) fn of_waiting(self) -> Self {
        Self { below: self.below.max(self.spent), least: 0.0, ..self }
    }

    /// Returns the largest difference that may occur between two recorded values of a constant delay.
    pub(crate) fn unsteadiness(&self) -> f64 {
        if self.adds_time() { 1e-3 } else { self.above + DIGIT }
    }

    /// Returns true if recorded delays include the machine's processing time. This time cannot be separated from the client's delay.
    pub(crate) fn adds_time(&self) -> bool {
        self.step == 0.0
    }
}

/// Returns a wait before the first attempt or after the last one, without noise of the program. If the wait is so short that the
/// program itself may have caused it, the result is 0. Any longer wait is unchanged.
pub(crate) fn without_noise(wait: f64) -> f64 {
    if wait <= NOISE { 0.0 } else { wait }
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
