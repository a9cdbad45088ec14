//! Data of single runs that `loadgen reproduce` keeps for plots, because no summary contains them: times of calls,
//! results of clients, steps of the service, delays before retries.

use results::DrawnRun;

#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    pub(super) calls: Option<Calls>,
    pub(super) clients: Option<Clients>,
    pub(super) steps: Option<Steps>,
    pub(super) waits: Vec<Wait>,
}

#[derive(Clone, Debug)]
pub(super) struct Calls {
    /// Sampling interval of the ops. Only calls of ops whose number is a multiple of this interval were kept.
    pub(super) every: u64,
    /// Sent calls in order of sending, as (time in seconds, number of the op).
    pub(super) sent: Vec<(f64, f64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Clients {
    /// True if each op counts as a separate client.
    pub(super) by_op: bool,
    /// Clients as (rank by latency, latency in seconds, attempts). The latency is NaN for clients without success.
    pub(super) ranks: Vec<(f64, f64, f64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) step_s: f64,
    /// Columns by name. Each column contains its counts at every time step, starting at time zero.
    pub(super) columns: Vec<(&'static str, Vec<f64>)>,
}

/// Delays before the n-th retry of an op: mean, and 5th and 95th percentile, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) retry: f64,
    pub(super) mean_s: f64,
    pub(super) p5_s: f64,
    pub(super) p95_s: f64,
}

pub(super) const COLUMNS: [&str; 5] = ["requests", "rejected", "first requests", "succeeded", "queued"];

impl Recorded {
    pub(super) fn new(run: &DrawnRun) -> Self {
        Self {
            calls: run.calls.as_ref().map(|calls| Calls {
                every: calls.every.max(1),
                sent: calls.t_s.iter().copied().zip(calls.op.iter().map(|op| *op as f64)).collect(),
            }),
            clients: run.clients.as_ref().map(clients),
            steps: run.steps.as_ref().map(steps),
            waits: run.waits.iter().flatten().map(wait).collect(),
        }
    }
}

fn clients(kept: &results::Clients) -> Clients {
    let ranks = kept.rank.iter().zip(&kept.latency_s).zip(&kept.attempts);
    let rank = |((rank, latency), attempts): ((&u64, &Option<f64>), &u64)| {
        (*rank as f64, latency.unwrap_or(f64::NAN), *attempts as f64)
    };
    Clients { by_op: kept.by_op, ranks: ranks.map(rank).collect() }
}

fn steps(kept: &results::Steps) -> Steps {
    let columns = [&kept.sent, &kept.turned_away, &kept.first, &kept.succeeded, &kept.queued];
    let column = |(name, counts): (&'static str, &Option<Vec<i64>>)| {
        Some((name, counts.as_ref()?.iter().map(|count| *count as f64).collect()))
    };
    Steps { step_s: kept.step_s, columns: COLUMNS.into_iter().zip(columns).filter_map(column).collect() }
}

fn wait(kept: &results::Wait) -> Wait {
    Wait {
        retry: kept.retry as f64,
        mean_s: kept.mean_s,
        p5_s: kept.p5_s.unwrap_or(kept.mean_s),
        p95_s: kept.p95_s.unwrap_or(kept.mean_s),
    }
}
