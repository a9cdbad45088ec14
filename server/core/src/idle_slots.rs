//! Error for a configured number of slots that no policy uses.

use crate::config::{Config, ConfigError};
use crate::setting::preset_with;

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
