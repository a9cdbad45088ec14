//! Check whether a run is a valid measurement, and warnings with advice for readers of its figures.

use std::fmt;
use std::time::Duration;

use loadgen_core::{AdvisedWait, ExcessFigures, Latencies, Run};
use vocabulary::Instant;

use crate::figures::numbers::{counted, milliseconds, percent, seconds, short, thousands};

/// Threshold for the send lag (lateness of sends), in milliseconds of real time. A larger lag distorts any experiment.
const MUCH_TOO_LATE_MS: f64 = 20.0;
/// Lower threshold for the send lag, in milliseconds of real time. A larger lag distorts an experiment only if it also exceeds
/// [`USUAL_SHARE`] of an attempt's duration.
const TOO_LATE_MS: f64 = 2.0;
/// Largest harmless send lag, as a share of the median duration of an attempt.
const USUAL_SHARE: f64 = 1.0 / 20.0;
/// Minimum number of sends from which a 99th percentile is meaningful.
const MIN_SENDS: u64 = 100;
/// Maximum number of late sends, of fewer than [`MIN_SENDS`], that may be chance.
const CHANCE: u64 = 3;
const FULL_CORE: f64 = 0.95;

/// Parameters of a strategy that give an op up instead of waiting longer than [`WORTH_GIVING_UP`].
const GIVE_UP: &str = "advice-limit=10m,advice-beyond=give-up";
const WORTH_GIVING_UP: Duration = Duration::from_mins(10);

/// Minimum share of a run's time, spent waiting for writes to the file of attempts, that causes a warning. A smaller share hardly affects
/// the measurement.
const HELD_UP_SHARE: f64 = 0.02;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GeneratorLoad {
    /// Send lag by which the generator is judged ([`judged_lag`](Self::judged_lag)), in milliseconds of experiment time.
    pub send_lag_ms: f64,
    /// Median duration of an attempt, in milliseconds of experiment time; 0 before the first answer.
    pub usual_attempt_ms: f64,
    /// Ratio of real time to experiment time in a run.
    pub time_scale: f64,
    /// Share of time for which the load generator's busiest thread ran or waited for a processor; `None` if unknown.
    pub cpu_share: Option<f64>,
    pub waited_for_connection: u64,
}

/// Evidence that the load generator itself was the bottleneck, and not the strategy or the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bottleneck {
    /// 1 % of attempts were sent more than `late_ms` late, in milliseconds of real time.
    Late { late_ms: f64, waited_for_connection: u64 },
    /// Share of time for which the load generator's busiest thread ran or waited for a processor.
    Busy(f64),
}

impl GeneratorLoad {
    /// Returns the send lag that more than 1 % of the sends exceed and, of fewer than 100 sends, also more than three.
    pub fn judged_lag(send_lag: &Latencies) -> Duration {
        match send_lag.count() {
            0..=CHANCE => Duration::ZERO,
            few @ ..MIN_SENDS => send_lag.quantile((few - CHANCE - 1) as f64 / (few - 1) as f64),
            _ => send_lag.quantile(0.99),
        }
    }

    pub fn bottleneck(&self) -> Option<Bottleneck> {
        let late_ms = self.send_lag_ms * self.time_scale;
        // If an experiment runs faster than real time, a short delay in real time is a long delay in the experiment. The lag is therefore
        // also compared with the duration of an attempt.
        let much = self.usual_attempt_ms > 0.0 && self.send_lag_ms > self.usual_attempt_ms * USUAL_SHARE;
        if late_ms > MUCH_TOO_LATE_MS || late_ms > TOO_LATE_MS && much {
            return Some(Bottleneck::Late { late_ms, waited_for_connection: self.waited_for_connection });
        }
        self.cpu_share.filter(|share| *share > FULL_CORE).map(Bottleneck::Busy)
    }
}

impl Bottleneck {
    /// Returns true if the text of a warning is that of a bottleneck.
    pub fn is_named_in(warning: &str) -> bool {
        warning.starts_with(ABOUT_MACHINE[0])
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late { late_ms, waited_for_connection } => {
                let waited = match waited_for_connection {
                    0 => String::new(),
                    count => format!("; {} attempts waited for a connection to open", thousands(*count)),
                };
                write!(
                    f,
                    "the generator was the bottleneck: 1 % of attempts were sent more than {} late (real time), so latencies \
                     are partly its own{waited}; lower the load or use a faster machine",
                    milliseconds(*late_ms)
                )
            }
            Self::Busy(share) => write!(
                f,
                "the generator may have been the bottleneck: it ran, or waited for a processor, {} of the time; compare \
                 with a lower load",
                percent(*share)
            ),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    ServerRestarted,
    ServerReset,
    CountsForgotten,
    CountsUnknown(String),
    Bottleneck(Bottleneck),
    /// The run had to wait for the consumer of its attempts (such as the file of `--samples`), because the consumer was slower than the
    /// run.
    HeldUp {
        /// Total time for which the run waited, in real time.
        waited: Duration,
        of_run: f64,
    },
    Distorted {
        /// Mean time by which attempts took longer than the server had calculated, in milliseconds.
        excess_ms: f64,
        /// Value of `excess_ms` as a share of the mean service time.
        of_service: f64,
    },
    ServerChanged,
    /// Number of attempts that a gateway answered in place of the recognised server.
    ByGateway(u64),
    Unfinished(u64),
    /// Long wait that a server advised: the number of ops that still waited at the end of the run, and the wait that ended last. If no op
    /// waited at the end, it is the longest wait of the run.
    AdvisedWait(u64, AdvisedWait),
    /// Response bodies of which only the first part was searched for the words of `--rejected-when`.
    CutBodies(u64),
    /// Number of attempts that ended while they waited for a connection.
    Unsent(u64),
    /// The run was stopped as stalled. The number is the count of consecutive tries that failed at one instant of experiment time.
    NoTimePasses(u64),
    FewConnections {
        most: u64,
        open_files: u64,
        /// Largest number of attempts that the run had in flight at the same time.
        in_flight: u64,
        enough_files: u64,
    },
    FewAccepted {
        accepted: u64,
        opened: u64,
    },
    /// The attempts failed as they do where plain HTTP is sent to a TLS server. The value is the URL.
    MaySpeakTls(String),
    /// The server asked for a client certificate, and attempts failed.
    AsksForCertificate {
        sent: bool,
    },
}

impl Warning {
    pub fn held_up(waited: Duration, run: Duration) -> Option<Self> {
        let of_run = waited.as_secs_f64() / run.as_secs_f64().max(1e-9);
        (of_run >= HELD_UP_SHARE).then_some(Self::HeldUp { waited, of_run })
    }

    /// Returns the warning that ops of a run that is over waited long because a server advised it.
    pub fn advised_wait(run: &Run) -> Option<Self> {
        let still = run.advised_waits().map(|(ops, last)| Self::AdvisedWait(ops, last));
        let waited = || Some(Self::AdvisedWait(0, run.longest_advised_wait()?));
        still
            .or_else(waited)
            .filter(|warning| matches!(warning, Self::AdvisedWait(_, last) if last.wait > WORTH_GIVING_UP))
    }

    /// Returns the warning that attempts took longer than the server had calculated. The caller has checked that this excess is large
    /// enough to matter.
    pub fn distorted(of_service: f64, excess: &ExcessFigures) -> Self {
        Self::Distorted { excess_ms: excess.mean.unwrap_or_default(), of_service }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = |what: &str| {
            format!(
                "the mockserver was {what} during the run, so its earlier counts are lost and were not compared"
            )
        };
        match self {
            Self::ServerRestarted => f.write_str(&lost("restarted")),
            Self::ServerReset => f.write_str(&lost("reset")),
            Self::CountsForgotten => f.write_str(
                "the mockserver had more runs at once than it can count separately, so this run's counts are incomplete and were not compared",
            ),
            Self::CountsUnknown(why) => write!(f, "the server's counts could not be compared: {why}"),
            Self::Bottleneck(bottleneck) => bottleneck.fmt(f),
            Self::HeldUp { waited, of_run } => write!(
                f,
                "the run waited {} for writes to the file of `--samples`, {} of its time (real time), so it made fewer attempts \
                 or made them later; write to a faster disk, or lower the load",
                milliseconds(waited.as_secs_f64() * 1e3),
                percent(*of_run)
            ),
            Self::Distorted { excess_ms, of_service } => write!(
                f,
                "attempts took {} longer than the configured server and network, {} of the mean service time, because this machine is too slow; use longer times, a `--time-scale` above 1, or `--simulate`",
                milliseconds(*excess_ms),
                percent(*of_service)
            ),
            Self::ServerChanged => f.write_str(
                "the server's configuration was changed during the run, so there is no lower bound",
            ),
            Self::ByGateway(attempts) => {
                write!(f, "a gateway answered {}: no lower bound known", counted(*attempts, "attempt"))
            }
            Self::Unfinished(ops) => {
                let were = if *ops == 1 { "was" } else { "were" };
                write!(f, "{} {were} unfinished when the time of `--drain` was over", counted(*ops, "op"))
            }
            Self::AdvisedWait(still, longest) => {
                let waits = match still {
                    0 => format!("an op waited {}", advice_of(longest)),
                    ops => advised_waits(*ops, longest),
                };
                write!(f, "{waits}; `{GIVE_UP}` gives up at once instead")
            }
            Self::CutBodies(bodies) => {
                let were = if *bodies == 1 { "was" } else { "were" };
                write!(
                    f,
                    "{} {were} searched only in part, because at most 1 MiB of each body and 256 MiB of all bodies are kept (--rejected-when)",
                    counted(*bodies, "response")
                )
            }
            Self::Unsent(attempts) => write!(
                f,
                "{} never sent, because all connections (over HTTP/2, all streams that the server allows) were in use; these are not in the counts of attempts",
                if *attempts == 1 { "1 attempt was".to_owned() } else { format!("{} attempts were", thousands(*attempts)) }
            ),
            Self::NoTimePasses(tries) => write!(
                f,
                "the run was stopped, because {} consecutive tries failed at one instant: network, rejections and the strategy's delays all take no time; set `--network-delay`, `--delay-noise` or `--reject-time` above 0, or give the strategy a delay",
                thousands(*tries)
            ),
            Self::FewConnections { most, open_files, in_flight, enough_files } => write!(
                f,
                "attempts waited for a connection, because all {} connections that the limit of {} open files allows were in use; up to {} were in flight, so run `ulimit -n {enough_files}` first, or use `--simulate`",
                thousands(*most),
                thousands(*open_files),
                thousands(*in_flight)
            ),
            Self::FewAccepted { accepted, opened } => write!(
                f,
                "the server accepted only {} of {} before the run, so further attempts waited in the client; raise its limit (`mockserver --max-connections`), or lower the load (`--in-flight`)",
                thousands(*accepted),
                counted(*opened, "connection")
            ),
            Self::AsksForCertificate { sent: false } => {
                write!(f, "{ASKS_FOR_CERTIFICATE}: add `--cert FILE --key FILE`")
            }
            Self::AsksForCertificate { sent: true } => {
                write!(f, "{ASKS_FOR_CERTIFICATE}; it may not accept `--cert`")
            }
            Self::MaySpeakTls(url) => write!(
                f,
                "{WRITE_HTTPS} if `{url}` speaks TLS; attempts failed as they do where plain HTTP is sent to a TLS server"
            ),
        }
    }
}

/// Formats how long ops wait, and what the server advised.
pub fn advised_waits(ops: u64, last: &AdvisedWait) -> String {
    format!("{} {} {}", counted(ops, "op"), if ops == 1 { "waits" } else { "wait" }, advice_of(last))
}

fn advice_of(last: &AdvisedWait) -> String {
    let AdvisedWait { until, wait, advised } = *last;
    let cut =
        if advised > wait { format!(", cut to {} (`advice-limit`)", long(wait)) } else { String::new() };
    format!("until {}: the server advised {}{cut}", long(until.since(Instant::ORIGIN)), long(advised))
}

/// Formats a duration that may be years long.
fn long(duration: Duration) -> String {
    let (s, hour) = (duration.as_secs_f64(), 3600.0);
    match s / hour {
        hours if hours >= 72.0 => format!("{} days", short(hours / 24.0)),
        hours if hours >= 2.0 => format!("{} h", short(hours)),
        _ => seconds(s),
    }
}

/// True if a warning names a remedy in its text. Such a warning is never shortened.
pub fn names_remedy(warning: &str) -> bool {
    warning.contains(GIVE_UP)
}

const ASKS_FOR_CERTIFICATE: &str = "the server asked for a client certificate";
const WRITE_HTTPS: &str = "write `https://`";

/// Returns the warning that says why no attempt of a run succeeded.
pub fn reason_for_failure(warnings: &[String]) -> Option<&str> {
    let is_reason = |warning: &&String| {
        [ASKS_FOR_CERTIFICATE, WRITE_HTTPS].iter().any(|beginning| warning.starts_with(beginning))
    };
    warnings.iter().find(is_reason).map(String::as_str)
}

/// Beginnings of warnings about the machine that runs the load generator. All other warnings limit the meaning of figures.
const ABOUT_MACHINE: [&str; 4] =
    ["the generator ", "the run waited ", "attempts took ", "attempts waited for a connection"];

/// True if a warning is about the machine and not about the figures. Lists are sorted by this key, because a reader needs the other warnings
/// first. The argument is a text, because warnings of merged and of saved documents are texts.
pub fn is_about_machine(warning: &str) -> bool {
    let merged = ["seed ", "shard "].iter().find_map(|prefix| warning.strip_prefix(prefix)?.split_once(": "));
    let text = merged.map_or(warning, |(_, text)| text);
    ABOUT_MACHINE.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(send_lag_ms: f64, usual_attempt_ms: f64, time_scale: f64) -> GeneratorLoad {
        GeneratorLoad { send_lag_ms, usual_attempt_ms, time_scale, ..GeneratorLoad::default() }
    }

    #[test]
    fn lateness_is_judged_in_real_time_and_by_attempt_latency() {
        assert_eq!(load(19.0, 600.0, 1.0).bottleneck(), None);
        assert!(load(21.0, 600.0, 1.0).bottleneck().is_some());
        assert!(load(3.0, 50.0, 1.0).bottleneck().is_some(), "a twentieth of 50 ms is 2.5 ms");
        assert_eq!(load(3.0, 80.0, 1.0).bottleneck(), None);
        assert_eq!(load(15.0, 50.0, 0.1).bottleneck(), None, "that is 1.5 ms of real time");
        assert!(load(250.0, 6000.0, 0.1).bottleneck().is_some());
    }

    #[test]
    fn few_late_sends_are_no_bottleneck_before_a_hundred_attempts() {
        let lag_ms = |late: u64, sends: u64| {
            let mut lags = Latencies::exact();
            (0..sends).for_each(|send| lags.record(Duration::from_millis(if send < late { 30 } else { 0 })));
            GeneratorLoad::judged_lag(&lags).as_secs_f64() * 1e3
        };
        let found = |late, sends| load(lag_ms(late, sends), 600.0, 1.0).bottleneck().is_some();
        for (late, sends) in [(0, 0), (1, 1), (3, 3), (1, 20), (3, 20), (3, 99), (1, 100)] {
            assert!(!found(late, sends), "{late} of {sends}");
        }
        for (late, sends) in [(4, 4), (4, 5), (4, 20), (4, 99), (2, 100), (20, 1000)] {
            assert!(found(late, sends), "{late} of {sends}");
        }
        assert_eq!(load(5.0, 0.0, 1.0).bottleneck(), None, "no attempt has ended yet");
        let busy = GeneratorLoad { cpu_share: Some(0.96), ..load(5.0, 0.0, 1.0) };
        assert_eq!(busy.bottleneck(), Some(Bottleneck::Busy(0.96)), "a full core is one at once");
    }

    #[test]
    fn a_full_core_is_a_bottleneck_but_lateness_has_precedence() {
        let busy = |lag| GeneratorLoad { cpu_share: Some(0.96), ..load(lag, 600.0, 1.0) }.bottleneck();
        assert_eq!(busy(0.1), Some(Bottleneck::Busy(0.96)));
        assert!(matches!(busy(30.0), Some(Bottleneck::Late { .. })));
        let text = busy(30.0).map(|found| Warning::Bottleneck(found).to_string()).unwrap();
        assert!(
            text.starts_with(
                "the generator was the bottleneck: 1 % of attempts were sent more than 30.0 ms late"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_wait_for_samples_is_reported_if_it_is_much_of_the_run() {
        let run = Duration::from_secs(10);
        assert_eq!(Warning::held_up(Duration::from_millis(150), run), None);
        let text = Warning::held_up(Duration::from_secs(4), run).unwrap().to_string();
        assert!(text.starts_with("the run waited 4.00 s for writes to the file of `--samples`"), "{text}");
        assert!(text.contains("40.0 % of its time"), "{text}");
    }

    #[test]
    fn warnings_come_with_advice() {
        let warning = Warning::FewConnections { most: 17, open_files: 64, in_flight: 80, enough_files: 192 }
            .to_string();
        assert!(
            warning.contains("`ulimit -n 192`") && warning.contains("limit of 64 open files"),
            "{warning}"
        );
        let warning = Warning::FewAccepted { accepted: 20, opened: 128 }.to_string();
        assert!(
            warning.starts_with("the server accepted only 20 of 128 connections before the run"),
            "{warning}"
        );
        assert!(warning.contains("`mockserver --max-connections`"), "{warning}");
        assert_eq!(
            [1, 2000].map(|ops| Warning::Unfinished(ops).to_string()),
            ["1 op was", "2 000 ops were"]
                .map(|words| format!("{words} unfinished when the time of `--drain` was over"))
        );
    }

    const DAY: AdvisedWait = AdvisedWait {
        until: Instant::from_millis(86_400_400),
        wait: Duration::from_hours(24),
        advised: Duration::from_secs(1_795_831_626),
    };

    #[test]
    fn a_long_wait_is_described_with_its_advice_and_a_remedy() {
        let one = "1 op waits until 24.0 h: the server advised 20 785 days, cut to 24 h (`advice-limit`)";
        assert_eq!(advised_waits(1, &DAY), one);
        let hour = Duration::from_mins(90);
        let uncut = AdvisedWait { until: Instant::ORIGIN + hour, wait: hour, advised: hour };
        assert_eq!(advised_waits(1200, &uncut), "1 200 ops wait until 90.0 min: the server advised 90.0 min");
        let over = Warning::AdvisedWait(0, DAY).to_string();
        assert!(
            over.starts_with("an op waited until 24.0 h: the server advised 20 785 days, cut to"),
            "{over}"
        );
        assert!(
            over.ends_with("; `advice-limit=10m,advice-beyond=give-up` gives up at once instead"),
            "{over}"
        );
        assert!(names_remedy(&over) && names_remedy(&Warning::AdvisedWait(1, DAY).to_string()));
    }

    #[test]
    fn warnings_about_figures_come_before_those_about_the_machine() {
        let second = Duration::from_secs(1);
        let about_machine = [
            Warning::Bottleneck(Bottleneck::Busy(1.0)),
            Warning::Bottleneck(Bottleneck::Late { late_ms: 30.0, waited_for_connection: 0 }),
            Warning::HeldUp { waited: second, of_run: 0.5 },
            Warning::Distorted { excess_ms: 1.0, of_service: 0.1 },
            Warning::FewConnections { most: 1, open_files: 8, in_flight: 9, enough_files: 40 },
        ];
        let about_figures = [
            Warning::ServerRestarted,
            Warning::ServerReset,
            Warning::CountsForgotten,
            Warning::CountsUnknown("it is gone".to_owned()),
            Warning::ServerChanged,
            Warning::ByGateway(3),
            Warning::Unfinished(2),
            Warning::AdvisedWait(1, DAY),
            Warning::NoTimePasses(9),
            Warning::FewAccepted { accepted: 1, opened: 2 },
        ];
        let [about_machine, about_figures] = [&about_machine[..], &about_figures]
            .map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>());
        for shard in ["", "shard 12: ", "seed 3: "] {
            let texts = |all: &[String]| all.iter().map(|text| format!("{shard}{text}")).collect::<Vec<_>>();
            let (machine, figures) = (texts(&about_machine), texts(&about_figures));
            let mut all = [&machine[..], &figures].concat();
            all.sort_by_key(|warning| is_about_machine(warning));
            assert_eq!(all, [figures, machine].concat());
        }
    }
}
