//! The scenarios that are built in.

/// The seeds' own experiments: name and text.
pub(crate) const EMBEDDED: &[(&str, &str)] = &[
    ("sync-musings", include_str!("../../../scenarios/sync-musings.toml")),
    ("retry-delays", include_str!("../../../scenarios/retry-delays.toml")),
    ("exploring-backoff", include_str!("../../../scenarios/exploring-backoff.toml")),
    ("ethernet", include_str!("../../../scenarios/ethernet.toml")),
    ("occ", include_str!("../../../scenarios/occ.toml")),
];
