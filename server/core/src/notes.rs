//! Warnings about settings that are valid but probably not intended. The server applies these settings anyway.

use vocabulary::{Instant, WallTime};

use crate::{Config, Key};

impl Config {
    pub fn notes(&self) -> Vec<String> {
        let service = self.service_model();
        let named: Vec<_> = self.policy.labels().into_iter().zip(self.policy.iter()).collect();
        let mut notes = Vec::new();
        for (label, policy) in &named {
            let Some(mut stage) = policy.stage(WallTime::VIRTUAL_START) else { continue };
            let limit_status = stage.gate.limit_status(Instant::ORIGIN, Key::default(), &service);
            let least = stage.common.cost.least();
            if let Some(limit) =
                limit_status.map(|limit_status| limit_status.limit).filter(|limit| u64::from(least) > *limit)
            {
                notes.push(format!(
                    "`{label}` rejects every request, because each costs at least {least} and the limit is \
                     {limit}; raise the limit or lower the cost"
                ));
            }
        }
        if let Some((label, policy)) = named.last()
            && policy.name() == "penalty"
        {
            notes.push(format!(
                "`{label}` has no effect, because no policy follows it; put it before the policies whose \
                 rejections it should punish"
            ));
        }
        notes
    }

    /// Whether a policy uses the request header `name`, for example to distinguish clients. `name` is in lower case.
    pub fn counts_by_header(&self, name: &str) -> bool {
        self.policy.wants().headers.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(policy: &str) -> Vec<String> {
        Config { policy: policy.parse().unwrap(), ..Config::default() }.notes()
    }

    #[test]
    fn only_settings_that_are_hardly_intended_are_noted() {
        assert_eq!(
            notes("token-bucket:rate=1/s,burst=100,cost=1000"),
            [
                "`token-bucket` rejects every request, because each costs at least 1000 and the limit is 100; raise the limit or lower the cost"
            ]
        );
        assert_eq!(
            notes("token-bucket then lock=penalty"),
            [
                "`lock` has no effect, because no policy follows it; put it before the policies whose rejections it should punish"
            ]
        );
        for sound in [
            "concurrency-cap",
            "penalty then token-bucket",
            "token-bucket:burst=100,cost=body:n|1000",
            "token-bucket:burst=100,cost=POST 1000|1",
            "fixed-window:limit=5,cost=5",
            "overwhelmed-queue",
        ] {
            assert!(notes(sound).is_empty(), "{sound}");
        }
    }

    #[test]
    fn presets_raise_no_notes() {
        for name in crate::server_preset_names() {
            let config = Config::default().with_preset(name, None).unwrap();
            assert!(config.notes().is_empty(), "{name}");
        }
    }

    #[test]
    fn a_policy_keyed_by_a_header_counts_by_that_header() {
        let config = |policy: &str| Config { policy: policy.parse().unwrap(), ..Config::default() };
        assert!(config("token-bucket:key=header:authorization|address").counts_by_header("authorization"));
        assert!(!config("token-bucket:key=address").counts_by_header("authorization"));
    }
}
