//! Command-line flags that set the behaviour of a server, both for `mockserver` and for the server inside `loadgen`.

use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use clap::Args;
use command_line::{count, probability, suggesting};
use mockserver_core::{
    ADVICE_FORMS, Advice, AnswersConfig, Caps, Config, ConfigError, Faults, Outages, POLICIES, Policies,
    Policy, PolicyError, Schedule, Script, expand, read_scale, read_wait, server_preset_names,
};
use vocabulary::{Distribution, split_options};

/// Wait that the user gives, or `none`. The alias hides the `Option` from clap, which would make the value optional.
type MaybeWait = Option<Duration>;

/// Behaviour of the server. Durations are fixed or drawn, see [`Distribution`].
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Mock server")]
pub struct ServerFlags {
    /// Number of slots: requests served at once.
    #[arg(long, value_name = "N", value_parser = count::<u32>(0, u32::MAX.into()), help = with_default("Slots: requests served at once; further ones are rejected", Config::default().max_busy))]
    max_busy: Option<u32>,

    /// Service time of an accepted request.
    #[arg(
        long,
        value_name = "TIME",
        help = with_default("Service time of a request", Config::default().service_time),
        long_help = with_default(
            "Service time of an accepted request. Like every TIME of a delay, it is a fixed duration, or it is \
             drawn at random: `exp(MEAN)`, `lognormal(MEAN,SIGMA)` (MEAN of the durations, SIGMA of their \
             logarithm), `uniform(LOW,HIGH)` or `normal(MEAN,SD)`",
            Config::default().service_time,
        )
    )]
    service_time: Option<Distribution>,

    /// Time that a rejection takes.
    #[arg(long, value_name = "TIME", help = with_default("Time that a rejection takes", Config::default().reject_time))]
    reject_time: Option<Distribution>,

    /// Artificial network delay from client to server.
    #[arg(long, value_name = "TIME", help = with_default("Artificial network delay from client to server", Config::default().network_delay))]
    network_delay: Option<Distribution>,

    /// Whether a rejected request holds a slot for its reject time. Hidden from the help, because only sweeps vary it.
    #[arg(long, value_name = "BOOL", hide = true)]
    rejects_occupy: Option<bool>,

    /// Let rejected requests hold no slot; by default, each holds one for its reject time.
    #[arg(long, conflicts_with = "rejects_occupy")]
    no_rejects_occupy: bool,

    /// HTTP status of rejections.
    #[arg(long, value_name = "CODE", value_parser = status, help = with_default("Status of rejections, from 400 to 599", Config::default().reject_status))]
    reject_status: Option<u16>,

    /// Value of `Retry-After` in rejections.
    #[arg(long, value_name = "TIME", value_parser = read_wait, help = "Value of `Retry-After` in rejections \
        [default: none]")]
    retry_after: Option<MaybeWait>,

    /// Policies by which the server admits requests.
    #[arg(
        long,
        value_name = "POLICY",
        value_parser = suggesting(read, || POLICIES.iter().map(|entry| entry.name)),
        hide_possible_values = true,
        help = "Policy that admits requests, such as `token-bucket:rate=10/s,burst=10`",
        long_help = with_default(
            "Policy that admits requests, such as `token-bucket:rate=10/s,burst=10` (docs/servers.md). The flag \
             can be given several times; then all policies must admit a request. `script:file=PATH` reads a \
             script from a file",
            Config::default().policy,
        )
    )]
    policy: Option<Vec<Policies>>,

    /// Preset of the real server that the mock server imitates.
    #[arg(
        long,
        value_name = "NAME",
        value_parser = suggesting(preset, server_preset_names),
        hide_possible_values = true,
        conflicts_with = "policy",
        help = "Real server to imitate, see `mockserver presets`"
    )]
    preset: Option<String>,

    #[arg(
        long,
        value_name = "F",
        requires = "preset",
        // Without it, `requires` has no effect beside `--policy`, which excludes `--preset`.
        conflicts_with = "policy",
        value_parser = read_scale,
        help = "Factor that scales the limits of the preset, such as 0.02",
        long_help = "Factor that scales the rates, bursts, limits and caps of the preset, such as 0.02 \
                     [default: 1]\n\nIt changes neither the lengths of windows nor values that are given \
                     after the name of the preset."
    )]
    scale: Option<f64>,

    /// Forms in which answers advise when to retry.
    #[arg(
        long,
        value_name = "FORMS",
        help = advice_help()
    )]
    advice: Option<Advice>,

    #[arg(long, value_name = "TIME", help = with_default("Artificial network delay from server to client", Config::default().return_delay))]
    return_delay: Option<Distribution>,

    #[arg(long, value_name = "P", value_parser = probability, help = with_default("Probability that a request or an answer is lost, such as 0.01 or 1%", Config::default().loss))]
    loss: Option<f64>,

    /// Outages of the server, in which every request is rejected.
    #[arg(
        long,
        value_name = "RANGES",
        help = "Outages, in which every request is rejected, in time since the start of the server, such as \
                `10s..40s,60s..90s`. For outages in time since the start of a run, use --schedule '10s..40s \
                down' [default: never]"
    )]
    outages: Option<Outages>,

    /// Changes of the server's number of slots, each from a given time on.
    #[arg(
        long,
        value_name = "LIST",
        help = "Changes of the number of slots, in time since the start of the server: `10s=25,20s=80` sets \
                25 slots after 10 s and 80 after 20 s [default: --max-busy all the time]"
    )]
    caps: Option<Caps>,

    /// Faults that the server injects, each with its share of the requests.
    #[arg(
        long,
        value_name = "LIST",
        help = "Injected faults, each with its share of the requests, such as `reset:1%,500:2%:after`. The \
                faults are `reset`, `close`, `hang`, `truncate`, `garbage`, `slow-headers(TIME)`, \
                `slow-body(TIME)` and statuses from 400 to 599. A fault replaces the work of a request, or \
                with `:after` only its answer [default: none]"
    )]
    fault: Option<Faults>,

    /// Number of attempts that are rejected at the start of every op.
    #[arg(long, value_name = "N", value_parser = count::<u32>(0, u32::MAX.into()), help = with_default("Reject the first N attempts of every op; for clients that name no op, the first N requests with the same method and URL until one is served", Config::default().reject_first))]
    reject_first: Option<u32>,

    /// Changes of the server's settings during a run.
    #[arg(
        long,
        value_name = "ENTRIES",
        help = "Changes during a run, in time since its first request. Entries set `max-busy` or a \
                parameter of a policy, as a step, a ramp or a wave, or begin an outage: '0s max-busy=50; \
                10s max-busy=20; 20s..25s down; 30s..40s max-busy=20..80; 40s.. \
                token-bucket.rate=50+30*sin(20s)'. An outage without an end, such as `20s down`, lasts \
                until the next entry [default: none]"
    )]
    schedule: Option<Schedule>,
}

fn advice_help() -> String {
    let names: Vec<String> = ADVICE_FORMS.iter().map(|form| format!("`{}`", form.name)).collect();
    format!(
        "Forms in which rejections advise when to retry, joined by `+`: `none`, {}. Advice can be made too \
         early, too late or missing: `seconds:share=0.7,late=2s` is in 70% of the rejections, and 2 s too \
         late [default: seconds with --retry-after, else none]",
        names.join(", ")
    )
}

fn preset(text: &str) -> Result<String, String> {
    expand(text, None).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn with_default(words: &str, default: impl std::fmt::Display) -> String {
    format!("{words} [default: {default}]")
}

impl ServerFlags {
    pub fn any_given(&self) -> bool {
        *self != Self::default()
    }

    fn base(&self) -> Result<Config, ConfigError> {
        let default = Config::default();
        let config = match (&self.preset, &self.policy) {
            (Some(preset), _) => default.with_preset(preset, self.scale)?,
            (None, Some(typed)) => {
                let policy = Policies::new(typed.iter().flat_map(Policies::iter).cloned().collect())?;
                Config { policy, ..default }
            }
            (None, None) => default,
        };
        let key = match (self.max_busy, &self.caps) {
            _ if config.has_cap() => return Ok(config),
            (Some(_), _) => "max_busy",
            (None, Some(caps)) if !caps.is_empty() => "caps",
            (None, _) => return Ok(config),
        };
        let max_busy = self.max_busy.unwrap_or(config.max_busy);
        let caps = self.caps.clone().unwrap_or_default();
        Err(Config { max_busy, caps, ..config }.no_cap(key))
    }

    fn answers(&self, own: AnswersConfig) -> AnswersConfig {
        let answers = match &self.advice {
            Some(advice) => own.advising(&advice.to_string()),
            None => own,
        };
        if self.reject_status.is_some() { answers.rejecting_alike() } else { answers }
    }

    /// Returns the server's configuration. Flags override the preset or, without a preset, the defaults.
    ///
    /// # Errors
    /// Fails if a value is out of range.
    pub fn to_config(&self, seed: u64) -> Result<Config, ConfigError> {
        let base = self.base()?;
        let config = Config {
            max_busy: self.max_busy.unwrap_or(base.max_busy),
            service_time: self.service_time.unwrap_or(base.service_time),
            reject_time: self.reject_time.unwrap_or(base.reject_time),
            network_delay: self.network_delay.unwrap_or(base.network_delay),
            rejects_occupy: !self.no_rejects_occupy && self.rejects_occupy.unwrap_or(base.rejects_occupy),
            reject_status: self.reject_status.unwrap_or(base.reject_status),
            retry_after: self.retry_after.unwrap_or(base.retry_after),
            seed,
            return_delay: self.return_delay.unwrap_or(base.return_delay),
            loss: self.loss.unwrap_or(base.loss),
            outages: self.outages.clone().unwrap_or(base.outages),
            reject_first: self.reject_first.unwrap_or(base.reject_first),
            caps: self.caps.clone().unwrap_or(base.caps),
            answers: self.answers(base.answers),
            fault: self.fault.clone().unwrap_or(base.fault),
            schedule: self.schedule.clone().unwrap_or(base.schedule),
            ..base
        };
        config.validate()?;
        Ok(config)
    }
}

/// Parses an HTTP status. The check that it is an error status is made later, with the rest of the configuration.
fn status(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "it must be an error status from 400 to 599, such as 503 or 429".to_owned())
}

/// Maximum size of a script, in bytes. The script becomes part of the configuration, which clients download.
const LONGEST: u64 = 256 << 10;

/// Parses a stack of policies. `script:file=PATH` is replaced by the content of the file, so that the recorded configuration can be reused
/// without the file.
pub(crate) fn read(text: &str) -> Result<Policies, String> {
    let policies = Policies::parts(text).map(one).collect::<Result<_, _>>()?;
    Policies::new(policies).map_err(|error| error.to_string())
}

fn one(text: &str) -> Result<Policy, String> {
    let (name, options) = split_options(text);
    let path = options.iter().find_map(|(key, value)| value.filter(|_| *key == "file"));
    match path {
        Some(path) if is_scripted(name) => {
            if options.iter().any(|(key, _)| *key == "steps") {
                return Err(format!(
                    "policy `{name}` reads its steps from the file; leave out `steps` or `file={path}`"
                ));
            }
            let others = options.iter().filter(|option| **option != ("file", Some(path)));
            from_file(name, path, others.map(|(key, value)| format!(",{key}={}", value.unwrap_or_default())))
        }
        _ => text.parse().map_err(|error: PolicyError| error.to_string()),
    }
}

fn is_scripted(name: &str) -> bool {
    POLICIES.iter().any(|entry| entry.name == name)
        && name.parse().is_ok_and(|policies: Policies| policies.script().is_some())
}

fn from_file(policy: &str, path: &str, others: impl Iterator<Item = String>) -> Result<Policy, String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text))
        .map_err(|error| format!("the script `{path}` cannot be read: {error}"))?;
    if text.len() as u64 > LONGEST {
        return Err(format!("the script `{path}` is longer than the maximum of {} KiB", LONGEST >> 10));
    }
    let script = Script::from_json(&text).map_err(|error| {
        let source =
            std::error::Error::source(&error).map_or_else(String::new, |source| format!(": {source}"));
        format!("the script `{path}`: {error}{source}")
    })?;
    let others: String = others.collect();
    format!("{policy}:steps={script}{others}").parse().map_err(|error: PolicyError| error.to_string())
}

#[cfg(test)]
mod tests {

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Typed {
        #[command(flatten)]
        server: ServerFlags,
    }

    fn refusal(typed: &str) -> String {
        match Typed::try_parse_from(std::iter::once("x").chain(typed.split(' '))) {
            Ok(typed) => typed.server.to_config(1).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_means_nothing_is_refused_with_what_to_write() {
        for (typed, words) in [
            ("--policy token-bucket --max-busy 8", "`max_busy` sets the number of requests served at once"),
            ("--policy token-bucket --caps 10s=5", "`caps` sets the number of requests served at once"),
            ("--preset github --max-busy 10", "`--preset 'github:concurrent.cap=10'`"),
            (
                "--preset github --caps 10s=5,20s=9",
                "write `10s concurrent.cap=5; 20s concurrent.cap=9` as `schedule`",
            ),
            ("--policy token-bucket --scale 0.5", "cannot be used with"),
            ("--preset github --scale 2%", "must be a number from 0.000001 to 1000000"),
            ("--preset github --scale 1e300", "must be a number from 0.000001 to 1000000"),
            ("--preset github --scale=", "must be a number from 0.000001 to 1000000"),
            ("--advice nonse", "did you mean `none`?"),
        ] {
            let error = refusal(typed);
            assert!(error.contains(words), "{typed}: {error}");
        }
    }

    #[test]
    fn the_help_lists_every_form_of_advice() {
        for form in ADVICE_FORMS {
            assert!(advice_help().contains(&format!("`{}`", form.name)));
        }
    }

    fn in_file(content: &str) -> Result<String, String> {
        with_options(content, "")
    }

    fn with_options(content: &str, options: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("steps.json");
        std::fs::write(&path, content).unwrap();
        let path = path.to_str().unwrap();
        read(&format!("script:file={path}{options}"))
            .map(|policy| policy.to_string())
            .map_err(|error| error.replace(path, "PATH"))
    }

    #[test]
    fn a_script_in_a_file_becomes_part_of_the_policy() {
        let content =
            r#"[{"status": 429, "headers": {"retry-after": "@date+3"}, "body": "a, b"}, {"close": true}]"#;
        assert_eq!(
            in_file(content).as_deref(),
            Ok("script:steps=429 retry-after:@date%2B3 body:a%2C%20b|close,by=op")
        );
        let smile = r#"[{"status": 503, "body": ":("}, {"fault": "hang:after"}]"#;
        assert_eq!(
            with_options(smile, ",by=call").as_deref(),
            Ok("script:steps=503 body::%28|hang:after,by=call")
        );
        assert_eq!(read("script:steps=503|200").unwrap().to_string(), "script:steps=503|200,by=op");
        assert_eq!(read("concurrency-cap").unwrap(), Policies::default());
    }

    #[test]
    fn an_invalid_file_reports_the_error() {
        for (content, words) in [
            ("[{\"status\": 503},", "the script `PATH`: the file is not a list of steps: EOF while parsing"),
            ("[{\"status\": 5}]", "the script `PATH`: step 1 of op 1: `status` is 5"),
            (&" ".repeat(300 << 10), "the script `PATH` is longer than the maximum of 256 KiB"),
        ] {
            let error = in_file(content).unwrap_err();
            assert!(error.starts_with(words), "{error}");
        }
        let error = read("script:file=/nowhere/steps.json").unwrap_err();
        assert!(error.starts_with("the script `/nowhere/steps.json` cannot be read: "), "{error}");
        let error = read("script:file=a.json,steps=503").unwrap_err();
        assert_eq!(
            error,
            "policy `script` reads its steps from the file; leave out `steps` or `file=a.json`"
        );
        assert!(read("overwhelmed-queue:file=a").unwrap_err().contains("has no parameter `file`"));
    }
}
