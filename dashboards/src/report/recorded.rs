//! What a reproduction keeps of single runs for plots that no summary holds: when calls came, what each client got, what
//! happened step by step, how long retries waited.

use results::DrawnRun;

/// Everything that was kept of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    pub(super) calls: Option<Calls>,
    pub(super) clients: Option<Clients>,
    pub(super) steps: Option<Steps>,
    pub(super) waits: Vec<Wait>,
}

/// When attempts were sent.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    /// The calls of every op that is a multiple of this were kept.
    pub(super) every: u64,
    /// Instant in seconds, and op, in order of sending.
    pub(super) sent: Vec<(f64, f64)>,
}

/// What every client got, sorted by latency.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    /// Whether an op stands for a client.
    pub(super) by_op: bool,
    /// Rank, latency in seconds (not a number without success) and attempts.
    pub(super) ranks: Vec<(f64, f64, f64)>,
}

/// What happened in steps of one width.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) step_s: f64,
    /// By name: counts of every step from zero on.
    pub(super) columns: Vec<(&'static str, Vec<f64>)>,
}

/// How long ops waited before their n-th retry, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) retry: f64,
    pub(super) mean_s: f64,
    pub(super) p5_s: f64,
    pub(super) p95_s: f64,
}

/// What a step counts, as legends call it.
pub(super) const COLUMNS: [&str; 5] = ["requests", "rejected", "first requests", "succeeded", "queued"];

impl Recorded {
    /// What was kept of this run.
    pub(super) fn of(run: &DrawnRun) -> Self {
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
