//! Deserializers for fields that earlier or later versions of the program write in another form.

use std::collections::BTreeMap;

use loadgen_core::{ErrorKind, FailureResult};
use serde::{Deserialize, Deserializer, de};

use crate::{FiguresOverRuns, OverRuns, Winner};

pub(crate) fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

pub(crate) fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FiguresOverRuns, D::Error> {
    let figures: BTreeMap<String, Option<OverRuns>> = or_default(deserializer)?;
    Ok(figures.into_iter().filter_map(|(path, figure)| Some((path, figure?))).collect())
}

/// Deserializes the counts of failed attempts. An error kind that this version does not know becomes
/// [`ErrorKind::Other`].
pub(crate) fn failures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FailureResult>, D::Error> {
    #[derive(Deserialize)]
    struct Failure {
        status: Option<u16>,
        kind: Option<Kind>,
        attempts: u64,
    }
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "is not a text")]
    enum Kind {
        Known(ErrorKind),
        Later(#[expect(dead_code, reason = "any text is accepted")] String),
    }
    let kind = |kind| match kind {
        Kind::Known(kind) => kind,
        Kind::Later(_) => ErrorKind::Other,
    };
    let failures: Vec<Failure> = or_default(deserializer)?;
    let known = |Failure { status, kind: named, attempts }: Failure| FailureResult {
        status,
        kind: named.map(kind),
        attempts,
    };
    Ok(failures.into_iter().map(known).collect())
}

pub(crate) fn above_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let width = f64::deserialize(deserializer)?;
    if width > 0.0 { Ok(width) } else { Err(de::Error::custom("is not above zero")) }
}

/// Deserializes the winner of a sweep. A null in the document means that the sweep has no winner. If the key is missing instead, the winner
/// is unknown.
pub(crate) fn winner<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Winner, D::Error> {
    Option::deserialize(deserializer).map(Winner::Known)
}
