//! Measures of how evenly a run's clients are served: Jain's fairness index, latency of the slowest client.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use statistics::{jain, jain_among, percentile};
use vocabulary::{Instant, whole_nanos};

/// Length of a fairness window, as a multiple of the duration of an attempt that nothing delays.
const WINDOW_ATTEMPTS: u32 = 10;

/// Minimum length of half a fairness window. It is needed if attempts at the server take no time, because otherwise every instant would
/// have a window of its own.
const MIN_HALF: Duration = Duration::from_millis(50);

/// Fairness measurements of every client. They take some fifty bytes per client, however long the run is.
///
/// Only the calculation of the final figures visits every client. When half a window ends, only one bit per client is visited, and the
/// clients that had successes in the window.
#[derive(Clone, Debug)]
pub(super) struct Fairness {
    /// Half the length of a fairness window, in nanoseconds. A new window starts whenever half a window has passed, so each window overlaps
    /// the next by half.
    half_nanos: u64,
    half: u64,
    /// Measurements of the clients, indexed by the client's number. All other lists with one entry per client have the same order.
    clients: Vec<Client>,
    /// Number of successes of every client. The first number is for the previous half window, the second for the current one.
    got: Vec<[u32; 2]>,
    got_any: Bits,
    /// Sets of clients, with one bit per client. `busy` contains the clients that have work at present. `has_work` contains the clients
    /// that had work in the current half of a fairness window. `had_work` contains the clients that had work in the previous half.
    busy: Bits,
    has_work: Bits,
    had_work: Bits,
    /// Sum of Jain's fairness index over all windows (`indices`), and the number of windows.
    indices: f64,
    windows: u64,
    shares: Vec<f64>,
}

type Bits = Vec<u64>;

const NEVER: Instant = Instant::FAR_FUTURE;

#[derive(Clone, Copy, Debug)]
struct Client {
    arrived: u32,
    ended: u32,
    succeeded: u32,
    latency_nanos: u64,
    /// Start of the client's current period with work (`busy_since`). `busy_nanos` is the total length, in nanoseconds, of its earlier
    /// periods with work.
    busy_since: Instant,
    busy_nanos: u64,
}

impl Default for Client {
    fn default() -> Self {
        Self { arrived: 0, ended: 0, succeeded: 0, latency_nanos: 0, busy_since: NEVER, busy_nanos: 0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct FairnessFigures {
    /// Number of clients that had work during the run.
    pub clients: u64,
    pub jain: Option<f64>,
    pub jain_whole_run: Option<f64>,
    pub slowest_client: Option<u64>,
    pub slowest_mean_ms: Option<f64>,
    pub slowest_over_median: Option<f64>,
}

impl Fairness {
    pub(crate) fn new(clients: u32, undisturbed_attempt: Duration) -> Self {
        let half = (undisturbed_attempt.saturating_mul(WINDOW_ATTEMPTS) / 2).max(MIN_HALF);
        let clients = clients as usize;
        let bits = || vec![0; clients.div_ceil(64)];
        Self {
            half_nanos: whole_nanos(half).max(1),
            half: 0,
            clients: vec![Client::default(); clients],
            got: vec![[0; 2]; clients],
            got_any: bits(),
            busy: bits(),
            has_work: bits(),
            had_work: bits(),
            indices: 0.0,
            windows: 0,
            shares: Vec::new(),
        }
    }

    pub(crate) fn on_arrival(&mut self, at: Instant, client: u32) {
        self.pass(at);
        let Some(held) = self.clients.get_mut(client as usize) else { return };
        held.arrived += 1;
        if held.busy_since == NEVER {
            held.busy_since = at;
            let (word, bit) = bit_of(client);
            self.busy[word] |= bit;
            self.has_work[word] |= bit;
        }
    }

    /// Records that an op of this client succeeded after `latency`, or ended without success (`None`).
    pub(crate) fn on_end(&mut self, at: Instant, client: u32, latency: Option<Duration>) {
        self.pass(at);
        let Some(held) = self.clients.get_mut(client as usize) else { return };
        let (word, bit) = bit_of(client);
        held.ended += 1;
        if let Some(latency) = latency {
            held.succeeded += 1;
            let nanos = whole_nanos(latency);
            held.latency_nanos = held.latency_nanos.saturating_add(nanos);
            self.got[client as usize][1] += 1;
            self.got_any[word] |= bit;
        }
        if held.ended == held.arrived {
            held.rest(at);
            self.busy[word] &= !bit;
        }
    }

    pub(crate) fn figures(&self, end: Option<Instant>) -> FairnessFigures {
        let windows = if self.windows > 0 { Some(self.indices / self.windows as f64) } else { self.so_far() };
        let (mut rates, mut means, mut slowest) = (Vec::new(), Vec::new(), None);
        for (number, client) in (0..).zip(&self.clients).filter(|(_, client)| client.arrived > 0) {
            let mean_ms = client.mean_ms();
            rates.push(client.rate_per_s(end.unwrap_or(Instant::ORIGIN)));
            means.push(mean_ms);
            if slowest.is_none_or(|(_, ms): (u64, f64)| mean_ms.total_cmp(&ms).is_ge()) {
                slowest = Some((number, mean_ms));
            }
        }
        means.sort_unstable_by(f64::total_cmp);
        let finite = |ms: f64| ms.is_finite().then_some(ms);
        let slowest_ms = slowest.and_then(|(_, ms)| finite(ms));
        // The mean latency of a client without success is infinite. If one of the two middle clients had no success, the median over
        // clients is therefore not finite.
        let median_ms = percentile(&means, 0.5);
        FairnessFigures {
            clients: means.len() as u64,
            jain: windows,
            jain_whole_run: jain(&rates),
            slowest_client: slowest.map(|(number, _)| number),
            slowest_mean_ms: slowest_ms,
            slowest_over_median: slowest_ms
                .zip(median_ms.and_then(finite).filter(|ms| *ms > 0.0))
                .map(|(slowest, median)| slowest / median),
        }
    }

    /// Returns Jain's fairness index over the whole run so far, for runs that are shorter than one window.
    fn so_far(&self) -> Option<f64> {
        let got = self.clients.iter().filter(|client| client.arrived > 0);
        let got: Vec<f64> = got.map(|client| f64::from(client.succeeded)).collect();
        if got.len() > 1 { jain(&got) } else { None }
    }

    fn pass(&mut self, at: Instant) {
        let half = at.as_nanos() / self.half_nanos;
        // At most two half windows are closed. After two half windows without events, the whole window contains no success, so further ones
        // add nothing.
        for _ in 0..(half.saturating_sub(self.half)).min(2) {
            self.close_half();
            self.half += 1;
        }
        self.half = self.half.max(half);
    }

    fn close_half(&mut self) {
        self.shares.clear();
        let mut sharing = 0;
        for word in 0..self.busy.len() {
            // Only clients that had work are counted, because a client without work was not treated unfairly. A client that gave up all of
            // its work is counted, because it may have been.
            sharing += (self.had_work[word] | self.has_work[word]).count_ones() as usize;
            let mut left = std::mem::take(&mut self.got_any[word]);
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                let got = &mut self.got[word * 64 + bit.trailing_zeros() as usize];
                self.shares.push(f64::from(got[0] + got[1]));
                *got = [got[1], 0];
                if got[0] > 0 {
                    self.got_any[word] |= bit;
                }
            }
            self.had_work[word] = self.has_work[word];
            self.has_work[word] = self.busy[word];
        }
        if self.half > 0
            && sharing > 1
            && let Some(index) = jain_among(&self.shares, sharing)
        {
            self.indices += index;
            self.windows += 1;
        }
    }
}

fn bit_of(client: u32) -> (usize, u64) {
    (client as usize / 64, 1 << (client % 64))
}

impl Client {
    fn rate_per_s(&self, end: Instant) -> f64 {
        // This is 0 if the client has no work now, because `NEVER` is later than any end.
        let current_nanos = end.nanos_since(self.busy_since);
        match self.busy_nanos.saturating_add(current_nanos) {
            0 => 0.0,
            busy => f64::from(self.succeeded) * 1e9 / busy as f64,
        }
    }

    fn mean_ms(&self) -> f64 {
        if self.succeeded == 0 {
            f64::INFINITY
        } else {
            self.latency_nanos as f64 / 1e6 / f64::from(self.succeeded)
        }
    }

    fn rest(&mut self, at: Instant) {
        if self.busy_since != NEVER {
            self.busy_nanos = self.busy_nanos.saturating_add(at.nanos_since(self.busy_since));
            self.busy_since = NEVER;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a `Fairness` with windows of one second and halves of 500 ms.
    fn fairness(clients: u32) -> Fairness {
        Fairness::new(clients, Duration::from_millis(100))
    }

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn clients_that_get_the_same_are_served_evenly() {
        let mut fair = fairness(2);
        for op in 0..40 {
            fair.on_arrival(at(op * 100), (op % 2) as u32);
            fair.on_end(at(op * 100 + 50), (op % 2) as u32, Some(Duration::from_millis(50)));
        }
        let figures = fair.figures(Some(at(4000)));
        assert_eq!((figures.clients, figures.jain_whole_run), (2, Some(1.0)));
        assert!(figures.jain.unwrap() > 0.98, "{figures:?}");
        assert_eq!((figures.slowest_mean_ms, figures.slowest_over_median), (Some(50.0), Some(1.0)));
    }

    #[test]
    fn a_client_that_starves_shows() {
        let mut fair = fairness(2);
        fair.on_arrival(at(0), 1);
        for op in 0..40 {
            fair.on_arrival(at(op * 100), 0);
            fair.on_end(at(op * 100 + 50), 0, Some(Duration::from_millis(50)));
        }
        let figures = fair.figures(Some(at(4000)));
        assert_eq!((figures.jain, figures.jain_whole_run), (Some(0.5), Some(0.5)));
        assert_eq!((figures.slowest_client, figures.slowest_mean_ms), (Some(1), None));
    }

    #[test]
    fn an_even_median_is_the_mean_of_the_two_middle_clients() {
        let slowest_over_median = |latencies: &[u64]| {
            let mut fair = fairness(4);
            for (client, ms) in (0..).zip(latencies) {
                fair.on_arrival(at(0), client);
                fair.on_end(at(*ms), client, Some(Duration::from_millis(*ms)));
            }
            fair.figures(Some(at(1000))).slowest_over_median
        };
        assert_eq!(slowest_over_median(&[100, 200, 400, 900]), Some(3.0));
        assert_eq!(slowest_over_median(&[100, 900]), Some(1.8));
        assert_eq!(slowest_over_median(&[100, 300, 900]), Some(3.0));
    }

    #[test]
    fn a_client_that_gives_up_in_a_window_had_work_in_it() {
        let mut fair = fairness(3);
        for op in 0..40 {
            for client in 0..3 {
                fair.on_arrival(at(op * 100), client);
            }
            fair.on_end(at(op * 100 + 10), 2, None);
            for client in 0..2 {
                fair.on_end(at(op * 100 + 50), client, Some(Duration::from_millis(50)));
            }
        }
        let figures = fair.figures(Some(at(4000)));
        assert!((figures.jain.unwrap() - 2.0 / 3.0).abs() < 1e-9, "{figures:?}");
        assert!((figures.jain_whole_run.unwrap() - 2.0 / 3.0).abs() < 1e-9, "{figures:?}");
    }

    #[test]
    fn a_client_without_work_is_not_treated_unfairly() {
        let mut fair = fairness(3);
        for (client, ms) in [(0, 0), (1, 10), (0, 5000), (1, 5010)] {
            fair.on_arrival(at(ms), client);
            fair.on_end(at(ms + 100), client, Some(Duration::from_millis(100)));
        }
        let figures = fair.figures(Some(at(6000)));
        assert_eq!((figures.clients, figures.jain, figures.jain_whole_run), (2, Some(1.0), Some(1.0)));
    }
}
