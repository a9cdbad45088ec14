//! First line of a run's summary: how many ops were done, and how soon.

use std::fmt::Write as _;

use results::RunResult;

use crate::runner::interrupt::by_whom;
use crate::text::{at_least, seconds, thousands};

pub(super) fn answer(result: &RunResult) -> String {
    let strategy = &result.strategy;
    if result.ops.share_base() == 0 {
        return format!("{strategy}: no op arrived");
    }
    let done = done(result);
    if let Some(at) = result.stalled_at_s {
        let at = seconds(at);
        return format!("{strategy}: {done}, stalled at {at}: no attempt succeeded after that");
    }
    if let Some(cause) = &result.interrupted {
        let after = result.makespan_s.map_or_else(String::new, |s| format!(" in {}", seconds(s)));
        return format!("{strategy}: {done}{after}, stopped by {}", by_whom(cause));
    }
    let mut text = format!("{strategy}: {done}{}", undone(result));
    match result.makespan_s {
        None => text.push_str(", no op ended"),
        Some(makespan) if is_complete(result) => {
            let _ = write!(text, " in {}", seconds(makespan));
            if let Some(bound) = result.optimal_makespan_s.filter(|bound| *bound > 0.0) {
                let _ = write!(text, " (no client can be faster than {})", seconds(bound));
            }
        }
        Some(makespan) => {
            let _ = write!(text, " ({})", seconds(makespan));
        }
    }
    text
}

pub(super) fn causes_of_giving_up(result: &RunResult) -> Vec<(u64, &'static str)> {
    let after = result.given_up_after;
    let causes = [
        (after.rejected, "after rejections"),
        (after.failed, "after failures"),
        (after.shed, "because a budget refused a retry"),
        (after.deferred, "because the server stayed full"),
        (after.deadline, "at the deadline"),
    ];
    causes.into_iter().filter(|(count, _)| *count > 0).collect()
}

fn is_complete(result: &RunResult) -> bool {
    result.ops.succeeded == result.ops.share_base()
}

fn done(result: &RunResult) -> String {
    let ops = result.ops;
    let base = thousands(ops.share_base());
    match (is_complete(result), ops.share_base()) {
        (true, 1) => return "the only op done".to_owned(),
        (true, _) => return format!("all {base} ops done"),
        _ => {}
    }
    let succeeded = if ops.succeeded == 0 { "none".to_owned() } else { thousands(ops.succeeded) };
    let arrived = if ops.offered.is_none() && result.share_is_lower_bound { " that arrived" } else { "" };
    let share = ops.share(ops.succeeded).filter(|_| result.share_is_lower_bound);
    let share = share.map_or_else(String::new, |share| format!(" ({})", at_least(share, true)));
    format!("{succeeded} of {base} ops{arrived} done{share}")
}

fn undone(result: &RunResult) -> String {
    let ops = result.ops;
    let causes = causes_of_giving_up(result);
    let given_up = match causes.as_slice() {
        [(_, cause)] => format!("given up {cause}"),
        _ => "given up".to_owned(),
    };
    let given_up = if ops.failed_for_good == ops.given_up { "failed for good".to_owned() } else { given_up };
    let to_come = ops.share_base().saturating_sub(ops.total);
    let parts = [(ops.given_up, given_up.as_str()), (ops.unfinished, "unfinished"), (to_come, "not arrived")];
    above_zero(parts).iter().map(|part| format!(", {part}")).collect::<Vec<_>>().concat()
}

/// Returns each count above zero with its words.
pub(super) fn above_zero<'a>(counts: impl IntoIterator<Item = (u64, &'a str)>) -> Vec<String> {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, words)| format!("{} {words}", thousands(count))).collect()
}
