//! The flags that describe a server's behaviour: `mockserver` has them, and `loadgen` for its embedded one.

use std::time::Duration;

use crate::policy_file;
use crate::suggesting::suggesting;
use crate::typed::{count, probability};
use clap::Args;
use mockserver_core::{
    ADVICE_FORMS, Advice, AnswersConfig, Caps, Config, ConfigError, Faults, Outages, POLICIES, Policies,
    Schedule, expand, read_scale, server_preset_names,
};
use vocabulary::{Distribution, duration_text};

/// How the server behaves. Durations are fixed or drawn, see [`Distribution`].
#[derive(Args, Clone, Debug, Default)]
#[command(
    next_help_heading = "Mock server (durations are fixed, `500ms`, or drawn: `exp(MEAN)`, `lognormal(MEAN,SIGMA)`, `uniform(LOW,HIGH)`, `normal(MEAN,SD)`)"
)]
pub struct ServerFlags {
    /// Requests served at once; whoever comes while all slots are busy is rejected.
    #[arg(long, value_name = "N", value_parser = count::<u32>(0, u32::MAX.into()), help = with_default("Requests served at once; more are rejected", Config::default().max_busy))]
    max_busy: Option<u32>,

    /// How long an accepted request is served.
    #[arg(long, value_name = "TIME", help = service_time_help())]
    service_time: Option<Distribution>,

    /// How long a rejection takes.
    #[arg(long, value_name = "TIME", help = with_default("How long a rejection takes", Config::default().reject_time))]
    reject_time: Option<Distribution>,

    /// The artificial way from client to server.
    #[arg(long, value_name = "TIME", help = with_default("Artificial way from client to server", Config::default().network_delay))]
    network_delay: Option<Distribution>,

    /// Whether a rejected request holds a slot while it takes its time.
    #[arg(long, value_name = "BOOL", help = with_default("Whether a rejected request holds a slot while it takes its time: true or false", Config::default().rejects_occupy))]
    rejects_occupy: Option<bool>,

    /// The status of a rejection.
    #[arg(long, value_name = "CODE", value_parser = status, help = with_default("Status of a rejection, 400 to 599", Config::default().reject_status))]
    reject_status: Option<u16>,

    /// What a rejection advises in `Retry-After`.
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse, help = "What a rejection advises in `Retry-After` [default: nothing]")]
    retry_after: Option<Duration>,

    /// Whom it serves.
    #[arg(
        long,
        value_name = "POLICY",
        value_parser = suggesting(policy_file::read, policies),
        hide_possible_values = true,
        help = policy_help()
    )]
    policy: Option<Vec<Policies>>,

    /// The server that it is to be.
    #[arg(
        long,
        value_name = "NAME",
        value_parser = suggesting(preset, server_preset_names),
        hide_possible_values = true,
        conflicts_with = "policy",
        help = preset_help()
    )]
    preset: Option<String>,

    /// What a preset's figures are multiplied with.
    #[arg(
        long,
        value_name = "F",
        requires = "preset",
        value_parser = scale,
        help = "Multiply the preset's rates, bursts, limits and caps, not its windows, nor what is typed: 0.02 for a fiftieth [default: 1]"
    )]
    scale: Option<f64>,

    /// How answers advise when to come back.
    #[arg(
        long,
        value_name = "FORMS",
        help = advice_help()
    )]
    advice: Option<Advice>,

    /// The artificial way from server to client.
    #[arg(long, value_name = "TIME", help = with_default("Artificial way from server to client", Config::default().return_delay))]
    return_delay: Option<Distribution>,

    /// The probability with which a message is lost.
    #[arg(long, value_name = "P", value_parser = probability, help = with_default("Probability, 0 to 1 or in percent, that a message is lost on either way", Config::default().loss))]
    loss: Option<f64>,

    /// When it is down.
    #[arg(
        long,
        value_name = "RANGES",
        help = "When everything is rejected at once, in time since the server's start, such as `10s..40s,60s..90s`; on a run's own clock: --schedule '10s..40s down' [default: never]"
    )]
    outages: Option<Outages>,

    /// Slots from later instants on.
    #[arg(
        long,
        value_name = "LIST",
        help = "Slots from later instants on, in time since the server's start, such as `10s=25,20s=80` [default: never another number]"
    )]
    caps: Option<Caps>,

    /// What goes wrong on purpose.
    #[arg(
        long,
        value_name = "LIST",
        help = "Faults and the share of requests that meets each, such as `reset:1%,500:2%:after`: `reset`, `close`, `hang`, `truncate`, `garbage`, `slow-headers(TIME)`, `slow-body(TIME)` or a status from 400 to 599; before anything is done, or with `:after` when the work is done and charged [default: none]"
    )]
    fault: Option<Faults>,

    /// Attempts of every op that are rejected first.
    #[arg(long, value_name = "N", value_parser = count::<u32>(0, u32::MAX.into()), help = with_default("Reject the first N attempts of every op", Config::default().reject_first))]
    reject_first: Option<u32>,

    /// What changes during a run.
    #[arg(
        long,
        value_name = "ENTRIES",
        help = "What changes during a run, in time since its first request: `max-busy` and parameters of policies, which are set from an instant on, go from one value to another or in waves, and outages, such as '0s max-busy=50; 10s max-busy=20; 20s..25s down; 30s..40s max-busy=20..80; 40s.. token-bucket.rate=50+30*sin(20s)'; `down` alone lasts until the next entry [default: nothing]"
    )]
    schedule: Option<Schedule>,
}

fn service_time_help() -> String {
    let words = "How long an accepted request is served: fixed, or drawn, such as `lognormal(500ms,0.3)`, whose mean (not \
                 median) is 500 ms and whose logarithm has the standard deviation 0.3";
    with_default(words, Config::default().service_time)
}

/// The names of all policies.
fn policies() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|entry| entry.name)
}

fn policy_help() -> String {
    let names: Vec<String> = policies().map(|name| format!("`{name}`")).collect();
    let names = match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    };
    let words = format!(
        "Whom it serves: {names}, with parameters like a strategy's; given again, one policy after the other, all of which must let a request pass; `script:file=PATH` reads a script from a file"
    );
    with_default(&words, Config::default().policy)
}

fn advice_help() -> String {
    let names: Vec<String> = ADVICE_FORMS.iter().map(|form| format!("`{}`", form.name)).collect();
    format!(
        "How rejections say when to come back, to whoever asks: `none`, {}, several joined by `+`; each may be early, late or missing, such as `seconds:share=0.7,late=2s` [default: whole seconds with --retry-after, else nothing]",
        names.join(", ")
    )
}

fn preset_help() -> String {
    let names: Vec<&str> = server_preset_names().collect();
    format!(
        "What a real server does, instead of --policy: {}; `NAME:LIMIT=off,LIMIT.PARAMETER=VALUE` changes its limits; `mockserver presets NAME` explains one",
        names.join(", ")
    )
}

fn scale(text: &str) -> Result<f64, String> {
    read_scale(text).map_err(|error| error.to_string())
}

/// A preset that there is.
fn preset(text: &str) -> Result<String, String> {
    expand(text, None).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn with_default(words: &str, default: impl std::fmt::Display) -> String {
    format!("{words} [default: {default}]")
}

impl ServerFlags {
    /// Whether any of them was typed.
    pub fn any_given(&self) -> bool {
        let Self {
            max_busy,
            service_time,
            reject_time,
            network_delay,
            rejects_occupy,
            reject_status,
            retry_after,
            policy,
            preset,
            scale,
            advice,
            return_delay,
            loss,
            outages,
            fault,
            reject_first,
            caps,
            schedule,
        } = self;
        max_busy.is_some()
            || service_time.is_some()
            || reject_time.is_some()
            || network_delay.is_some()
            || rejects_occupy.is_some()
            || reject_status.is_some()
            || retry_after.is_some()
            || policy.is_some()
            || preset.is_some()
            || scale.is_some()
            || advice.is_some()
            || return_delay.is_some()
            || loss.is_some()
            || outages.is_some()
            || fault.is_some()
            || reject_first.is_some()
            || caps.is_some()
            || schedule.is_some()
    }

    /// What holds where nothing else is typed: a preset, or the defaults with the stack to which every flag adds.
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

    /// What answers say: what was typed over what the preset has.
    fn answers(&self, own: AnswersConfig) -> AnswersConfig {
        let answers = match &self.advice {
            Some(advice) => own.advising(&advice.to_string()),
            None => own,
        };
        if self.reject_status.is_some() { answers.rejecting_alike() } else { answers }
    }

    /// The configuration: what was typed over the preset, or the defaults.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn to_config(&self, seed: u64) -> Result<Config, ConfigError> {
        let base = self.base()?;
        let config = Config {
            max_busy: self.max_busy.unwrap_or(base.max_busy),
            service_time: self.service_time.unwrap_or(base.service_time),
            reject_time: self.reject_time.unwrap_or(base.reject_time),
            network_delay: self.network_delay.unwrap_or(base.network_delay),
            rejects_occupy: self.rejects_occupy.unwrap_or(base.rejects_occupy),
            reject_status: self.reject_status.unwrap_or(base.reject_status),
            retry_after: self.retry_after.or(base.retry_after),
            seed,
            policy: base.policy,
            return_delay: self.return_delay.unwrap_or(base.return_delay),
            loss: self.loss.unwrap_or(base.loss),
            outages: self.outages.clone().unwrap_or(base.outages),
            reject_first: self.reject_first.unwrap_or(base.reject_first),
            caps: self.caps.clone().unwrap_or(base.caps),
            answers: self.answers(base.answers),
            fault: self.fault.clone().unwrap_or(base.fault),
            preset: base.preset,
            scale: base.scale,
            schedule: self.schedule.clone().unwrap_or(base.schedule),
        };
        config.validate()?;
        Ok(config)
    }
}

/// Whether it is one of an error is asked with the rest of the configuration.
fn status(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "it must be an error status from 400 to 599, such as 503 or 429".to_owned())
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
            ("--policy token-bucket --max-busy 8", "`max_busy` says how many are served at once"),
            ("--policy token-bucket --caps 10s=5", "`caps` says how many are served at once"),
            ("--preset github --max-busy 10", "`--preset 'github:concurrent.cap=10'`"),
            (
                "--preset github --caps 10s=5,20s=9",
                "write `10s concurrent.cap=5; 20s concurrent.cap=9` as `schedule`",
            ),
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
    fn every_form_of_advice_stands_in_the_help() {
        for form in ADVICE_FORMS {
            assert!(advice_help().contains(&format!("`{}`", form.name)));
        }
    }
}
