//! Load factor of a workload: the arrival rate of ops divided by the capacity of the server.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use loadgen_core::{OperationKind, RequestKind, authorization};
use mockserver::core::{Capacity, CapacityLimit, Config, RequestFields, Traffic, TrafficKind};
use results::numbers::{counted, short, thousands};
use results::{LoadRecord, Mode};
use vocabulary::{Rate, duration_text};

use crate::experiment::Experiment;

/// Returns the requests per second that each limit of the server allows in the long run, for the requests of this experiment in virtual
/// time. Empty for conditional writes and for servers whose capacity is unknown.
pub fn limits_per_s(experiment: &Experiment, server: &Config) -> Vec<f64> {
    let is_request = experiment.run.kind == OperationKind::Request;
    let limits = server.limits(&traffic(experiment, Mode::Simulated)).filter(|_| is_request);
    limits.unwrap_or_default().iter().map(|limit| limit.per_s).collect()
}

#[derive(Clone, Debug)]
pub struct Load {
    rate: Rate,
    capacity: Capacity,
    preset: Option<String>,
    scale: Option<f64>,
    lasts: Option<Duration>,
}

impl Load {
    /// Returns the load of an experiment on a server. Returns `None` if the server's capacity is unknown, or if ops have no arrival rate
    /// (closed loops, bursts and lists of arrivals). Also returns `None` for requests from local addresses that the user chose, and for
    /// conditional writes. The number of requests of a conditional write depends on the clients.
    pub fn new(experiment: &Experiment, server: Option<&Config>, mode: Mode) -> Option<Self> {
        let (rate, server) = (experiment.rate()?, server?);
        if experiment.run.kind != OperationKind::Request || !experiment.sending.local_addresses.is_empty() {
            return None;
        }
        let workload = &experiment.run.workload;
        let of_ops = workload.ops.map(|ops| ops as f64 / rate.per_s());
        let of_ops = of_ops.and_then(|s| Duration::try_from_secs_f64(s).ok());
        Some(Self {
            rate,
            capacity: server.capacity(&traffic(experiment, mode))?,
            preset: server
                .preset
                .as_ref()
                .map(|preset| preset.split(':').next().unwrap_or(preset).to_owned()),
            scale: server.scale,
            lasts: [of_ops, workload.duration].into_iter().flatten().min(),
        })
    }

    pub fn factor(&self) -> f64 {
        self.rate.per_s() / self.capacity.per_s
    }

    pub fn sentence(&self) -> String {
        format!("{} is {} × {} ({})", self.rate, short(self.factor()), self.allowed(), self.limit())
    }

    pub fn line(&self, ops: Option<u64>) -> String {
        match ops.filter(|_| self.preset.is_none()) {
            Some(ops) => {
                let (factor, limit) = (short(self.factor()), self.limit());
                format!("{} at {}: {factor} × capacity ({limit})", counted(ops, "op"), self.rate)
            }
            None => self.sentence(),
        }
    }

    /// Returns the server's number of slots if the slots are its bottleneck. Returns `None` if a growing load reaches a rate limit first.
    pub fn slots(&self) -> Option<u64> {
        match self.capacity.limit {
            CapacityLimit::Slots { slots, .. } => Some(slots),
            CapacityLimit::Rate { .. } => None,
        }
    }

    pub fn record(&self) -> LoadRecord {
        LoadRecord { factor: self.factor(), words: self.sentence() }
    }

    fn allowed(&self) -> String {
        let Some(preset) = &self.preset else { return "capacity".to_owned() };
        let scale = self.scale.map(|scale| format!(" at scale {scale}")).unwrap_or_default();
        format!("what `{preset}` allows{scale}")
    }

    fn limit(&self) -> String {
        match &self.capacity.limit {
            CapacityLimit::Slots { slots, service } => {
                format!("{} × {}", counted(*slots, "slot"), spaced(*service))
            }
            CapacityLimit::Rate { burst, cost, .. } => {
                let burst = burst.filter(|burst| *burst > 1).map(thousands);
                let burst = burst.map(|burst| format!(", burst {burst}")).unwrap_or_default();
                let is_one = (cost - 1.0).abs() < 1e-9;
                let cost = if is_one { String::new() } else { format!(", mean cost {}", short(*cost)) };
                format!("{}{burst}{cost}", self.in_some_time().unwrap_or_default())
            }
        }
    }

    fn in_some_time(&self) -> Option<String> {
        let CapacityLimit::Rate { amount, per, .. } = &self.capacity.limit else { return None };
        let amount = amount.parse().map_or_else(|_| amount.clone(), thousands);
        let per = match per.as_str() {
            "/s" => " a second".to_owned(),
            "/min" => " a minute".to_owned(),
            "/h" => " an hour".to_owned(),
            "/day" => " a day".to_owned(),
            other => other.replacen('/', " in ", 1),
        };
        Some(format!("{amount}{per}"))
    }

    /// Returns sentences for a run in which no attempt was rejected. They explain that the load was within the server's limit, and suggest
    /// a load that reaches this limit.
    pub fn within_limit(&self) -> Vec<String> {
        let lasting = self.lasts.map(|lasts| format!(" for {}", spaced(rounded(lasts)))).unwrap_or_default();
        let server =
            self.preset.as_ref().map_or_else(|| "the server".to_owned(), |preset| format!("`{preset}`"));
        let limit = match (&self.capacity.limit, self.in_some_time()) {
            (CapacityLimit::Rate { burst: Some(burst), .. }, Some(rate)) if *burst > 1 => {
                format!("{rate} after a burst of {}", thousands(*burst))
            }
            _ => self.limit(),
        };
        vec![
            format!("{}{lasting} stays within the limit of {server} ({limit}).", self.rate),
            match self.smaller_scale() {
                Some(scale) => format!("Try {}, or --scale {}.", self.beyond_limit(), scale),
                None => format!("Try {}.", self.beyond_limit()),
            },
        ]
    }

    /// Returns command-line flags for a load that exceeds the server's limit. The rate is 1.4 times the capacity. The duration is at least
    /// twice the time in which such a load uses up the server's burst.
    pub fn beyond_limit(&self) -> String {
        let Capacity { per_s, burst, .. } = self.capacity;
        let rate = round_up(1.4 * per_s);
        let least_s = 2.0 * burst / (rate - per_s);
        let lasts = LENGTHS_S.iter().find(|length| **length as f64 >= least_s);
        let lasts = lasts.map(|s| format!(" --duration {}", duration_text::format(Duration::from_secs(*s))));
        format!("--rate {rate}/s{}", lasts.unwrap_or_default())
    }

    /// Returns a scale of the preset that is small enough for the current load to reach the limit.
    fn smaller_scale(&self) -> Option<f64> {
        self.preset.as_ref()?;
        let Capacity { per_s, burst, .. } = self.capacity;
        let seconds = self.lasts?.as_secs_f64();
        let offered = self.rate.per_s() * seconds / (burst + per_s * seconds);
        let tenths = [10.0, 100.0, 1000.0].into_iter().find(|tenths| 1.0 / *tenths <= offered / 2.0)?;
        Some(self.scale.unwrap_or(1.0) / tenths)
    }
}

const LENGTHS_S: &[u64] = &[10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400];

/// Rounds a number up to the next number with two significant digits.
fn round_up(number: f64) -> f64 {
    let mut unit = 1.0;
    while number / unit >= 100.0 {
        unit *= 10.0;
    }
    let mut parts = 1.0;
    while number * parts / unit < 10.0 && parts < 1e9 {
        parts *= 10.0;
    }
    // A small number is subtracted before rounding up, because of rounding errors: 12.000000000000002 means 12.
    (number * parts / unit - 1e-9).ceil() / parts * unit
}

fn rounded(duration: Duration) -> Duration {
    if duration < Duration::from_secs(10) { duration } else { Duration::from_secs(duration.as_secs()) }
}

fn spaced(duration: Duration) -> String {
    let text = duration_text::format(duration);
    let parts = text.split(' ').map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(part.len());
        let (number, unit) = part.split_at(end);
        format!("{number} {}", if unit == "m" { "min" } else { unit })
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn traffic(experiment: &Experiment, mode: Mode) -> Traffic {
    let (requests, template) = (&experiment.run.requests, &experiment.request);
    let is_real = mode == Mode::Http;
    let mut common: Vec<(Box<str>, Box<str>)> = Vec::new();
    if is_real {
        let text = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            Some((name.as_str().into(), value.to_str().ok()?.into()))
        };
        common.extend(template.headers.iter().filter_map(text));
    }
    if requests.api_keys.is_some() {
        common.retain(|(name, _)| **name != *AUTHORIZATION.as_str());
        common.push((AUTHORIZATION.as_str().into(), authorization(0).into()));
    }
    // Experiments of merged documents lack the bodies of kinds.
    let body = |kind: Option<&RequestKind>, own: Option<&Arc<[u8]>>| match own {
        Some(own) => Some(own.to_vec()),
        None if kind.is_some_and(|kind| kind.body.is_some()) => None,
        None if is_real && kind.is_none_or(RequestKind::has_body) => Some(template.body.to_vec()),
        None => Some(Vec::new()),
    };
    let details = |kind: Option<&RequestKind>| {
        let costs =
            [(wire::COST, kind.and_then(|kind| kind.cost)), (wire::USED, kind.and_then(|kind| kind.used))];
        let costs =
            costs.into_iter().filter_map(|(name, cost)| Some((name.into(), cost?.to_string().into())));
        RequestFields {
            method: kind.map_or_else(|| template.method.as_str().into(), |kind| kind.method.clone()),
            path: kind.map_or_else(|| "/".into(), |kind| kind.path.clone()),
            address: Some(Ipv4Addr::LOCALHOST.into()),
            headers: common.iter().cloned().chain(costs).collect(),
            fields: Vec::new(),
        }
    };
    Traffic {
        kinds: match &requests.mix {
            None => vec![TrafficKind { share: 1.0, details: details(None), body: body(None, None) }],
            Some(mix) => {
                let kinds = mix.shares().enumerate();
                let kinds = kinds.map(|(number, (share, kind))| {
                    let body = body(Some(kind), requests.bodies.get(&number));
                    TrafficKind { share, details: details(Some(kind)), body }
                });
                kinds.collect()
            }
        },
        api_keys: requests.api_keys.map_or(1, Into::into),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{PARAMETERS, Spelling, WorkloadSpec};

    fn load(typed: &[(&str, &str)], server: &Config) -> Option<Load> {
        let mut spec = WorkloadSpec::default();
        for (key, text) in typed {
            let parameter = PARAMETERS.iter().find(|parameter| parameter.key == *key).unwrap();
            parameter.set(&mut spec, text).unwrap();
        }
        let experiment = Experiment::new("none".parse().unwrap(), &spec, Spelling::Flags).unwrap();
        Load::new(&experiment, Some(server), Mode::Simulated)
    }

    fn preset(text: &str, scale: Option<f64>) -> Config {
        Config::default().with_preset(text, scale).unwrap()
    }

    #[test]
    fn a_load_is_described_as_a_multiple_of_capacity() {
        let openai = || preset("openai", None);
        let scarce = Config { policy: "gcra:rate=40/300s,burst=1".parse().unwrap(), ..Config::default() };
        for (typed, server, words) in [
            (&[][..], Config::default(), "1000/s is 10 × capacity (50 slots × 500 ms)"),
            (&[("rate", "12/s")], openai(), "12/s is 1.44 × what `openai` allows (500 a minute, burst 500)"),
            (
                &[("rate", "720/m")],
                preset("openai", Some(0.1)),
                "720/m is 14.4 × what `openai` allows at scale 0.1 (50 a minute, burst 50)",
            ),
            (
                &[("rate", "12/s"), ("mix", "POST /v1 cost=600; POST /v1 cost=1400")],
                openai(),
                "12/s is 24 × what `openai` allows (30 000 a minute, burst 30 000, mean cost 1 000)",
            ),
            (&[("rate", "1/s"), ("arrivals", "uniform")], scarce, "1/s is 7.50 × capacity (40 in 5m)"),
        ] {
            assert_eq!(load(typed, &server).unwrap().sentence(), words);
        }
    }

    #[test]
    fn closed_loops_bursts_and_unknown_servers_have_no_load() {
        let server = Config::default();
        assert!(load(&[("in_flight", "20")], &server).is_none());
        assert!(load(&[("arrivals", "burst"), ("ops", "100")], &server).is_none());
        assert!(load(&[("kind", "read-modify-write")], &server).is_none());
        let experiment = Experiment::new("none".parse().unwrap(), &WorkloadSpec::default(), Spelling::Flags);
        assert!(Load::new(&experiment.unwrap(), None, Mode::Http).is_none());
    }

    #[test]
    fn a_load_within_the_limit_comes_with_a_higher_suggestion() {
        let openai = load(&[("rate", "10/s"), ("duration", "3m")], &preset("openai", None)).unwrap();
        assert_eq!(
            openai.within_limit(),
            [
                "10/s for 3 min stays within the limit of `openai` (500 a minute after a burst of 500).",
                "Try --rate 12/s --duration 5m, or --scale 0.1.",
            ]
        );
        let slots = load(&[("rate", "50/s"), ("ops", "500")], &Config::default()).unwrap();
        assert_eq!(
            slots.within_limit(),
            [
                "50/s for 10 s stays within the limit of the server (50 slots × 500 ms).",
                "Try --rate 140/s --duration 10s.",
            ]
        );
    }
}
