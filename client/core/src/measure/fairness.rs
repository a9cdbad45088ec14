//! How evenly several clients are served.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statistics::{jain, percentile};
use vocabulary::Instant;

use crate::client_shard::ClientShard;

/// The length of a window, in attempts that nothing disturbs.
const WINDOW_ATTEMPTS: u32 = 10;

/// A server that takes no time must not make a window of every instant.
const SHORTEST_HALF: Duration = Duration::from_millis(50);

/// What every client got, in memory that grows with clients only.
#[derive(Clone, Debug)]
pub(super) struct Fairness {
    /// Windows slide by half their length.
    half_nanos: u64,
    /// Which half is going on, from 0.
    half: u64,
    /// Those that are taken here, by their places.
    clients: Vec<Client>,
    shard: ClientShard,
    /// Sum of Jain's index over windows, and how many there were.
    indices: f64,
    windows: u64,
    shares: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Client {
    arrived: u64,
    ended: u64,
    succeeded: u64,
    latency_nanos: u64,
    /// Successes in the half before this one, and in this one.
    before: u32,
    now: u32,
    /// Whether it had work in the half before this one, and in this one.
    had_work: bool,
    has_work: bool,
    /// When its oldest work came that went on without a pause, and how long it was busy before that.
    busy_since: Option<Instant>,
    busy_nanos: u64,
}

/// How evenly clients were served.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct FairnessFigures {
    /// Clients that had anything to do.
    pub clients: u64,
    /// Jain's index of successes per client, over sliding windows of ten undisturbed attempts' time (100 ms at least): 1 when all clients
    /// that had work got the same, 1/n when one got all. The mean over windows; of a run shorter than one, its own.
    pub jain: Option<f64>,
    /// Jain's index of each client's successes per second that it had work: the whole run, without windows.
    pub jain_whole_run: Option<f64>,
    /// The client whose ops took longest on average; one without any success is slower than any other.
    pub slowest_client: Option<u64>,
    /// Its mean op latency; null when none of its ops succeeded.
    pub slowest_mean_ms: Option<f64>,
    /// The same over the median of all clients' means; of an even number of clients, the mean of the two in the middle.
    pub slowest_over_median: Option<f64>,
}

/// What every client got: what figures are made of, client by client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// By the clients' places in their shard.
    pub clients: Vec<ClientCount>,
}

/// What one client got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCount {
    /// Ops that arrived.
    pub arrived: u64,
    /// Ops that succeeded.
    pub succeeded: u64,
    /// The sum of their latencies, in nanoseconds.
    pub latency_nanos: u64,
    /// How long it had work, in nanoseconds, without what goes on.
    pub busy_nanos: u64,
    /// When the work came that goes on still.
    pub busy_since: Option<Instant>,
}

/// The figures of clients, by their numbers, of a run that ended then; without windows.
pub fn fairness_of(
    clients: impl Iterator<Item = (u64, ClientCount)>,
    end: Option<Instant>,
) -> FairnessFigures {
    let worked = clients.filter(|(_, client)| client.arrived > 0).map(|(number, count)| {
        let mut client = Client::from(count);
        client.rest(end.unwrap_or(Instant::ORIGIN));
        (number, client)
    });
    figures_of(worked.collect(), None)
}

impl From<ClientCount> for Client {
    fn from(count: ClientCount) -> Self {
        let ClientCount { arrived, succeeded, latency_nanos, busy_nanos, busy_since } = count;
        Self { arrived, succeeded, latency_nanos, busy_since, busy_nanos, ..Self::default() }
    }
}

/// The figures of clients that had work, and have none any more.
fn figures_of(mut worked: Vec<(u64, Client)>, windows: Option<f64>) -> FairnessFigures {
    let rates: Vec<f64> = worked.iter().map(|(_, client)| client.rate_per_s()).collect();
    worked.sort_by(|(_, one), (_, other)| one.mean_ms().total_cmp(&other.mean_ms()));
    let finite = |ms: f64| ms.is_finite().then_some(ms);
    let slowest = worked.last();
    let slowest_ms = slowest.and_then(|(_, client)| finite(client.mean_ms()));
    let means: Vec<f64> = worked.iter().map(|(_, client)| client.mean_ms()).collect();
    // Where one of the two in the middle got nothing done, so did the median.
    let median_ms = percentile(&means, 0.5);
    FairnessFigures {
        clients: worked.len() as u64,
        jain: windows,
        jain_whole_run: jain(&rates),
        slowest_client: slowest.map(|(number, _)| *number),
        slowest_mean_ms: slowest_ms,
        slowest_over_median: slowest_ms
            .zip(median_ms.and_then(finite).filter(|ms| *ms > 0.0))
            .map(|(slowest, median)| slowest / median),
    }
}

impl Fairness {
    /// For so many clients, of which those of this shard are taken here, of a server whose undisturbed attempt takes this long.
    pub(crate) fn new(clients: u32, shard: ClientShard, undisturbed_attempt: Duration) -> Self {
        let half = (undisturbed_attempt.saturating_mul(WINDOW_ATTEMPTS) / 2).max(SHORTEST_HALF);
        Self {
            half_nanos: u64::try_from(half.as_nanos()).unwrap_or(u64::MAX).max(1),
            half: 0,
            clients: vec![Client::default(); shard.count(clients) as usize],
            shard,
            indices: 0.0,
            windows: 0,
            shares: Vec::new(),
        }
    }

    /// An op of this client arrived.
    pub(crate) fn on_arrival(&mut self, at: Instant, client: u32) {
        self.pass(at);
        let Some(held) = self.clients.get_mut(self.shard.place(client) as usize) else { return };
        held.arrived += 1;
        held.has_work = true;
        held.busy_since.get_or_insert(at);
    }

    /// An op of this client succeeded, this long after its arrival, or ended without (`None`).
    pub(crate) fn on_end(&mut self, at: Instant, client: u32, latency: Option<Duration>) {
        self.pass(at);
        let Some(held) = self.clients.get_mut(self.shard.place(client) as usize) else { return };
        held.ended += 1;
        if let Some(latency) = latency {
            held.succeeded += 1;
            held.now += 1;
            let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
            held.latency_nanos = held.latency_nanos.saturating_add(nanos);
        }
        if held.ended == held.arrived {
            held.rest(at);
        }
    }

    /// What it came to by `end`.
    pub(crate) fn figures(&self, end: Option<Instant>) -> FairnessFigures {
        let worked =
            (0..).zip(&self.clients).filter(|(_, client)| client.arrived > 0).map(|(place, client)| {
                let mut client = *client;
                client.rest(end.unwrap_or(Instant::ORIGIN));
                (u64::from(self.shard.client(place)), client)
            });
        let windows = if self.windows > 0 { Some(self.indices / self.windows as f64) } else { self.so_far() };
        figures_of(worked.collect(), windows)
    }

    /// What every client got, to be put together with what others got elsewhere.
    pub(crate) fn counts(&self) -> ClientCounts {
        let count = |client: &Client| ClientCount {
            arrived: client.arrived,
            succeeded: client.succeeded,
            latency_nanos: client.latency_nanos,
            busy_nanos: client.busy_nanos,
            busy_since: client.busy_since,
        };
        ClientCounts { clients: self.clients.iter().map(count).collect() }
    }

    /// The index of a run that was shorter than a window.
    fn so_far(&self) -> Option<f64> {
        let got = self.clients.iter().filter(|client| client.arrived > 0);
        let got: Vec<f64> = got.map(|client| client.succeeded as f64).collect();
        if got.len() > 1 { jain(&got) } else { None }
    }

    /// Closes the halves that are over by `at`.
    fn pass(&mut self, at: Instant) {
        let half = at.as_nanos() / self.half_nanos;
        // After a pause there is nothing left to slide over.
        for _ in 0..(half.saturating_sub(self.half)).min(2) {
            self.close_half();
            self.half += 1;
        }
        self.half = self.half.max(half);
    }

    fn close_half(&mut self) {
        self.shares.clear();
        for client in &mut self.clients {
            let got = client.before + client.now;
            // Who had nothing to do was not treated unfairly; who gave all of it up may have been.
            if client.had_work || client.has_work {
                self.shares.push(f64::from(got));
            }
            (client.before, client.now) = (client.now, 0);
            (client.had_work, client.has_work) = (client.has_work, client.arrived > client.ended);
        }
        if self.half > 0
            && self.shares.len() > 1
            && let Some(index) = jain(&self.shares)
        {
            self.indices += index;
            self.windows += 1;
        }
    }
}

impl Client {
    /// It has no work from `at` on.
    fn rest(&mut self, at: Instant) {
        if let Some(since) = self.busy_since.take() {
            self.busy_nanos = self.busy_nanos.saturating_add(at.as_nanos().saturating_sub(since.as_nanos()));
        }
    }

    /// Successes per second that it had work.
    fn rate_per_s(&self) -> f64 {
        if self.busy_nanos == 0 { 0.0 } else { self.succeeded as f64 * 1e9 / self.busy_nanos as f64 }
    }

    /// Its mean op latency; infinite without a success.
    fn mean_ms(&self) -> f64 {
        if self.succeeded == 0 {
            f64::INFINITY
        } else {
            self.latency_nanos as f64 / 1e6 / self.succeeded as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of a second, halves of 500 ms.
    fn fairness(clients: u32) -> Fairness {
        Fairness::new(clients, ClientShard::WHOLE, Duration::from_millis(100))
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
    fn the_median_of_an_even_number_of_clients_lies_between_the_two_in_the_middle() {
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
    fn who_gives_up_before_a_window_ends_had_work_in_it() {
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
    fn who_has_no_work_is_not_treated_unfairly() {
        let mut fair = fairness(3);
        for (client, ms) in [(0, 0), (1, 10), (0, 5000), (1, 5010)] {
            fair.on_arrival(at(ms), client);
            fair.on_end(at(ms + 100), client, Some(Duration::from_millis(100)));
        }
        let figures = fair.figures(Some(at(6000)));
        assert_eq!((figures.clients, figures.jain, figures.jain_whole_run), (2, Some(1.0), Some(1.0)));
    }
}
