//! Log of all attempts of a run, and the figures that follow from it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Response;
use reqwest::header::HeaderMap;

/// Attempt of an op. Times count from the origin of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    start: Duration,
    /// `None` if the run ended before the attempt.
    end: Option<Duration>,
    /// Status of the response; `None` without a response.
    status: Option<u16>,
    /// Wait that the response advised.
    retry_after: Option<Duration>,
}

/// Log of the attempts of one run. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    origin: Instant,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { origin: Instant::now(), attempts: Arc::default() }
    }

    /// Runs an attempt and records it.
    pub(crate) async fn record<E>(
        &self,
        attempt: impl Future<Output = Result<Response, E>>,
    ) -> Result<Response, E> {
        let start = self.origin.elapsed();
        let index = {
            let mut attempts = self.lock();
            attempts.push(Attempt { start, end: None, status: None, retry_after: None });
            attempts.len() - 1
        };
        let result = attempt.await;
        let response = result.as_ref().ok();
        let end = Some(self.origin.elapsed());
        let status = response.map(|response| response.status().as_u16());
        let retry_after = response.and_then(|response| retry_after(response.headers()));
        self.lock()[index] = Attempt { start, end, status, retry_after };
        result
    }

    /// Returns the attempts so far, in the order of their starts.
    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.lock().clone()
    }

    pub(crate) fn origin(&self) -> Instant {
        self.origin
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Attempt>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the advised wait: that of `retry-after-ms` if the response has it, otherwise the seconds of `Retry-After`. Other notations
/// are ignored, because the servers of the experiments do not use them.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.parse().ok();
    number("retry-after-ms")
        .map(Duration::from_millis)
        .or_else(|| number("retry-after").map(Duration::from_secs))
}

/// Returns the time of the last success.
pub(crate) fn last_success(attempts: &[Attempt]) -> Option<Duration> {
    let is_success = |attempt: &&Attempt| attempt.status.is_some_and(|status| status / 100 == 2);
    attempts.iter().filter(is_success).filter_map(|attempt| attempt.end).max()
}

/// Returns the number of attempts that did not end before the run did.
pub(crate) fn cut_off(attempts: &[Attempt]) -> usize {
    attempts.iter().filter(|attempt| attempt.end.is_none()).count()
}

/// Returns the number of early attempts. An attempt is early if it starts after the client received a response with an advised wait,
/// and before the latest advised instant.
pub(crate) fn early(attempts: &[Attempt]) -> usize {
    let advice = |attempt: &Attempt| Some((attempt.end?, attempt.end? + attempt.retry_after?));
    let mut advised: Vec<(Duration, Duration)> = attempts.iter().filter_map(advice).collect();
    advised.sort_unstable();
    let mut advised = advised.into_iter().peekable();
    let mut latest = Duration::ZERO;
    let mut early = 0;
    for attempt in attempts {
        while let Some((_, until)) = advised.next_if(|(received, _)| *received <= attempt.start) {
            latest = latest.max(until);
        }
        early += usize::from(attempt.start < latest);
    }
    early
}

/// Returns the percentile `share` (from 0 to 1) with linear interpolation, as `loadgen` does. Returns NaN without values.
pub(crate) fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let position = share * last as f64;
    let (below, above) = (values[position.floor() as usize], values[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(start: u64, end: u64, status: u16, retry_after: Option<u64>) -> Attempt {
        let ms = Duration::from_millis;
        Attempt {
            start: ms(start),
            end: Some(ms(end)),
            status: Some(status),
            retry_after: retry_after.map(ms),
        }
    }

    #[test]
    fn attempts_between_a_rejection_and_its_advised_instant_are_early() {
        let attempts = [
            attempt(0, 20, 429, Some(100)),
            // In flight when the advice arrives.
            attempt(10, 30, 429, Some(50)),
            attempt(119, 130, 200, None),
            attempt(120, 140, 200, None),
        ];
        assert_eq!(early(&attempts), 1);
        assert_eq!(last_success(&attempts), Some(Duration::from_millis(140)));
        assert_eq!(percentile(vec![3.0, 1.0, 2.0], 0.75), 2.5);
    }
}
