//! Error for a configured number of slots that no policy uses, and the setting of one figure instead.

use vocabulary::split_options;

use crate::schedule::Target;
use crate::{Caps, Config, ConfigError};

impl Config {
    pub fn no_cap(&self, key: &'static str) -> ConfigError {
        let Some(preset) = &self.preset else {
            let instead = format!(
                "the policy `{}` does not limit this number; add `concurrency` or `concurrency-cap` to the \
                 policies",
                self.policy
            );
            return ConfigError::NoCap { key, instead };
        };
        let name = preset.split(':').next().unwrap_or(preset);
        let instead = match self.policy_with_a_cap() {
            None => {
                format!("the preset `{name}` does not limit this number; choose another preset")
            }
            Some(policy) if key == "max_busy" => {
                let typed = preset_with(preset, &format!("{policy}.cap"), &self.max_busy.to_string());
                format!(
                    "the preset `{name}` has its own limits; write `--preset '{typed}'` (in a \
                     configuration, set the key `preset`)"
                )
            }
            Some(policy) => {
                let caps = self.caps.to_string().replace(',', "; ").replace('=', &format!(" {policy}.cap="));
                format!("the preset `{name}` has its own limits; write `{caps}` as `schedule`")
            }
        };
        ConfigError::NoCap { key, instead }
    }

    fn policy_with_a_cap(&self) -> Option<String> {
        let mut named = self.policy.labels().into_iter().zip(self.policy.iter());
        let has_cap = |(_, policy): &(_, &crate::policy::Policy)| {
            policy.parameters().iter().any(|info| info.key == "cap")
        };
        named.find(has_cap).map(|(label, _)| label)
    }
}

/// Change of one figure of the configuration while the server runs. All other figures, the preset, and the schedule of other figures are
/// kept.
impl Config {
    /// Returns the configuration with one figure changed. The setting is written as in a schedule: `primary.limit=90` or `max-busy=20`. The
    /// schedule's entries for this figure are removed, because a manual setting is meant to last.
    ///
    /// # Errors
    /// Returns an error that names the problem and the accepted values.
    pub(crate) fn with_setting(&self, text: &str) -> Result<Self, String> {
        let Some((target, value)) = text.split_once('=') else {
            return Err(format!("`{text}` has no `=` and value; write for example `token-bucket.rate=20/s`"));
        };
        let (target, value) = (Target::read(target.trim())?, value.trim());
        let mut config = Self { schedule: self.schedule.without(&target), ..self.clone() };
        match &target {
            Target::MaxBusy if !self.has_cap() => {
                return Err(format!("`{}` does not use the server's own cap (`max-busy`)", self.policy));
            }
            Target::MaxBusy => {
                config.max_busy =
                    value.parse().map_err(|_| format!("`{value}` is not a number of slots, such as 20"))?;
                config.caps = Caps::default();
            }
            Target::Parameter { stage, key } => {
                let index = self.policy.index_of(stage)?;
                self.policy.check_changeable(index, key)?;
                config.policy = self.policy.with(index, key, value).map_err(|error| error.to_string())?;
                config.preset =
                    self.preset.as_deref().map(|preset| preset_with(preset, &target.to_string(), value));
            }
        }
        Ok(config)
    }
}

pub(crate) fn preset_with(preset: &str, target: &str, value: &str) -> String {
    let (name, typed) = split_options(preset);
    let kept = typed.into_iter().filter(|(key, _)| *key != target);
    let texts =
        kept.map(|(key, value)| value.map_or_else(|| key.to_owned(), |value| format!("{key}={value}")));
    let options: Vec<String> = texts.chain([format!("{target}={value}")]).collect();
    format!("{name}:{}", options.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_parameter_is_set_and_all_else_stays() {
        let stack = "a=token-bucket:rate=20/s,burst=5 then concurrency:cap=3";
        let config = Config {
            policy: stack.parse().unwrap(),
            schedule: "1s a.rate=30/s; 2s a.burst=9; 3s down".parse().unwrap(),
            ..Config::default()
        };
        let set = config.with_setting("a.rate=18/s").unwrap();
        assert_eq!(set.schedule.to_string(), "2s a.burst=9; 3s down");
        assert_eq!(set.policy, stack.replace("20/s", "18/s").parse().unwrap());
        assert_eq!(
            Config { policy: config.policy.clone(), schedule: config.schedule.clone(), ..set },
            config
        );
    }

    #[test]
    fn a_preset_stays_the_preset_with_what_is_set_besides() {
        let config =
            Config::default().with_preset("github:points=off,primary.limit=500", Some(0.02)).unwrap();
        let set = config.with_setting("primary.limit=90").unwrap();
        assert_eq!(set.preset.as_deref(), Some("github:points=off,primary.limit=90"));
        assert_eq!((&set.answers, set.scale), (&config.answers, Some(0.02)));
        let typed = Config::default().with_preset("github:points=off,primary.limit=90", Some(0.02)).unwrap();
        assert_eq!(set, typed);
    }

    #[test]
    fn the_server_s_own_cap_is_set_as_by_its_name() {
        let config = Config { caps: "10s=25".parse().unwrap(), ..Config::default() };
        let set = config.with_setting("max-busy=20").unwrap();
        assert_eq!(set, Config { max_busy: 20, ..Config::default() });
    }

    #[test]
    fn an_invalid_setting_reports_what_is_accepted() {
        for (policy, text, words) in [
            ("gcra", "gcra.rate", "`gcra.rate` has no `=`"),
            ("gcra", "rate=3/s", "`rate` is neither `max-busy` nor a policy's parameter"),
            ("gcra", "gcar.rate=3/s", "no policy has the name `gcar` (did you mean `gcra`?)"),
            ("gcra", "gcra.rat=3/s", "policy `gcra` has no parameter `rat` (did you mean `rate`?)"),
            ("gcra", "gcra.rate=fast", "policy `gcra`: `rate=fast` is not accepted"),
            ("gcra", "gcra.key=all", "`key` cannot change during a run"),
            ("gcra", "max-busy=3", "(`max-busy`)"),
            ("concurrency", "max-busy=few", "`few`"),
            ("overwhelmed-queue", "overwhelmed-queue.limit=3", "serves requests itself"),
        ] {
            let config = Config { policy: policy.parse().unwrap(), ..Config::default() };
            let error = config.with_setting(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
