//! Short description of a server, printed by `mockserver` at its start and by `loadgen` for the server under test.

use std::fmt::Write as _;

use crate::{Config, Policies};

impl Config {
    pub fn describe(&self) -> String {
        let mut text = String::new();
        // The default policy is described only by its cap, without its name. The results of `write!` are ignored below, because writing to
        // a `String` never fails.
        let is_usual = self.policy == Policies::default();
        let statuses = self.statuses_of_policies();
        if let Some(preset) = &self.preset {
            // A preset has too many figures for a short description. `mockserver presets NAME` prints the figures with their sources.
            let scale = self.scale.map_or_else(String::new, |scale| format!(" (scale {scale})"));
            let limits = self.policy.labels().join(", ");
            let _ = write!(text, "preset {preset}{scale}: {limits}; rejects with {statuses}");
        } else if !is_usual {
            let _ = match self.policy.script() {
                Some(script) => {
                    write!(text, "{} of {}", self.policy.labels().join(" then "), script.summary())
                }
                None => write!(text, "{}", self.policy),
            };
        }
        if self.has_cap() {
            let later = if self.caps.is_empty() { String::new() } else { format!(" (later {})", self.caps) };
            let _ = write!(text, "{}cap {}{later}", if is_usual { "" } else { ", " }, self.max_busy);
        }
        for setting in self.settings() {
            let _ = write!(text, ", {setting}");
        }
        text
    }

    /// Returns the settings in which a server differs from its preset. Limits and answers are not included.
    pub fn settings_beside_preset(&self) -> Vec<String> {
        let preset =
            self.preset.as_deref().and_then(|preset| Self::default().with_preset(preset, self.scale).ok());
        let usual = preset.map(|preset| preset.settings()).unwrap_or_default();
        self.settings().into_iter().filter(|setting| !usual.contains(setting)).collect()
    }

    fn settings(&self) -> Vec<String> {
        let mut settings = Vec::new();
        if self.draws_service_times() {
            let status = self.preset.is_none().then(|| self.statuses_of_policies());
            let slot = self.rejections_hold_slots().then(|| "holds a slot".to_owned());
            let how = status.into_iter().chain(slot).collect::<Vec<_>>().join(", ");
            let how = if how.is_empty() { how } else { format!(" ({how})") };
            settings.push(format!("service {}", self.service_time));
            settings.push(format!("reject {}{how}", self.reject_time));
        }
        settings.push(format!("network {}", self.network_delay));
        if !self.return_delay.is_zero() {
            settings.push(format!("return {}", self.return_delay));
        }
        if self.loss > 0.0 {
            settings.push(format!("loss {}", self.loss));
        }
        if !self.outages.is_empty() {
            settings.push(format!("down {}", self.outages));
        }
        if !self.schedule.is_empty() {
            settings.push(format!("schedule {}", self.schedule));
        }
        if self.reject_first > 0 {
            settings.push(format!("first {} attempts rejected", self.reject_first));
        }
        if !self.fault.is_empty() {
            settings.push(format!("faults {}", self.fault));
        }
        settings
    }

    /// Returns the HTTP statuses with which policies reject requests, in the order of the policies. Rejections during outages and
    /// rejections by `reject_first` are ignored here, because no policy makes them. They have the status in the table `reject.*`, or the
    /// server's own status if the table contains none.
    fn statuses_of_policies(&self) -> String {
        let rejections = &self.answers.reject;
        let own = |label: &String| rejections.get(label).or_else(|| rejections.get("*"))?.status;
        let mut statuses: Vec<String> = Vec::new();
        for label in self.policy.labels() {
            let status = own(&label).unwrap_or(self.reject_status).to_string();
            if !statuses.contains(&status) {
                statuses.push(status);
            }
        }
        statuses.join(" or ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_described_with_its_times_and_what_disturbs_it() {
        let config = Config::default();
        let plain = "cap 50, service 500ms, reject 50ms (503, holds a slot), network 100ms";
        assert_eq!(config.describe(), plain);
        let config = Config {
            caps: "10s=25".parse().unwrap(),
            rejects_occupy: false,
            return_delay: "5ms".parse().unwrap(),
            loss: 0.25,
            outages: "1s..2s".parse().unwrap(),
            reject_first: 2,
            fault: "reset:1%,500:2%:after".parse().unwrap(),
            ..config
        };
        assert_eq!(
            config.describe(),
            "cap 50 (later 10s=25), service 500ms, reject 50ms (503), network 100ms, return 5ms, loss 0.25, \
             down 1s..2s, first 2 attempts rejected, faults reset:1%,500:2%:after"
        );
    }

    #[test]
    fn a_preset_is_a_line_of_its_limits_and_its_statuses() {
        let preset = |name, scale| Config::default().with_preset(name, scale).unwrap().describe();
        assert_eq!(
            preset("github", Some(0.02)),
            "preset github (scale 0.02): primary, concurrent, points, creations; rejects with 403, service 500ms, reject 50ms (holds a \
             slot), network 100ms"
        );
        let without = preset("github:points=off,creations=off", None);
        assert!(
            without.starts_with("preset github:points=off,creations=off: primary, concurrent; "),
            "{without}"
        );
        for name in crate::server_preset_names() {
            let words = preset(name, None);
            assert!(words.starts_with(&format!("preset {name}: ")) && words.len() < 250, "{words}");
        }
    }

    #[test]
    fn only_what_was_set_besides_the_preset_is_listed() {
        let config = Config::default().with_preset("openai", Some(0.02)).unwrap();
        assert_eq!(config.settings_beside_preset(), [""; 0]);
        let config = Config { loss: 0.25, service_time: "1s".parse().unwrap(), ..config };
        assert_eq!(config.settings_beside_preset(), ["service 1s", "loss 0.25"]);
    }

    #[test]
    fn a_policy_without_slots_is_described_without_slot_settings() {
        let policy = "overwhelmed-queue:capacity=6".parse().unwrap();
        assert_eq!(
            Config { policy, ..Config::default() }.describe(),
            "overwhelmed-queue:tick=10ms,capacity=6,service=5,reject=1,limit=25,subset=proportional, network 100ms"
        );
    }
}
