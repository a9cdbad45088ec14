//! How finely, and with what of its own, a recorder measured: what of a delay is the client's is known to that precision only.

/// A recorder's grain. All in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grain {
    /// Delays are whole multiples of this.
    step: f64,
    /// The shortest delay that it can see.
    least: f64,
    /// How much a recorded delay may be above the client's …
    above: f64,
    /// … and what part of itself besides, where timers are late in proportion.
    above_ratio: f64,
    /// How much it may be below it.
    below: f64,
    /// What waiting for an instant may be shorter by: the program itself took that time since.
    spent: f64,
    /// Waits up to this, before the first attempt and after the last, are the program's own.
    pub(crate) noise: f64,
}

/// What every recorded delay may differ from the client's by besides, as timers and clocks are read at different instants: a
/// millisecond and a hundredth of the delay. Below the client's delay, this is all there is.
const TOLERANCE: f64 = 1e-3;
const TOLERANCE_RATIO: f64 = 0.01;

/// Room for what rounding does to the last digit.
const DIGIT: f64 = 1e-9;

impl Grain {
    /// That of the file of this library.
    pub(crate) fn of(library: &str, language: &str, interception: &str) -> Self {
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
        // Real time only adds.
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
            // curl's waits of a second were recorded as 1.004 to 1.05 s, that of 32 s as 32.108 s.
            () if language == "command line" => Self { above: 60e-3, above_ratio: 2e-3, ..real },
            () if interception.starts_with("none: real time") => real,
            () if language == "javascript" || library == "tower" => milliseconds,
            () => tenths,
        }
    }

    /// What such a recorder would have written down.
    pub(crate) fn seen(&self, delay: f64) -> f64 {
        if self.step == 0.0 {
            return delay;
        }
        ((delay / self.step).round() * self.step).max(self.least)
    }

    /// The most that a client's delay is recorded as.
    pub(crate) fn highest(&self, delay: f64) -> f64 {
        self.seen(delay) + self.above + self.above_ratio * delay + tolerance(delay) + DIGIT
    }

    /// The least that it is recorded as.
    pub(crate) fn lowest(&self, delay: f64) -> f64 {
        self.seen(delay) - self.below.max(tolerance(delay)) - DIGIT
    }

    /// Whether this client's delay can have been recorded as this.
    pub(crate) fn takes(&self, delay: f64, recorded: f64) -> bool {
        (self.lowest(delay)..=self.highest(delay)).contains(&recorded)
    }

    /// The same for waits at the ends of an op: some of them last until an instant, and the program has used some of that time
    /// already.
    #[must_use]
    pub(crate) fn of_waiting(self) -> Self {
        Self { below: self.below.max(self.spent), least: 0.0, ..self }
    }

    /// A wait at the ends of an op without what is the program's own.
    pub(crate) fn without_noise(&self, wait: f64) -> f64 {
        if wait <= self.noise { 0.0 } else { wait }
    }

    /// How far apart recordings of one and the same delay are at most.
    pub(crate) fn unsteadiness(&self) -> f64 {
        if self.adds_time() { 1e-3 } else { self.above + DIGIT }
    }

    /// Whether recorded delays hold time of the machine that cannot be told from the client's.
    pub(crate) fn adds_time(&self) -> bool {
        self.step == 0.0
    }
}

/// Returns the tolerance for this delay, in seconds.
fn tolerance(delay: f64) -> f64 {
    TOLERANCE + TOLERANCE_RATIO * delay
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorder_has_its_grain() {
        let grain = |library, language, interception| Grain::of(library, language, interception);
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
        let grain = |library, language, interception| Grain::of(library, language, interception);
        let octokit = grain("octokit", "javascript", "virtual clock");
        assert!(octokit.takes(2.0, 2.004) && octokit.takes(2.0, 2.022) && !octokit.takes(2.0, 2.0221));
        let grpc = grain("grpcio", "python", "none: real time, arrival times");
        assert!(grpc.takes(0.7, 0.7157) && grpc.takes(0.7, 0.723) && !grpc.takes(0.7, 0.7231));
        let botocore = grain("botocore", "python", "time.sleep replaced");
        assert!(botocore.takes(2.0, 1.9945) && botocore.takes(2.0, 1.979) && !botocore.takes(2.0, 1.9789));
    }
}
