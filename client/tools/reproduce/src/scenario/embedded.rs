//! Scenario files that are built into the program, found by name.

use experiments::Error;
use vocabulary::did_you_mean;

use crate::scenario::location::Text;

pub const EMBEDDED: &[(&str, &str)] = &[
    ("sync-musings", include_str!("../../scenarios/sync-musings.toml")),
    ("retry-delays", include_str!("../../scenarios/retry-delays.toml")),
    ("exploring-backoff", include_str!("../../scenarios/exploring-backoff.toml")),
    ("ethernet", include_str!("../../scenarios/ethernet.toml")),
    ("occ", include_str!("../../scenarios/occ.toml")),
];

pub fn embedded(name: &str) -> Result<Text, Error> {
    let found = EMBEDDED.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        let suggestion = did_you_mean(name, EMBEDDED.iter().map(|(name, _)| *name));
        Error::usage(format!(
            "unknown scenario `{name}`{suggestion}; `loadgen reproduce --list` lists them, `--scenario FILE` reads your own"
        ))
    })?;
    Ok(Text { name: format!("`{name}`"), text: found.1.to_owned() })
}
