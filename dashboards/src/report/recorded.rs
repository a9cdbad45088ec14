//! What a reproduction keeps of single runs for plots that no summary holds: when calls came, what each client got, what
//! happened step by step, how long retries waited.

use serde_json::Value;

use super::reading::{Wrong, as_number, count, each, list, look, needed_number, number};

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

/// What a step counts: its key, and its name in legends.
pub(super) const COLUMNS: [(&str, &str); 5] = [
    ("sent", "requests"),
    ("turned_away", "rejected"),
    ("first", "first requests"),
    ("succeeded", "succeeded"),
    ("queued", "queued"),
];

impl Recorded {
    pub(super) fn read(raw: &Value) -> Result<Self, Wrong> {
        Ok(Self {
            calls: look(raw, "calls").map(calls).transpose().map_err(|wrong| wrong.within("calls"))?,
            clients: look(raw, "clients")
                .map(clients)
                .transpose()
                .map_err(|wrong| wrong.within("clients"))?,
            steps: look(raw, "steps").map(steps).transpose().map_err(|wrong| wrong.within("steps"))?,
            waits: each(raw, "waits", wait)?,
        })
    }
}

fn calls(raw: &Value) -> Result<Calls, Wrong> {
    let sent = numbers(raw, "t_s")?.into_iter().zip(numbers(raw, "op")?).collect();
    Ok(Calls { every: count(raw, "every")?.max(1), sent })
}

fn clients(raw: &Value) -> Result<Clients, Wrong> {
    let (ranks, latencies, attempts) =
        (numbers(raw, "rank")?, numbers(raw, "latency_s")?, numbers(raw, "attempts")?);
    let ranks = ranks.into_iter().zip(latencies).zip(attempts);
    Ok(Clients {
        by_op: look(raw, "by_op").and_then(Value::as_bool).unwrap_or(false),
        ranks: ranks.map(|((rank, latency), attempts)| (rank, latency, attempts)).collect(),
    })
}

fn steps(raw: &Value) -> Result<Steps, Wrong> {
    let step_s = needed_number(raw, "step_s")?;
    if step_s <= 0.0 {
        return Err(Wrong::new("step_s", "is not above zero"));
    }
    let column = |(key, name): &(&'static str, &'static str)| {
        let there = look(raw, key).is_some();
        there.then(|| numbers(raw, key).map(|values| (*name, values)))
    };
    Ok(Steps { step_s, columns: COLUMNS.iter().filter_map(column).collect::<Result<_, _>>()? })
}

fn wait(raw: &Value) -> Result<Wait, Wrong> {
    let mean_s = needed_number(raw, "mean_s")?;
    Ok(Wait {
        retry: needed_number(raw, "retry")?,
        mean_s,
        p5_s: number(raw, "p5_s")?.unwrap_or(mean_s),
        p95_s: number(raw, "p95_s")?.unwrap_or(mean_s),
    })
}

/// A list of numbers; null is not a number.
pub(super) fn numbers(raw: &Value, path: &str) -> Result<Vec<f64>, Wrong> {
    let number = |(index, value): (usize, &Value)| match value {
        Value::Null => Ok(f64::NAN),
        value => as_number(value, &format!("{path}[{index}]")),
    };
    list(raw, path)?.iter().enumerate().map(number).collect()
}
