//! Flags of the nominal experiment, and experiments on servers that differ from the nominal one.

use std::ffi::OsString;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use experiments::Experiment;
use experiments::servers::server_under_test::ServerUnderTest;
use shell::args::{MOCK_SERVER, RunArgs, WORKLOAD};
use shell::exit::{Exit, Fatal};
use shell::runner::experiment;
use tailback::StrategySpec;
use vocabulary::{Distribution, duration_text, split_outside};

use crate::args::{RecommendArgs, UNUSED};
use crate::range::Range;
use crate::servers::PlausibleServer;

/// Flag of the network time.
pub(super) const NETWORK: &str = "network-delay";

/// Largest deviation of a request's network time from its mean, as a share of the mean.
const NETWORK_SPREAD: f64 = 0.3;

/// Flags of the workload and the server as given on the command line. Flags that were not given are left out.
#[derive(Clone, Debug)]
pub(super) struct Flags(Vec<Flag>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Flag {
    name: String,
    value: Option<String>,
}

impl Flags {
    pub(super) fn given(matches: &ArgMatches) -> anyhow::Result<Self> {
        let mut flags = Vec::new();
        for arg in RecommendArgs::flags().get_arguments() {
            let (id, heading) = (arg.get_id().as_str(), arg.get_help_heading().unwrap_or_default());
            let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
            if ![WORKLOAD, MOCK_SERVER].contains(&heading) || !is_given {
                continue;
            }
            let name = arg.get_long().unwrap_or_default().to_owned();
            if UNUSED.contains(&id) {
                let words = format!(
                    "`--{name}` has no effect on `loadgen recommend`, which chooses and simulates its runs itself; leave it out"
                );
                return Err(Fatal::error(Exit::Usage, words));
            }
            if !arg.get_action().takes_values() {
                flags.push(Flag { name, value: None });
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                let value = Some(value.to_string_lossy().into_owned());
                flags.push(Flag { name: name.clone(), value });
            }
        }
        Ok(Self(flags))
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|flag| flag.name == name)?.value.as_deref()
    }

    /// Returns the flags with another value of a server flag, or of a parameter of the preset (`STAGE.PARAMETER`).
    pub(super) fn with(&self, key: &str, value: &str) -> Self {
        let mut flags = self.clone();
        if !key.contains('.') {
            flags.set(key, value);
        } else if let Some(preset) = self.value("preset") {
            flags.set("preset", &with_option(preset, key, value));
        }
        flags
    }

    pub(super) fn on_server(&self, server: &PlausibleServer, ranges: &[Range]) -> Self {
        server.changes(ranges).iter().fold(self.clone(), |flags, (key, value)| flags.with(key, value))
    }

    /// Returns the flags with a network time that each request draws, uniform around its mean: ±30 %, at least ±`least`. A distribution that
    /// was typed stays. Without it, every plausible server would have a constant network, and a rate at the server's limit would seem safe.
    pub(super) fn with_drawn_network(mut self, usual: Distribution, least: Duration) -> Self {
        let typed = self.value(NETWORK).and_then(|text| text.parse().ok());
        let Distribution::Constant(mean) = typed.unwrap_or(usual) else { return self };
        let spread = mean.mul_f64(NETWORK_SPREAD).max(least);
        if spread.is_zero() {
            return self;
        }
        let (low, high) = (mean.saturating_sub(spread), mean + spread);
        self.set(NETWORK, &Distribution::Uniform { low, high }.to_string());
        self
    }

    /// Returns the flags with a share of the duration or of the ops, of which there are `ops`.
    pub(super) fn with_share(mut self, share: f64, ops: u64) -> Self {
        // `ops` is an estimate if there is a duration, so whole runs keep what was typed.
        if share.total_cmp(&1.0).is_eq() {
            return self;
        }
        let duration = self.value("duration").and_then(|text| duration_text::parse(text).ok());
        if let Some(duration) = duration {
            self.set("duration", &duration_text::format(duration.mul_f64(share)));
        }
        if duration.is_none() || self.value("ops").is_some() {
            self.set("ops", &(share * ops as f64).ceil().to_string());
        }
        self
    }

    pub(super) fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|flag| flag.name != name).cloned().collect())
    }

    fn set(&mut self, name: &str, value: &str) {
        let flag = Flag { name: name.to_owned(), value: Some(value.to_owned()) };
        match self.0.iter_mut().find(|flag| flag.name == name) {
            Some(known) => *known = flag,
            None => self.0.push(flag),
        }
    }

    pub(super) fn words(&self) -> Vec<String> {
        let words = |Flag { name, value }: &Flag| [Some(format!("--{name}")), value.clone()];
        self.0.iter().flat_map(words).flatten().collect()
    }

    /// Returns one experiment per given strategy, configured by the command-line flags in `self`, and the server under
    /// test. A number of workers beside a strategy replaces that of the flags.
    ///
    /// # Errors
    /// Fails if the flags contradict each other.
    pub(super) fn experiments<'a>(
        &self,
        strategies: impl IntoIterator<Item = (&'a StrategySpec, Option<u32>)>,
    ) -> anyhow::Result<(Vec<Experiment>, ServerUnderTest)> {
        let fixed = ["loadgen", "recommend", "--strategy", "none"].map(str::to_owned);
        // A value that begins with a dash would be taken for a flag, so it is joined to its flag.
        let joined = self.0.iter().map(|Flag { name, value }| match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        });
        let typed: Vec<OsString> = fixed.into_iter().chain(joined).map(OsString::from).collect();
        let args = RecommendArgs::read(&typed).map_err(|error| {
            let words = error.to_string();
            let first = words.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Fatal::error(Exit::Usage, first)
        })?;
        let mut run = RunArgs::defaults();
        (run.simulate, run.workload, run.server) = (true, args.workload, args.server);
        run.target.method = args.method;
        let mut experiments = Vec::new();
        let workers_of_flags = run.workload.0.in_flight;
        for (strategy, in_flight) in strategies {
            run.strategy = Some(strategy.clone());
            run.workload.0.in_flight = in_flight.or(workers_of_flags);
            experiments.push(experiment::of_flags(&run)?);
        }
        let seed = experiments.first().map_or(1, |first| first.run.seed);
        let what = "the server cannot be configured";
        let config = run.server.to_config(seed).map_err(|error| Fatal::because(Exit::Usage, what, error))?;
        let server = ServerUnderTest::Own(Box::new(config));
        for experiment in &experiments {
            server.refuse_unusable(experiment).map_err(|error| Fatal::because(Exit::Usage, what, error))?;
            experiment.refuse_request_of_its_own()?;
        }
        Ok((experiments, server))
    }
}

fn with_option(preset: &str, key: &str, value: &str) -> String {
    let (name, options) = preset.split_once(':').unwrap_or((preset, ""));
    let kept = split_outside(options, ',').filter(|option| {
        let option = option.trim();
        !option.is_empty() && option.split_once('=').is_none_or(|(known, _)| known.trim() != key)
    });
    let own = format!("{key}={value}");
    let all: Vec<&str> = kept.chain([own.as_str()]).collect();
    format!("{name}:{}", all.join(","))
}

pub(super) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+:,./@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(typed: &str) -> Flags {
        let words = ["loadgen", "recommend", "--strategy", "none"].into_iter().chain(typed.split(' '));
        let words: Vec<OsString> = words.map(OsString::from).collect();
        Flags::given(&RecommendArgs::matches(&words).unwrap()).unwrap()
    }

    #[test]
    fn only_given_flags_of_workload_and_server_are_kept() {
        let flags = given("--in-flight 20 --preset openai:tokens=off --no-rejects-occupy --unsure none");
        assert_eq!(flags.words().join(" "), "--in-flight 20 --no-rejects-occupy --preset openai:tokens=off");
        assert_eq!(given("-n 5 -c 2").words().join(" "), "--ops 5 --in-flight 2");
    }

    #[test]
    fn a_server_flag_or_a_parameter_of_the_preset_is_replaced() {
        let flags = given("--preset openai:tokens=off,requests.rate=9/s --in-flight 20");
        let with = |key, value| flags.with(key, value).words().join(" ");
        assert!(with("requests.rate", "8/s").contains("--preset openai:tokens=off,requests.rate=8/s"));
        assert!(with("requests.own", "no").ends_with("rate=9/s,requests.own=no"));
        assert!(with("service-time", "1s").ends_with("--service-time 1s"));
        assert_eq!(
            given("--in-flight 1 --preset openai").with("a.b", "c").value("preset"),
            Some("openai:a.b=c")
        );
    }

    #[test]
    fn a_share_of_a_run_has_fewer_ops_and_a_whole_run_has_what_was_typed() {
        let of = |typed: &str, share| given(typed).with_share(share, 1_000).words().join(" ");
        assert_eq!(of("--in-flight 1", 10.0), "--in-flight 1 --ops 10000");
        assert_eq!(of("--rate 5/s --duration 20s", 0.5), "--duration 10s --rate 5/s");
        let both = "--ops 2000 --duration 20s --rate 50/s";
        assert_eq!(of(both, 0.5), "--ops 500 --duration 10s --rate 50/s");
        assert_eq!(of(both, 1.0), both);
    }

    #[test]
    fn each_request_draws_its_network_time_unless_a_distribution_is_typed() {
        let usual = Distribution::Constant(Duration::from_millis(100));
        let network = |typed: &str, least_ms| {
            let flags = given(typed).with_drawn_network(usual, Duration::from_millis(least_ms));
            flags.value(NETWORK).unwrap().to_owned()
        };
        assert_eq!(network("--in-flight 1", 20), "uniform(70ms,130ms)");
        assert_eq!(network("--in-flight 1 --network-delay 5ms", 0), "uniform(3ms 500us,6ms 500us)");
        assert_eq!(network("--in-flight 1 --network-delay 5ms", 20), "uniform(0s,25ms)");
        assert_eq!(network("--in-flight 1 --network-delay exp(5ms)", 20), "exp(5ms)");
        assert_eq!(network("--in-flight 1 --network-delay 0s", 0), "0s");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("lognormal(2s,0.5)"), "'lognormal(2s,0.5)'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("preset:openai,max-attempts=6"), "preset:openai,max-attempts=6");
    }
}
