//! Lists of arrivals in workload files. Arrivals are given either as groups that are scattered over time, or as single instants.

use std::sync::Arc;
use std::time::Duration;

use loadgen_core::Group;
use serde::Deserialize;
use toml::Value;
use vocabulary::{Instant, duration_text};

use super::spec::MAX_BURST;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupSection {
    ops: u64,
    from: String,
    to: String,
    #[serde(default)]
    grid: Option<String>,
}

pub(super) fn groups(key: &str, value: &Value) -> Result<Arc<[Group]>, String> {
    let mut groups = Vec::new();
    let mut ops: u64 = 0;
    for section in written::<Vec<GroupSection>>(key, value)? {
        let (from, to) = (since(key, &section.from)?, since(key, &section.to)?);
        if from >= to {
            let GroupSection { from, to, .. } = section;
            return Err(format!(
                "`{key}`: ops cannot arrive from {from} to {to}; the end must be after the start"
            ));
        }
        let grid = section.grid.as_deref().map_or(Ok(Duration::ZERO), |grid| since(key, grid))?;
        ops = ops.saturating_add(section.ops);
        groups.push(Group { ops: section.ops, from, to, grid });
    }
    if groups.iter().any(|group| group.ops == 0) || !(1..=MAX_BURST).contains(&ops) {
        return Err(format!(
            "`{key}`: each group needs at least one op, and all groups together at most {MAX_BURST}"
        ));
    }
    Ok(groups.into())
}

pub(super) fn instants(key: &str, value: &Value) -> Result<Arc<[Instant]>, String> {
    let mut instants = Vec::new();
    for text in written::<Vec<String>>(key, value)? {
        instants.push(Instant::ORIGIN + since(key, &text)?);
    }
    if instants.is_empty() {
        return Err(format!("`{key}` is an empty list; at least one op is needed"));
    }
    instants.sort();
    Ok(instants.into())
}

fn written<T: for<'de> Deserialize<'de>>(key: &str, value: &Value) -> Result<T, String> {
    T::deserialize(value.clone()).map_err(|error| format!("`{key}`: {}", error.message()))
}

fn since(key: &str, text: &str) -> Result<Duration, String> {
    duration_text::parse(text).map_err(|error| format!("`{key}`: {error}"))
}
