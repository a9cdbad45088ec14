//! `RateLimit` and `RateLimit-Policy` as draft-ietf-httpapi-ratelimit-headers-10 has them, sections 3 and 4.
//!
//! `"burst";q=100;w=60` is a policy: its quota, and its window in seconds. Where time alone brings nothing back, the quota is of
//! requests at once: `"slots";q=50;qu="concurrent-requests"`, without a window. `"burst";r=50;t=30` is how much of it is left, and in how
//! many seconds there will be more: of the stage that rejected, as much as the request needs; of others, all.

use std::time::Duration;

use sfv::{Integer, KeyRef, ListSerializer, StringRef, integer, key_ref, string_ref};

use super::super::time_form::{Rounding, TimeForm, Unit};
use super::super::told::Telling;
use crate::standing::Standing;

const QUOTA: &KeyRef = key_ref("q");
const UNIT: &KeyRef = key_ref("qu");
const WINDOW: &KeyRef = key_ref("w");
const REMAINING: &KeyRef = key_ref("r");
const RESET: &KeyRef = key_ref("t");
const AT_ONCE: &StringRef = string_ref("concurrent-requests");

/// The largest number of a structured field (RFC 9651, section 3.3.1).
const MOST: Integer = integer(999_999_999_999_999);

/// The policies of the stack; `None` where it has none.
pub(super) fn policies(telling: &Telling<'_>) -> Option<String> {
    let mut list = ListSerializer::new();
    for (_, name, standing) in standings(telling) {
        let policy = list.bare_item(name).parameter(QUOTA, number(standing.limit));
        let _ = match standing.window {
            // The window must not be zero.
            Some(window) => {
                policy.parameter(WINDOW, number(seconds(window, Rounding::Nearest, telling).max(1)))
            }
            None => policy.parameter(UNIT, AT_ONCE),
        };
    }
    list.finish()
}

/// What is left of each; `None` where there is none. The wait of a rejection is told as `honestly` has it.
pub(super) fn limits(
    rounding: Rounding,
    honestly: impl Fn(Duration) -> Duration,
    telling: &Telling<'_>,
) -> Option<String> {
    let outcome = telling.told.outcome;
    let mut list = ListSerializer::new();
    for (index, name, standing) in standings(telling) {
        let rejects = outcome.stage() == Some(index);
        // Something may be left that is too little for this request; with it, a client would not wait.
        let remaining = if rejects { 0 } else { standing.remaining };
        let limit = list.bare_item(name).parameter(REMAINING, number(remaining));
        let reset = if rejects {
            outcome.wait().map(&honestly)
        } else {
            standing.window.map(|_| telling.until_reset(standing))
        };
        if let Some(reset) = reset {
            let _ = limit.parameter(RESET, number(seconds(reset, rounding, telling)));
        }
    }
    list.finish()
}

/// The stages that have a limit: which, its name, and where it stands.
fn standings<'a>(telling: &Telling<'a>) -> impl Iterator<Item = (usize, &'a StringRef, &'a Standing)> {
    let telling = *telling;
    telling.stages.iter().enumerate().filter_map(move |(index, name)| {
        // Names of stages are made of small letters, digits and hyphens.
        Some((index, StringRef::from_str(name).ok()?, telling.standing(index)?))
    })
}

fn number(number: u64) -> Integer {
    Integer::try_from(number).unwrap_or(MOST)
}

fn seconds(duration: Duration, rounding: Rounding, telling: &Telling<'_>) -> u64 {
    let form = TimeForm { rounding, ..TimeForm::of(Unit::Seconds) };
    u64::try_from(form.rounded(telling.teller.duration(duration))).unwrap_or(u64::MAX)
}
