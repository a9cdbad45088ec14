//! Recorder of latency and attempts for each client, or for each op if there is only one client.

use loadgen_core::Sample;
use results::Clients;
use tailback::Status;

use super::rounded::rounded;

const MAX_CLIENTS: usize = 100_000;
/// Maximum number of clients or ops written to the document. A curve over ranks does not need more points.
const MAX_RANKS: usize = 1000;

pub(super) struct ClientRecorder {
    by_op: bool,
    clients: Vec<Client>,
}

#[derive(Clone, Copy, Default)]
struct Client {
    attempts: u64,
    succeeded: u64,
    /// Sum of the latencies of the client's successful ops, in seconds.
    latency_s: f64,
}

impl Client {
    fn latency_s(&self) -> Option<f64> {
        (self.succeeded > 0).then(|| self.latency_s / self.succeeded as f64)
    }
}

impl ClientRecorder {
    pub(super) fn new(clients: u32) -> Self {
        Self { by_op: clients <= 1, clients: Vec::new() }
    }

    pub(super) fn note(&mut self, sample: &Sample) {
        let who = if self.by_op { sample.op } else { u64::from(sample.client) };
        let Some(who) = usize::try_from(who).ok().filter(|who| *who < MAX_CLIENTS) else { return };
        if who >= self.clients.len() {
            self.clients.resize(who + 1, Client::default());
        }
        let client = &mut self.clients[who];
        client.attempts += 1;
        if sample.status == Status::Succeeded {
            client.succeeded += 1;
            client.latency_s += sample.ended.since(sample.arrived).as_secs_f64();
        }
    }

    pub(super) fn finish(mut self) -> Clients {
        self.clients.retain(|client| client.attempts > 0);
        // A client without any success has no latency. It is ranked as if its latency were infinite.
        let key = |client: &Client| client.latency_s().unwrap_or(f64::INFINITY);
        self.clients.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.attempts.cmp(&b.attempts)));
        let count = self.clients.len();
        let every = count.div_ceil(MAX_RANKS).max(1);
        // Only every n-th rank is kept. The last rank is always included, because its client has the longest latency.
        let ranks: Vec<usize> = (0..count).filter(|index| index % every == 0 || index + 1 == count).collect();
        let latency = |index: &usize| self.clients[*index].latency_s().map(rounded);
        Clients {
            by_op: self.by_op,
            of: count as u64,
            rank: ranks.iter().map(|index| *index as u64 + 1).collect(),
            latency_s: ranks.iter().map(latency).collect(),
            attempts: ranks.iter().map(|index| self.clients[*index].attempts).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{rejected, sample};
    use super::*;

    #[test]
    fn clients_are_sorted_by_latency_those_without_success_last() {
        let mut clients = ClientRecorder::new(1);
        clients.note(&rejected(sample(0, 1, 0, 10)));
        clients.note(&sample(1, 1, 0, 30));
        clients.note(&rejected(sample(2, 1, 0, 10)));
        clients.note(&sample(2, 2, 10, 20));
        let clients = clients.finish();
        assert_eq!(clients.latency_s, [Some(0.02), Some(0.03), None]);
        assert_eq!((clients.attempts, clients.rank), (vec![2, 1, 1], vec![1, 2, 3]));
        assert!(clients.by_op);
    }
}
