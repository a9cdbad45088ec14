//! Table of workload parameters, in the order of help texts.
//!
//! A new parameter needs a line in this table and a field in [`WorkloadSpec`]. It also needs code in `WorkloadSpec`
//! that applies the field to a run. Command lines, files and records then support the parameter without further code.

use std::collections::BTreeMap;

use loadgen_core::{MAX_API_KEYS, OperationKind};
use results::Setting;

use super::parameter::{AllowedIn, Kind, Parameter, Word};
use super::spec::{Arrivals, MAX_CLIENTS, MAX_OPS, WorkloadSpec};

pub static PARAMETERS: &[Parameter] = &[
    Parameter::new(
        "ops",
        "N",
        "Number of ops [default: 2000, without --duration]",
        Kind::Count { min: 1, max: MAX_OPS, field: |spec| &mut spec.ops },
    )
    .short('n'),
    Parameter::new(
        "ops_per_client",
        "N",
        "Number of ops of each client",
        Kind::Count { min: 1, max: MAX_OPS, field: |spec| &mut spec.ops_per_client },
    )
    .only(AllowedIn::Files),
    Parameter::new(
        "duration",
        "TIME",
        "Time during which ops arrive\n\nWith --ops, arrivals end at whichever comes first.",
        Kind::PositiveDuration(|spec| &mut spec.duration),
    )
    .short('z'),
    Parameter::new(
        "drain",
        "TIME",
        "Time to finish ops after --duration [default: 60s with --duration]",
        Kind::Duration(|spec| &mut spec.drain),
    ),
    Parameter::new(
        "rate",
        "RATE",
        "Rate of arrivals, such as `20/s` [default: 1000/s]\n\nPer second, minute or hour (open loop). There is no \
         default where --target is not a mockserver. `10/s..100/s` changes over --duration; stages have times of their \
         own: `10/s for 1m; 10/s..100/s for 2m; 100/s for 5m`.",
        Kind::Rate(|spec| &mut spec.rate),
    ),
    Parameter::new("arrivals", "ARRIVALS", "Open loop: arrival process", Kind::Words(ARRIVALS))
        .by_default("poisson"),
    Parameter::new(
        "scatter",
        "GROUPS",
        "Open loop: groups of ops, each scattered over a period of time",
        Kind::Groups(|spec| &mut spec.scatter),
    )
    .only(AllowedIn::Files),
    Parameter::new("at", "TIMES", "Open loop: ops at these instants", Kind::Instants(|spec| &mut spec.at))
        .only(AllowedIn::Files),
    Parameter::new(
        "in_flight",
        "N",
        "Closed loop: at most N unfinished ops\n\nThe next op arrives when one ends, which hides queueing.",
        Kind::SmallCount { min: 1, max: MAX_CLIENTS, field: |spec| &mut spec.in_flight },
    )
    .short('c')
    .excluding(&["rate", "arrivals"]),
    Parameter::new(
        "clients",
        "K",
        "Independent clients; op i belongs to client i mod K",
        Kind::SmallCount { min: 1, max: MAX_CLIENTS, field: |spec| &mut spec.clients },
    )
    .by_default("1"),
    Parameter::new(
        "share_strategy",
        "BOOL",
        "One strategy instance for all clients instead of one each",
        Kind::Switch(|spec| &mut spec.share_strategy),
    ),
    Parameter::new(
        "timeout",
        "TIME",
        "Time after which an attempt without a response has failed",
        Kind::PositiveDuration(|spec| &mut spec.timeout),
    )
    .by_default("30s"),
    Parameter::new(
        "deadline",
        "TIME",
        "Give up an op that cannot start its next attempt within this time of its arrival",
        Kind::PositiveDuration(|spec| &mut spec.deadline),
    ),
    Parameter::new(
        "within",
        "TIME",
        "Count an op as done in time if it succeeds within this time of its arrival; the run itself does not change \
         [default: --deadline; without one, any time]",
        Kind::PositiveDuration(|spec| &mut spec.within),
    ),
    Parameter::new(
        "warm_up",
        "TIME",
        "Exclude ops that arrive and attempts that are sent within this time of the start from latencies; they still \
         count",
        Kind::Duration(|spec| &mut spec.warm_up),
    )
    .by_default("0")
    .only(AllowedIn::CommandLine),
    Parameter::new(
        "max_attempts",
        "N",
        "Attempts after which an op is given up",
        Kind::SmallCount { min: 1, max: u32::MAX, field: |spec| &mut spec.max_attempts },
    )
    .only(AllowedIn::CommandLine),
    Parameter::new(
        "retry_failed",
        "BOOL",
        "Do not retry ops after failures (timeouts, resets, 5xx), only after rejections",
        Kind::Truth(|spec| &mut spec.retry_failed),
    )
    .by_default("true"),
    Parameter::new(
        "delay_noise",
        "TIME",
        "In virtual time: amplitude by which constant network delays vary, uniformly distributed; 0 for exact delays \
         [default: 200us]",
        Kind::Duration(|spec| &mut spec.delay_noise),
    ),
    Parameter::new(
        "kind",
        "KIND",
        "Requests of one attempt: a single request, or a read followed at once by a write that fails if another client wrote in between",
        Kind::Words(KINDS),
    )
    .by_default("request"),
    Parameter::new(
        "mix",
        "KINDS",
        "Kinds of requests by weight: `GET /repos 8; POST /issues?x=1 @issue.json 2 cost=5`. Each is `METHOD PATH[?QUERY] \
         [@FILE] [WEIGHT] [cost=N] [used=N]`. PATH is appended to that of the target; FILE, or else --body, is sent with methods \
         that have a body. Results have neither the values of queries nor the folders of files. A mockserver receives `cost` (x-tailback-cost) and the actual cost, `used` (x-tailback-used)",
        Kind::Mix(|spec| &mut spec.mix),
    )
    .recorded_as_typed(),
    Parameter::new(
        "api_keys",
        "N",
        "Send each op with one of N API keys, drawn uniformly: `authorization: Bearer key-0000017`",
        Kind::SmallCount { min: 1, max: MAX_API_KEYS, field: |spec| &mut spec.api_keys },
    )
    .recorded_as_typed(),
    Parameter::new(
        "rejected_when",
        "LIST",
        "Further rejections besides 429, 503 and 529: statuses, or words in bodies, such as `403,body:THROTTLED`. A mockserver's \
         own statuses need no entry\n\nA word is found anywhere in the first 1 MiB of a body, in the same case, if no letter or digit is \
         beside it. A word with `-` is found in any case, and `-` matches a blank, `-` or `_`. A value that begins with `body:` \
         and has blanks is one phrase to its end, such as 'body:Rate exceeded, try later'. The flag can be given several times",
        Kind::RejectedWhen(|spec| &mut spec.rejected_when),
    )
    .recorded_as_typed(),
    Parameter::new(
        "success",
        "LIST",
        "Statuses that count as successes, such as `200-399,404` [default: 200-299]. 429, 503, 529 and --rejected-when win over \
         ranges; statuses listed singly win over them. Words of --rejected-when and a mockserver's own verdict always win",
        Kind::Success(|spec| &mut spec.success),
    )
    .only(AllowedIn::CommandLine)
    .recorded_as_typed(),
    Parameter::new(
        "bins",
        "TIME",
        "Width of the time bins in which calls are counted",
        Kind::PositiveDuration(|spec| &mut spec.bins),
    )
    .only(AllowedIn::Files),
    Parameter::new(
        "patience",
        "TIME",
        "Time without a success after which a run counts as stalled",
        Kind::Duration(|spec| &mut spec.patience),
    )
    .only(AllowedIn::Files),
    Parameter::new(
        "seed",
        "N",
        "Seed of all random draws; repeat r uses seed + r",
        Kind::Count { min: 0, max: u64::MAX, field: |spec| &mut spec.seed },
    )
    .by_default("1")
    .only(AllowedIn::CommandLine),
    Parameter::new(
        "repeats",
        "N",
        "Runs to do, each with its own seed",
        Kind::SmallCount { min: 1, max: 1_000_000, field: |spec| &mut spec.repeats },
    )
    .by_default("1")
    .only(AllowedIn::CommandLine),
    Parameter::new(
        "time_scale",
        "F",
        "Real seconds per second of the experiment: with 0.2, 25 s take 5 s. Figures stay in experiment time",
        Kind::TimeScale(|spec| &mut spec.time_scale),
    )
    .by_default("1")
    .only(AllowedIn::CommandLine),
];

const ARRIVALS: &[Word] = &[
    Word {
        name: "poisson",
        about: "Independent arrivals at the rate",
        choose: |spec| spec.arrivals = Some(Arrivals::Poisson),
    },
    Word {
        name: "uniform",
        about: "Evenly spaced at the rate",
        choose: |spec| spec.arrivals = Some(Arrivals::Uniform),
    },
    Word { name: "burst", about: "All at once", choose: |spec| spec.arrivals = Some(Arrivals::Burst) },
];

const KINDS: &[Word] = &[
    Word { name: "request", about: "One request", choose: |spec| spec.kind = Some(OperationKind::Request) },
    Word {
        name: "read-modify-write",
        about: "GET, then at once PUT with `If-Match`; 412 is a rejection",
        choose: |spec| spec.kind = Some(OperationKind::ReadModifyWrite),
    },
];

/// Workload parameters that results contain exactly as the user gave them. For these parameters, results have no separate field for the
/// value that a run actually uses.
pub fn recorded_as_typed(spec: &WorkloadSpec) -> BTreeMap<String, Setting> {
    let parameters = PARAMETERS.iter().filter(|parameter| parameter.recorded_as_typed);
    parameters.filter_map(|parameter| Some((parameter.key.to_owned(), parameter.recorded(spec)?))).collect()
}
#[cfg(test)]
mod tests {
    use super::super::spec::WorkloadSpec;
    use super::*;

    /// Returns a valid text for a parameter; `None` for a list.
    fn example(parameter: &Parameter) -> Option<String> {
        Some(match parameter.kind {
            Kind::Count { max, .. } => max.to_string(),
            Kind::SmallCount { max, .. } => max.to_string(),
            Kind::Duration(_) | Kind::PositiveDuration(_) => "1m 30s".to_owned(),
            Kind::Rate(_) => "2.5/s".to_owned(),
            Kind::TimeScale(_) => "0.2".to_owned(),
            Kind::Switch(_) | Kind::Truth(_) => "false".to_owned(),
            Kind::Words(words) => words.last()?.name.to_owned(),
            Kind::Mix(_) => "GET /repos 8; POST /issues 2 cost=5".to_owned(),
            Kind::RejectedWhen(_) => "403,body:THROTTLED".to_owned(),
            Kind::Success(_) => "200-399,404".to_owned(),
            Kind::Groups(_) | Kind::Instants(_) => return None,
        })
    }

    #[test]
    fn the_documentation_has_every_key_of_scenarios() {
        let page = include_str!("../../../../docs/scenarios.md");
        let (_, rest) = page.split_once("\n## `[workload]`\n").unwrap();
        let section = rest.split("\n## ").next().unwrap();
        for parameter in PARAMETERS.iter().filter(|parameter| parameter.place != AllowedIn::CommandLine) {
            let key = format!("`{}`", parameter.key);
            assert!(section.contains(&key), "docs/scenarios.md, `[workload]`: no {key}");
        }
    }

    #[test]
    fn every_parameter_sets_its_own_field_and_shows_it_as_given() {
        let mut all = WorkloadSpec::default();
        for parameter in PARAMETERS {
            let Some(text) = example(parameter) else { continue };
            assert_eq!(parameter.show(&all), None, "{} is another's, too", parameter.key);
            parameter.set(&mut all, &text).unwrap();
            assert_eq!(parameter.show(&all), Some(text), "{}", parameter.key);
        }
    }

    #[test]
    fn parameters_are_recorded_unless_they_have_the_default() {
        for parameter in PARAMETERS {
            let Some(text) = example(parameter) else { continue };
            let mut spec = WorkloadSpec::default();
            assert_eq!(parameter.recorded(&spec), None, "{}", parameter.key);
            parameter.set(&mut spec, &text).unwrap();
            let recorded = parameter.recorded(&spec).map(|setting| setting.to_string());
            let usual = matches!(parameter.kind, Kind::Switch(_)) || parameter.default == Some(&*text);
            assert_eq!(recorded, Some(text).filter(|_| !usual), "{}", parameter.key);
        }
    }

    #[test]
    fn what_is_not_accepted_is_refused_and_changes_nothing() {
        for parameter in PARAMETERS {
            let mut spec = WorkloadSpec::default();
            parameter.set(&mut spec, "nonsense").unwrap_err();
            assert_eq!(spec, WorkloadSpec::default(), "{}", parameter.key);
        }
    }

    #[test]
    fn keys_are_unique_and_what_a_parameter_excludes_is_there() {
        let keys: Vec<&str> = PARAMETERS.iter().map(|parameter| parameter.key).collect();
        for (index, parameter) in PARAMETERS.iter().enumerate() {
            assert!(!keys[..index].contains(&parameter.key), "{} is given twice", parameter.key);
            assert!(parameter.excludes.iter().all(|key| keys.contains(key)), "{}", parameter.key);
        }
    }
}
