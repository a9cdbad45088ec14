//! Changes of the configuration while the server runs. Each change is applied completely or not at all.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use vocabulary::{beginning, did_you_mean, split_options};

use crate::schedule::Target;
use crate::{Advice, AnswersConfig, Caps, Config, ConfigError, Expanded, MAX_SLOTS, expand, quoted};

/// Change of the configuration: keys and values of a JSON object, not validated yet.
pub type Patch = Map<String, Value>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PresetPatch {
    preset: Option<String>,
    scale: Option<f64>,
}

const SET: &str = "set";

/// Key of a configuration change that sets the retry advice of all answers, like the flag `--advice`. All keys of a change except this one
/// and `set` are keys of the configuration.
const ADVICE: &str = "advice";

/// Parses a change of the configuration as received from a client.
///
/// # Errors
/// Returns an error if the text is not a JSON object, or if a key appears twice.
pub fn read_patch(text: &[u8]) -> Result<Patch, serde_json::Error> {
    serde_json::from_slice::<Strict>(text).and_then(|Strict(value)| serde_json::from_value(value))
}

impl Config {
    pub fn patched(&self, patch: &Patch) -> Result<Self, PatchError> {
        // If `preset` or `scale` has a value of the wrong type, both are ignored here. The loop over all keys then refuses the value, with
        // an error that names the key.
        let asked = serde_json::from_value::<PresetPatch>(patch.clone().into()).unwrap_or_default();
        let based = match (asked.preset.as_deref(), asked.scale) {
            (Some(preset), scale) => self.with_preset(preset, scale)?,
            (None, _) if is_null(patch, "preset") => self.without_preset(),
            (None, Some(scale)) => self.scaled(scale)?,
            (None, None) => self.clone(),
        };
        let is_preset = asked.preset.is_some() || asked.scale.is_some();
        // The configuration always serializes to a JSON object. The other case never occurs; in that case, every key would be refused as
        // unknown.
        let mut current = match serde_json::to_value(&based) {
            Ok(Value::Object(current)) => current,
            _ => Patch::new(),
        };
        // Some keys are not serialized while their value is empty. Such keys are added, because a change may set them.
        current.entry("answers").or_insert_with(|| Map::new().into());
        for key in ["preset", "scale", "schedule"] {
            current.entry(key).or_insert(Value::Null);
        }
        current.entry("fault").or_insert_with(|| "".into());
        let special = [SET, ADVICE];
        let mut config = based.clone();
        for (key, value) in patch.iter().filter(|(key, _)| !special.contains(&key.as_str())) {
            if !current.contains_key(key) {
                let known = || current.keys().map(String::as_str).chain(special);
                return Err(PatchError::UnknownKey {
                    key: key.clone(),
                    suggestion: did_you_mean(key, known()),
                    accepted: quoted(known()),
                });
            }
            // The keys of a change are applied one at a time, so that an error can name its key.
            current.insert(key.clone(), value.clone());
            config = serde_json::from_value(current.clone().into()).map_err(|error| {
                let why = instead_of(key, value);
                refuse(key, value, why.unwrap_or_else(|| error.to_string()))
            })?;
        }
        if asked.preset.is_some() {
            config.preset.clone_from(&based.preset);
        }
        if patch.contains_key("max_busy") && !patch.contains_key("caps") {
            // A change of the current number of slots also removes the numbers of slots that were planned for later.
            config.caps = Caps::default();
        }
        if patch.contains_key("max_busy") && !patch.contains_key("schedule") {
            config.schedule = config.schedule.without(&Target::MaxBusy);
        }
        if patch.contains_key("reject_status") && !patch.contains_key("answers") {
            config.answers = config.answers.rejecting_alike();
        }
        if config.policy != based.policy {
            if let Some(preset) = based.preset.as_deref().filter(|_| is_preset) {
                return Err(PatchError::Contradiction(split_options(preset).0.to_owned()));
            }
            if config.preset.take().is_some() {
                // The scale and the answers of the preset are dropped, because they refer to limits that the new policy does not have.
                config.scale = None;
                if !patch.contains_key("answers") {
                    config.answers = AnswersConfig::default();
                }
            }
        }
        if let Some(value) = patch.get(ADVICE) {
            let advice: Advice = text(ADVICE, value, "seconds")?.parse().map_err(
                |error: <Advice as std::str::FromStr>::Err| refuse(ADVICE, value, error.to_string()),
            )?;
            config.answers = config.answers.advising(&advice.to_string());
        }
        if let Some(value) = patch.get(SET) {
            let setting = text(SET, value, "primary.limit=90")?;
            config = config.with_setting(setting).map_err(|why| refuse(SET, value, why))?;
        }
        config.refuse_idle_slots(self, patch)?;
        config.validate()?;
        Ok(config)
    }

    /// Refuses a new number of slots if no policy uses it, because it would have no effect. A number that equals the current one or the
    /// default is accepted. Clients can therefore send back the configuration that they received.
    fn refuse_idle_slots(&self, before: &Self, patch: &Patch) -> Result<(), ConfigError> {
        let is_new = |is: bool, key: &str| is && patch.contains_key(key) && !self.has_cap();
        let slots = ![before.max_busy, Self::default().max_busy].contains(&self.max_busy);
        if is_new(slots, "max_busy") {
            return Err(self.no_cap("max_busy"));
        }
        if is_new(!self.caps.is_empty() && self.caps != before.caps, "caps") {
            return Err(self.no_cap("caps"));
        }
        Ok(())
    }

    fn without_preset(&self) -> Self {
        if self.preset.is_none() {
            return self.clone();
        }
        Self { preset: None, scale: None, answers: AnswersConfig::default(), ..self.clone() }
    }

    /// Returns the configuration with the preset's limits multiplied by `scale`. All other settings are kept, including those that were
    /// changed since the preset was chosen.
    fn scaled(&self, scale: f64) -> Result<Self, ConfigError> {
        let preset = self.preset.as_deref().ok_or(ConfigError::ScaleAlone)?;
        let Expanded { policy, .. } = expand(preset, Some(scale))?;
        Ok(Self { policy, scale: Some(scale), ..self.clone() })
    }

    /// Returns this configuration with everything that a preset sets: policies, answers, and in some presets further settings.
    ///
    /// # Errors
    /// Returns an error if the preset does not exist, or if its options contain an unknown name.
    pub fn with_preset(&self, preset: &str, scale: Option<f64>) -> Result<Self, ConfigError> {
        let Expanded { preset: found, policy, answers } = expand(preset, scale)?;
        // A preset with an empty list of options, such as `github:`, is the same as the preset without a list, `github`.
        let (name, options) = split_options(preset);
        let preset = if options.is_empty() { name } else { preset }.to_owned();
        let settings = self.patched(&found.server).map_err(|error| match error {
            PatchError::Config(error) => error,
            other => ConfigError::PresetSettings(other.to_string()),
        })?;
        let config = Self { policy, answers, preset: Some(preset), scale, ..settings };
        config.validate()?;
        Ok(config)
    }
}

fn text<'a>(key: &str, value: &'a Value, example: &str) -> Result<&'a str, PatchError> {
    let why = || format!("the value must be text, such as `{example}`");
    value.as_str().ok_or_else(|| refuse(key, value, why()))
}

fn refuse(key: &str, value: &Value, why: String) -> PatchError {
    PatchError::Value { key: key.to_owned(), value: beginning(&value.to_string()).into_owned(), why }
}

fn is_null(patch: &Patch, key: &str) -> bool {
    patch.get(key).is_some_and(Value::is_null)
}

/// Returns an error text with the values that a configuration key accepts. Returns `None` if the error of the value's own parser is
/// clearer. An example is a value that is a text, as required, but malformed.
fn instead_of(key: &str, value: &Value) -> Option<String> {
    let example = match key {
        "max_busy" => return Some(format!("the value must be a whole number from 1 to {MAX_SLOTS}")),
        "reject_status" => return took("an error status from 400 to 599, such as 503 or 429"),
        "seed" | "reject_first" => return took("a whole number, 0 or greater"),
        "loss" => return took("a probability from 0 to 1"),
        "scale" => return took("a number from 0.000001 to 1000000, such as 0.02"),
        "rejects_occupy" => return took("true or false"),
        "answers" => return None,
        "policy" => "concurrency-cap",
        "preset" => "github",
        "outages" => "10s..40s",
        "caps" => "10s=25,20s=80",
        "fault" => "reset:1%",
        "schedule" => "10s max-busy=20",
        _ => "500ms",
    };
    (!value.is_string()).then(|| format!("the value must be text, such as `{example}`"))
}

#[expect(clippy::unnecessary_wraps, reason = "it reads as what it is in the table above")]
fn took(words: &str) -> Option<String> {
    Some(format!("the value must be {words}"))
}

/// Error of a change of the configuration. After an error, the configuration is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    #[error("unknown key `{key}`{suggestion}; the keys are {accepted}")]
    UnknownKey { key: String, suggestion: String, accepted: String },
    #[error("`{key}` cannot be {value}: {why}")]
    Value { key: String, value: String, why: String },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(
        "`policy` and `preset` cannot be combined, because a preset has its own policies; leave one of them \
         out, or change the preset's policies: `preset = \"{0}:LIMIT=off\"` or `preset = \
         \"{0}:LIMIT.PARAMETER=VALUE\"`"
    )]
    Contradiction(String),
}

/// JSON value of which no object repeats a key. A usual parser would silently drop one of the two values.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("`{key}` is given twice; keep one of them")));
            }
            let Strict(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str) -> Result<Config, String> {
        let patch: Patch = serde_json::from_str(text).unwrap();
        Config::default().patched(&patch).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_named_changes_and_the_rest_stays() {
        let config = patched(r#"{"max_busy": 20, "service_time": "exp(1s)", "retry_after": "2s"}"#).unwrap();
        assert_eq!(config.max_busy, 20);
        assert_eq!(config.service_time.to_string(), "exp(1s)");
        assert_eq!(config.retry_after, Some(std::time::Duration::from_secs(2)));
        assert_eq!(config.reject_time, Config::default().reject_time);
        assert_eq!(patched("{}").unwrap(), Config::default());
        assert_eq!(patched(r#"{"fault": "reset:1%"}"#).unwrap().fault.to_string(), "reset:1%");
        assert_eq!(patched(r#"{"retry_after": null}"#).unwrap().retry_after, None);
        assert_eq!(patched(r#"{"retry_after": "none"}"#).unwrap().retry_after, None);
    }

    #[test]
    fn defaults_are_accepted_as_the_help_names_them() {
        let set = r#"{"retry_after":"2s","fault":"reset:1%","outages":"1s..2s","caps":"1s=9"}"#;
        let changed = Config { schedule: "3s down".parse().unwrap(), ..patched(set).unwrap() };
        let patch =
            r#"{"retry_after":"none","fault":"none","outages":"never","caps":"none","schedule":" none "}"#;
        let patch: Patch = serde_json::from_str(patch).unwrap();
        assert_eq!(changed.patched(&patch).unwrap(), Config::default());
        assert!(patched(r#"{"fault": "none,reset:1%"}"#).is_err());
    }

    #[test]
    fn what_is_changed_once_can_be_changed_again() {
        for schedule in ["10s down; 20s max-busy=30; 20s up", "10s down; 10s max-busy=20; 12s max-busy=30"] {
            let config = Config { schedule: schedule.parse().unwrap(), ..Config::default() };
            let patch = |text: &str| -> Patch { serde_json::from_str(text).unwrap() };
            let once = config.patched(&patch(r#"{"max_busy": 10}"#)).unwrap();
            assert_eq!(once.patched(&Patch::new()).unwrap(), once);
            assert_eq!(once.patched(&patch(r#"{"max_busy": 10}"#)).unwrap(), once);
        }
    }

    #[test]
    fn a_preset_brings_its_policies_and_other_keys_override_them() {
        let github = patched(r#"{"preset": "github:points=off", "scale": 0.02, "reject_first": 9}"#).unwrap();
        assert_eq!(github.policy.labels(), ["primary", "concurrent", "creations"]);
        assert_eq!(
            (github.preset.as_deref(), github.scale, github.reject_first),
            (Some("github:points=off"), Some(0.02), 9)
        );
        assert!(github.answers.reject.contains_key("primary"));
        assert_eq!(patched(r#"{"preset": "github:"}"#).unwrap().preset.as_deref(), Some("github"));
        let again = |text: &str| {
            let patch: Patch = serde_json::from_str(text).unwrap();
            github.patched(&patch).map_err(|error| error.to_string())
        };
        // As `GET /_mock/config` shows it.
        let shown = serde_json::to_string(&github).unwrap();
        assert_eq!(again(&shown).unwrap(), github);
        assert_eq!(again(r#"{"reject_first": 8}"#).unwrap(), Config { reject_first: 8, ..github.clone() });
        let larger = again(r#"{"scale": 0.5}"#).unwrap();
        assert!(
            larger.policy.to_string().starts_with("primary=fixed-window:limit=2500,"),
            "{}",
            larger.policy
        );
        let moved = again(r#"{"set": "primary.limit=90"}"#).unwrap();
        assert!(moved.policy.to_string().starts_with("primary=fixed-window:limit=90,"), "{}", moved.policy);
        assert_eq!(
            (moved.preset.as_deref(), moved.scale),
            (Some("github:points=off,primary.limit=90"), Some(0.02))
        );
        let other = again(r#"{"policy": "gcra"}"#).unwrap();
        assert_eq!(other, Config { reject_first: 9, policy: "gcra".parse().unwrap(), ..Config::default() });
        let error = again(r#"{"policy": "gcra", "preset": "github"}"#).unwrap_err();
        assert!(error.starts_with("`policy` and `preset` cannot be combined"), "{error}");
    }

    #[test]
    fn another_scale_takes_back_nothing_that_was_changed() {
        let github = patched(r#"{"preset": "github", "advice": "ms", "reject_status": 418}"#).unwrap();
        assert_eq!(github.answers.every.advice.as_deref(), Some("ms"));
        assert!(github.answers.reject.values().all(|response| response.status.is_none()));
        let patch = serde_json::from_str(r#"{"scale": 0.5}"#).unwrap();
        let scaled = github.patched(&patch).unwrap();
        assert!(scaled.policy.to_string().starts_with("primary=fixed-window:limit=2500,"));
        assert_eq!(Config { policy: github.policy.clone(), scale: None, ..scaled }, github);
    }

    #[test]
    fn a_preset_that_is_dropped_takes_its_answers_along() {
        let github = patched(r#"{"preset": "github", "scale": 0.02}"#).unwrap();
        let dropped = |text: &str| github.patched(&serde_json::from_str(text).unwrap()).unwrap();
        let gcra = Config { policy: "gcra".parse().unwrap(), ..Config::default() };
        for text in [
            r#"{"policy": "gcra", "preset": null}"#,
            r#"{"policy": "gcra"}"#,
            r#"{"policy": "gcra", "preset": null, "scale": null}"#,
        ] {
            assert_eq!(dropped(text), gcra, "{text}");
        }
        let policies = dropped(r#"{"preset": null}"#);
        assert_eq!(policies, Config { policy: github.policy.clone(), ..Config::default() });
    }

    #[test]
    fn unused_slot_settings_are_rejected_as_on_the_command_line() {
        for (text, words) in [
            (
                r#"{"max_busy": 20, "policy": "token-bucket"}"#,
                "`max_busy` sets the number of requests served at once, but the policy `token-bucket",
            ),
            (
                r#"{"policy": "token-bucket", "caps": "10s=5"}"#,
                "`caps` sets the number of requests served at once, but the policy `token-bucket",
            ),
            (r#"{"preset": "github", "max_busy": 20}"#, "`--preset 'github:concurrent.cap=20'`"),
            (r#"{"preset": "github", "caps": "10s=5"}"#, "`10s concurrent.cap=5`"),
            (r#"{"preset": "stripe", "max_busy": 20}"#, "leave out `max_busy`"),
        ] {
            let error = patched(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let bucket = patched(r#"{"policy": "token-bucket"}"#).unwrap();
        let patch: Patch = serde_json::from_str(r#"{"max_busy": 3}"#).unwrap();
        assert!(bucket.patched(&patch).unwrap_err().to_string().starts_with("`max_busy` sets the number"));
        let shown: Patch = serde_json::from_str(&serde_json::to_string(&bucket).unwrap()).unwrap();
        assert_eq!(bucket.patched(&shown).unwrap(), bucket);
    }

    #[test]
    fn a_repeated_key_is_rejected_at_any_depth() {
        for text in [
            r#"{"max_busy": 1, "loss": 0, "max_busy": 2}"#,
            r#"{"answers": {"every": {"max_busy": 1, "max_busy": 1}}}"#,
        ] {
            let error = read_patch(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("`max_busy` is given twice; keep one of them"), "{error}");
        }
        let text = r#"{"a": [1, -2, 0.5, true, null, "b", {"c": {}}]}"#;
        assert_eq!(read_patch(text.as_bytes()).unwrap(), serde_json::from_str::<Patch>(text).unwrap());
        for nonsense in ["", "[]", "3", "{", "{} {}"] {
            assert!(read_patch(nonsense.as_bytes()).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn nonsense_names_the_key_and_what_is_accepted() {
        for (text, words) in [
            (r#"{"max_bussy": 20}"#, "unknown key `max_bussy` (did you mean `max_busy`?)"),
            (r#"{"max_busy": "many"}"#, "`max_busy` cannot be \"many\""),
            (
                r#"{"max_busy": -1}"#,
                "`max_busy` cannot be -1: the value must be a whole number from 1 to 1000000",
            ),
            (
                r#"{"rejects_occupy": "no"}"#,
                "`rejects_occupy` cannot be \"no\": the value must be true or false",
            ),
            (r#"{"reject_status": 70000}"#, "the value must be an error status from 400 to 599"),
            (r#"{"service_time": 5}"#, "`service_time` cannot be 5: the value must be text, such as `500ms`"),
            (r#"{"policy": []}"#, "`policy` cannot be []: the value must be text, such as `concurrency-cap`"),
            (r#"{"preset": "githup:"}"#, "unknown preset `githup`"),
            (r#"{"advice": 5}"#, "`advice` cannot be 5: the value must be text, such as `seconds`"),
            (r#"{"advice": "second"}"#, "unknown form of advice `second` (did you mean `seconds`?)"),
            (r#"{"max_busy": 0}"#, "`max_busy` is 0"),
            (r#"{"service_time": "soon"}"#, "such as `50ms`"),
            (r#"{"fault": "reset:1"}"#, "`fault` cannot be \"reset:1\": `reset:1` is not a list of faults"),
            (r#"{"max_busy": 20, "reject_status": 200}"#, "`reject_status` is 200"),
            (r#"{"set": "max-busy=0"}"#, "`max_busy` is 0"),
            (
                r#"{"set": "primary.limit=9"}"#,
                "`set` cannot be \"primary.limit=9\": no policy has the name `primary`",
            ),
            (r#"{"set": 9}"#, "`set` cannot be 9: the value must be text, such as `primary.limit=90`"),
            (r#"{"preset": "githup"}"#, "`preset`: unknown preset `githup` (did you mean `github`?)"),
            (r#"{"preset": 3}"#, "`preset` cannot be 3"),
            (r#"{"scale": 0.5}"#, "`scale` multiplies the limits of a preset"),
            (r#"{"preset": "github", "scale": 0}"#, "`preset`: `scale` is 0"),
        ] {
            let error = patched(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
