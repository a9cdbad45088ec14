//! Configuration of the server: all parameters of its model, with their validation.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vocabulary::{Distribution, WallTime, duration_text};

use crate::list::is_none;
use crate::policies::Stages;
use crate::schedule::Courses;
use crate::{
    AnswerSet, AnswersConfig, AnswersError, Caps, Faults, MAX_SLOTS, Outages, Pace, Policies, PolicyError,
    RateLaw, Schedule, ScheduleError, ServerPresetUseError, ServiceModel,
};

/// Configuration of the server. The default values are those of the experiment in the article "Improve on exponential backoff" (Sync
/// Musings), which this project calls "seed 000".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Number of slots for requests in service, 1 to a million.
    pub max_busy: u32,
    pub service_time: Distribution,
    pub reject_time: Distribution,
    /// Artificial delay of each request, from the client to the server's admission.
    pub network_delay: Distribution,
    /// Whether a rejected request counts as busy, so that it holds a slot, for its reject time (the "F5 effect").
    pub rejects_occupy: bool,
    /// HTTP status of a rejection, 400 to 599.
    pub reject_status: u16,
    #[serde(serialize_with = "write_duration", deserialize_with = "read_duration")]
    pub retry_after: Option<Duration>,
    /// Seed of the random draws for requests that carry no seed of their own.
    pub seed: u64,
    pub policy: Policies,
    /// Artificial delay of each answer, from the server to the client.
    pub return_delay: Distribution,
    /// Probability, 0 to 1, that a message is lost, in either direction.
    pub loss: f64,
    pub outages: Outages,
    /// Number of attempts that the server rejects for every op. The server rejects the first attempts of the op.
    pub reject_first: u32,
    pub caps: Caps,
    #[serde(default, skip_serializing_if = "AnswersConfig::is_empty")]
    pub answers: AnswersConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Factor by which the limits of the server preset were multiplied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    #[serde(default, skip_serializing_if = "Faults::is_empty")]
    pub fault: Faults,
    #[serde(default, skip_serializing_if = "Schedule::is_empty")]
    pub schedule: Schedule,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_busy: 50,
            service_time: Distribution::millis(500),
            reject_time: Distribution::millis(50),
            network_delay: Distribution::millis(100),
            rejects_occupy: true,
            reject_status: 503,
            retry_after: None,
            seed: 1,
            policy: Policies::default(),
            return_delay: Distribution::ZERO,
            loss: 0.0,
            outages: Outages::default(),
            reject_first: 0,
            caps: Caps::default(),
            answers: AnswersConfig::default(),
            preset: None,
            scale: None,
            fault: Faults::default(),
            schedule: Schedule::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error("`max_busy` is {0}; it must be a number of slots from 1 to {MAX_SLOTS}")]
    Slots(u32),
    /// The configured status of rejections is not an error status. Clients would not back off after such a status.
    #[error("`reject_status` is {0}; it must be an error status from 400 to 599, such as 503 or 429")]
    RejectStatus(u16),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error("`{key}` sets the number of requests served at once, but {instead}, or leave out `{key}`")]
    NoCap { key: &'static str, instead: String },
    #[error("`preset`: {0}")]
    Preset(#[from] ServerPresetUseError),
    #[error("the settings of `preset` are not valid: {0}")]
    PresetSettings(String),
    #[error(
        "`scale` multiplies the limits of a preset, but no preset is given; add `preset`, or leave out `scale`"
    )]
    ScaleAlone,
    #[error("`answers`: {0}")]
    Answers(#[from] AnswersError),
    #[error("`schedule`: {0}")]
    Schedule(#[from] ScheduleError),
    #[error("`caps` and `schedule` both change the number of slots; use only `schedule`")]
    TwoCaps,
    #[error("`loss` is {0}; it must be a probability from 0 to 1")]
    Loss(String),
}

impl Config {
    pub fn validate(&self) -> Result<(), ConfigError> {
        if !(1..=MAX_SLOTS).contains(&self.max_busy) {
            return Err(ConfigError::Slots(self.max_busy));
        }
        if !(400..=599).contains(&self.reject_status) {
            return Err(ConfigError::RejectStatus(self.reject_status));
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return Err(ConfigError::Loss(self.loss.to_string()));
        }
        self.answer_set()?;
        let courses = self.schedule.courses(&self.policy)?;
        if courses.slots.is_some() && !self.caps.is_empty() {
            return Err(ConfigError::TwoCaps);
        }
        Ok(())
    }
}

impl Config {
    pub fn has_cap(&self) -> bool {
        self.policy.has_cap()
    }

    /// Returns the maximum number of requests that are in service at the same time. `None` if it is unknown, for example because the policy
    /// has its own service times. If a schedule changes the cap, the highest cap counts, because lowering the cap does not interrupt
    /// requests in service.
    pub(crate) fn max_in_service(&self) -> Option<u32> {
        let courses = self.courses();
        let slots = || match &courses.slots {
            _ if !self.caps.is_empty() => None,
            None => Some(self.max_busy),
            Some(course) if course.begins_at_once() => course.greatest(),
            Some(course) => course.greatest().map(|later| later.max(self.max_busy)),
        };
        self.policy.max_in_service(&courses.changed(), slots)
    }

    pub(crate) fn paces(&self) -> Vec<Pace> {
        self.policy.paces(&self.courses().changed())
    }

    /// Returns a single rate limit that is equivalent to all policies of the server together. `None` if there is no such limit, for example
    /// because the server has several limits. Also `None` if the limit depends on the client, on the cost of requests or on the time.
    pub fn rate_law(&self) -> Option<RateLaw> {
        self.policy.rate_law(&self.courses().changed())
    }

    pub(crate) fn courses(&self) -> Courses {
        self.schedule.courses(&self.policy).unwrap_or_default()
    }

    /// Whether the configuration disturbs requests: by faults, lost messages, outages or a script. Every script counts as a disturbance,
    /// because it may contain any answer.
    pub fn has_faults(&self) -> bool {
        let is_disturbed = !self.fault.is_empty() || self.loss > 0.0 || !self.outages.is_empty();
        is_disturbed || self.courses().goes_down() || self.policy.script().is_some()
    }

    /// Whether the server groups requests that name no op into calls.
    pub fn counts_calls(&self) -> bool {
        self.reject_first > 0 || self.policy.counts_calls()
    }

    pub fn rejections_hold_slots(&self) -> bool {
        self.rejects_occupy && self.policy.obeys_rejects_occupy()
    }

    pub fn draws_service_times(&self) -> bool {
        self.policy.mean_service().is_none()
    }

    /// Whether the server's only limit is a cap on the number of busy slots. If so, an optimal schedule of ops can be computed.
    pub fn is_plain_cap(&self) -> bool {
        self.beyond_a_plain_cap().is_empty()
    }

    pub fn beyond_a_plain_cap(&self) -> Vec<&'static str> {
        let policy = if self.preset.is_some() { "preset" } else { "policy" };
        let keys = [
            (policy, !self.policy.is_plannable()),
            ("loss", self.loss != 0.0),
            ("outages", !self.outages.is_empty()),
            ("reject_first", self.reject_first != 0),
            ("caps", !self.caps.is_empty()),
            ("fault", !self.fault.is_empty()),
            ("schedule", !self.schedule.is_empty()),
        ];
        keys.into_iter().filter_map(|(key, is_so)| is_so.then_some(key)).collect()
    }

    pub fn undisturbed_attempt(&self) -> Duration {
        let startup = self.policy.startup();
        self.network_delay.mean() + startup + self.mean_service() + self.return_delay.mean()
    }

    /// Returns the longest time for which an exhausted rate limit may reject all requests.
    pub fn longest_window(&self) -> Duration {
        self.policy.longest_window(&self.service_model())
    }

    pub fn mean_service(&self) -> Duration {
        self.policy.mean_service().unwrap_or_else(|| self.service_time.mean())
    }

    pub fn answer_set(&self) -> Result<Option<AnswerSet>, AnswersError> {
        if self.answers.is_empty() {
            return Ok(None);
        }
        let labels = self.policy.labels();
        AnswerSet::read(&self.answers, labels.iter().map(String::as_str)).map(Some)
    }

    /// Returns all statuses with which the server rejects requests. Clients must be configured to treat these statuses as rejections.
    /// Statuses below 400 are left out, because they signal success.
    pub fn reject_statuses(&self) -> Vec<u16> {
        let own = self.answers.reject.values().filter_map(|response| response.status);
        let mut statuses: Vec<u16> =
            own.chain([self.reject_status]).filter(|status| *status >= 400).collect();
        statuses.sort_unstable();
        statuses.dedup();
        statuses
    }

    pub(crate) fn admission(&self, policies: &Policies, anchor: WallTime) -> Stages {
        policies.build(!self.answers.is_empty(), anchor)
    }

    pub(crate) fn service_model(&self) -> ServiceModel {
        ServiceModel {
            max_busy: self.max_busy,
            caps: self.caps.clone(),
            course: self.courses().slots.map(Box::new),
            began: None,
            service_time: self.service_time,
            reject_time: self.reject_time,
            rejects_occupy: self.rejects_occupy,
        }
    }
}

#[expect(clippy::ref_option, reason = "serde asks for this signature")]
fn write_duration<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    duration.map(duration_text::format).serialize(serializer)
}

fn read_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map_or(Ok(None), |text| read_wait(&text)).map_err(serde::de::Error::custom)
}

/// Parses the wait that rejections advise; `None` if the text is `none`.
///
/// # Errors
/// Fails if the text is neither `none` nor a duration.
pub fn read_wait(text: &str) -> Result<Option<Duration>, duration_text::DurationError> {
    if is_none(text) { Ok(None) } else { duration_text::parse(text).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_experiment_of_seed_000_and_survives_json() {
        let config = Config::default();
        assert_eq!(config.validate(), Ok(()));
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(
            text,
            r#"{"max_busy":50,"service_time":"500ms","reject_time":"50ms","network_delay":"100ms","rejects_occupy":true,"reject_status":503,"retry_after":null,"seed":1,"policy":"concurrency-cap","return_delay":"0s","loss":0.0,"outages":"","reject_first":0,"caps":""}"#
        );
        assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
    }

    #[test]
    fn the_documentation_has_every_key() {
        let page = include_str!("../../../docs/scenarios.md");
        let (_, rest) = page.split_once("\n## `[server]`\n").unwrap();
        let section = rest.split("\n## ").next().unwrap();
        let config = serde_json::to_value(Config::default()).unwrap();
        for key in config.as_object().unwrap().keys() {
            assert!(section.contains(&format!("`{key}`")), "docs/scenarios.md, `[server]`: no `{key}`");
        }
    }

    #[test]
    fn what_disturbs_a_cap_takes_from_it_only_what_no_longer_holds() {
        let said = |config: &Config| {
            let holds = config.rejections_hold_slots();
            (config.has_cap(), config.max_in_service().is_some(), config.is_plain_cap(), holds)
        };
        let config = Config::default();
        assert_eq!(said(&config), (true, true, true, true));
        assert_eq!(said(&Config { loss: 0.1, ..config.clone() }), (true, true, false, true));
        let fault = "reset:1%".parse().unwrap();
        assert_eq!(said(&Config { fault, ..config.clone() }), (true, true, false, true));
        assert_eq!(said(&Config { reject_first: 1, ..config.clone() }), (true, true, false, true));
        assert_eq!(said(&Config { rejects_occupy: false, ..config.clone() }), (true, true, true, false));
        let caps = "10s=25".parse().unwrap();
        assert_eq!(said(&Config { caps, ..config.clone() }), (true, false, false, true));
        for policy in ["overwhelmed-queue", "descriptor-pool"] {
            let policy = policy.parse().unwrap();
            assert_eq!(said(&Config { policy, ..config.clone() }), (false, false, false, false));
        }
    }

    #[test]
    fn what_is_in_the_way_of_a_plan_is_named() {
        assert!(Config::default().beyond_a_plain_cap().is_empty());
        let github = Config::default().with_preset("github", None).unwrap();
        let config = Config {
            loss: 0.1,
            caps: "10s=5".parse().unwrap(),
            fault: "reset:1%".parse().unwrap(),
            schedule: "10s down".parse().unwrap(),
            ..github
        };
        assert_eq!(config.beyond_a_plain_cap(), ["preset", "loss", "caps", "fault", "schedule"]);
        let policy = "gcra".parse().unwrap();
        let config =
            Config { reject_first: 1, outages: "1s..2s".parse().unwrap(), policy, ..Config::default() };
        assert_eq!(config.beyond_a_plain_cap(), ["policy", "outages", "reject_first"]);
    }

    #[test]
    fn impossible_values_are_refused_by_name() {
        for (config, word) in [
            (Config { max_busy: 0, ..Config::default() }, "`max_busy` is 0"),
            (Config { max_busy: 1_000_001, ..Config::default() }, "`max_busy` is 1000001"),
            (Config { loss: 1.5, ..Config::default() }, "`loss` is 1.5"),
            (Config { reject_status: 200, ..Config::default() }, "`reject_status` is 200"),
        ] {
            let error = config.validate().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
