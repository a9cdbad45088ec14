//! The flags that describe a server's behaviour: `mockserver` has them, and `loadgen` for its embedded one.

use std::time::Duration;

use crate::policy_file;
use crate::suggesting::suggesting;
use crate::typed::{count, probability};
use clap::Args;
use mockserver_core::{Advice, Caps, Config, ConfigError, Outages, POLICIES, Policies};
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

    /// How answers advise when to come back.
    #[arg(
        long,
        value_name = "FORMS",
        help = "How rejections say when to come back, to whoever asks: `none`, `seconds`, `decimal`, `ms`, `date`, `epoch`, `go`, `ietf`, `problem`, several joined by `+`; each may be early, late or missing, such as `seconds:share=0.7,late=2s` [default: whole seconds with --retry-after, else nothing]"
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
        help = "When everything is rejected at once, in time since the server's start, such as `10s..40s,60s..90s` [default: never]"
    )]
    outages: Option<Outages>,

    /// Slots from later instants on.
    #[arg(
        long,
        value_name = "LIST",
        help = "Slots from later instants on, in time since the server's start, such as `10s=25,20s=80` [default: never another number]"
    )]
    caps: Option<Caps>,

    /// Attempts of every op that are rejected first.
    #[arg(long, value_name = "N", value_parser = count::<u32>(0, u32::MAX.into()), help = with_default("Reject the first N attempts of every op", Config::default().reject_first))]
    reject_first: Option<u32>,
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
            advice,
            return_delay,
            loss,
            outages,
            reject_first,
            caps,
        } = self;
        max_busy.is_some()
            || service_time.is_some()
            || reject_time.is_some()
            || network_delay.is_some()
            || rejects_occupy.is_some()
            || reject_status.is_some()
            || retry_after.is_some()
            || policy.is_some()
            || advice.is_some()
            || return_delay.is_some()
            || loss.is_some()
            || outages.is_some()
            || reject_first.is_some()
            || caps.is_some()
    }

    /// The stack: every flag adds to it.
    fn policies(&self) -> Result<Policies, ConfigError> {
        let Some(typed) = &self.policy else { return Ok(Policies::default()) };
        let policies = Policies::new(typed.iter().flat_map(Policies::iter).cloned().collect())?;
        if self.max_busy.is_some() && !policies.has_cap() {
            return Err(ConfigError::NoCap(policies.to_string()));
        }
        Ok(policies)
    }

    /// The configuration: what was typed over the defaults.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn to_config(&self, seed: u64) -> Result<Config, ConfigError> {
        let default = Config::default();
        let policy = self.policies()?;
        let answers = match &self.advice {
            Some(advice) => default.answers.advising(&advice.to_string()),
            None => default.answers,
        };
        let config = Config {
            max_busy: self.max_busy.unwrap_or(default.max_busy),
            service_time: self.service_time.unwrap_or(default.service_time),
            reject_time: self.reject_time.unwrap_or(default.reject_time),
            network_delay: self.network_delay.unwrap_or(default.network_delay),
            rejects_occupy: self.rejects_occupy.unwrap_or(default.rejects_occupy),
            reject_status: self.reject_status.unwrap_or(default.reject_status),
            retry_after: self.retry_after.or(default.retry_after),
            seed,
            policy,
            return_delay: self.return_delay.unwrap_or(default.return_delay),
            loss: self.loss.unwrap_or(default.loss),
            outages: self.outages.clone().unwrap_or(default.outages),
            reject_first: self.reject_first.unwrap_or(default.reject_first),
            caps: self.caps.clone().unwrap_or(default.caps),
            answers,
        };
        config.validate()?;
        Ok(config)
    }
}

/// Whether it is one of an error is asked with the rest of the configuration.
fn status(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "it must be an error status from 400 to 599, such as 503 or 429".to_owned())
}
