//! `--recording`: the file, and the preset that behaves most like the client.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loadgen_sim::side_by_side;
use recordings::judge::{Closeness, OperationType, Report, Suite, closeness, report, simulate};
use recordings::{Difference, Recording};
use results::{ClosestPreset, PresetDifference};
use tailback::{SpecError, StrategySpec, presets};

use experiments::runs::virtual_time::VirtualTime;

use crate::exit::{Exit, Fatal};
use crate::runner::interrupt::Interrupt;
use crate::text::progress::Live;

/// Rules that a preset must break in the same situations as the client.
const COMPARED: [&str; 5] = ["early-retry", "early-date", "final-retried", "header-ignored", "not-retried"];

const SEED: u64 = 1;
const IDLE: Duration = Duration::from_secs(6);

/// Compares the recording with all presets. Returns `None` if nothing can be compared, or after an interruption.
pub(super) fn closest(
    recording: &Recording,
    judged: &Report,
    suite: &Suite,
    interrupt: &Interrupt,
    live: &mut Live,
) -> anyhow::Result<Option<ClosestPreset>> {
    let presets = presets();
    let mut all: Vec<Closeness> = Vec::with_capacity(presets.len());
    let (mut done, mut failed) = (0, None);
    // A preset with more differences than another one is not the closest, so its comparison ends early. That saves most of the time, and
    // the result does not depend on the order.
    let fewest = AtomicUsize::new(usize::MAX);
    side_by_side(
        presets.len(),
        VirtualTime::on_threads(None).threads,
        |index| {
            let strategy: StrategySpec = format!("preset:{}", presets[index].name).parse()?;
            let own = judged_alike(suite, &strategy)?;
            let differs = |situation: &str| {
                let (client, preset) = (broken(judged, situation), broken(&own, situation));
                (client != preset).then(|| Difference::new("broken rules", named(&client), named(&preset)))
            };
            let closeness = closeness(recording, &strategy, fewest.load(Ordering::Relaxed), differs)?;
            if let Some(closeness) = &closeness {
                fewest.fetch_min(closeness.differs.len(), Ordering::Relaxed);
            }
            Ok(closeness)
        },
        |over: Option<Result<Option<Closeness>, SpecError>>| {
            match over {
                Some(Ok(closeness)) => {
                    done += 1;
                    all.extend(closeness);
                }
                Some(Err(error)) => failed = failed.take().or(Some(error)),
                None => {}
            }
            live.line(|| format!("{done} of {} presets compared with the client", presets.len()));
            failed.is_none() && interrupt.received() == 0
        },
    );
    if let Some(error) = failed {
        return Err(Fatal::because(Exit::Usage, "a preset cannot be started", error));
    }
    let is_complete = done == presets.len();
    let most = all.iter().map(|one| one.same).max().filter(|same| is_complete && *same > 0);
    Ok(most.and_then(|most| most_alike(all, most)))
}

fn judged_alike(suite: &Suite, strategy: &StrategySpec) -> Result<Report, SpecError> {
    let observed = suite
        .situations
        .iter()
        .map(|situation| simulate(situation, strategy, OperationType::Read, SEED, IDLE).map(Some));
    Ok(report(suite, &observed.collect::<Result<Vec<_>, _>>()?, None, &[], IDLE))
}

/// Returns the rules that a client breaks in a situation. Rules about idempotency keys and about short delays are left out, because presets have
/// no keys, and a busy machine hides short delays.
fn broken<'a>(judged: &'a Report, situation: &str) -> Vec<&'a str> {
    let found = judged.situations.iter().find(|judged| judged.name == situation);
    let findings = found.map(|judged| judged.findings.as_slice()).unwrap_or_default();
    findings.iter().map(|finding| finding.rule).filter(|rule| COMPARED.contains(rule)).collect()
}

fn named(rules: &[&str]) -> String {
    if rules.is_empty() { "none".to_owned() } else { rules.join(", ") }
}

fn most_alike(mut all: Vec<Closeness>, most: usize) -> Option<ClosestPreset> {
    all.retain(|one| one.same == most);
    let presets = all.iter().map(|one| one.strategy.clone()).collect();
    let first = all.into_iter().next()?;
    let compared = first.same + first.differs.len();
    let difference = |(situation, difference): (String, Difference)| PresetDifference {
        situation,
        text: difference.to_string(),
    };
    let differs = first.differs.into_iter().map(difference).collect();
    Some(ClosestPreset { presets, same: most, compared, differs })
}
