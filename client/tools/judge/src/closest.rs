//! `--recording`: the file, and the preset that behaves most like the client.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use experiments::runs::virtual_time::VirtualTime;
use loadgen_sim::side_by_side;
use recordings::{Difference, Effort, Recording};
use shell::runner::interrupt::Interrupt;
use shell::text::progress::Live;
use tailback::{Preset, SpecError, StrategySpec, presets};

use crate::judgement::ClosestPreset;
use crate::observation::OperationType;
use crate::recorded::Comparison;
use crate::report::{Judge, Report};
use crate::simulated::Simulated;
use crate::suite::Suite;

/// Rules that a preset must break in the same situations as the client.
const COMPARED: [&str; 5] = ["early-retry", "early-date", "final-retried", "header-ignored", "not-retried"];

/// Numbers of differences after which the comparison of a preset pauses, each with the effort of the comparison.
const STEPS: [(usize, Effort); 7] = [
    (0, Effort::Few),
    (0, Effort::Many),
    (5, Effort::Few),
    (5, Effort::Many),
    (usize::MAX, Effort::Few),
    (usize::MAX, Effort::Many),
    (usize::MAX, Effort::Most),
];

const SEED: u64 = 1;
const IDLE: Duration = Duration::from_secs(6);

/// Compares the recording with all presets. Returns `None` if nothing can be compared, or after an interruption.
pub(super) fn closest(
    recording: &Recording,
    judged: &Report,
    suite: &Suite,
    interrupt: &Interrupt,
    live: &mut Live,
) -> Result<Option<ClosestPreset>, SpecError> {
    let begun = |preset: &Preset| {
        let strategy: StrategySpec = format!("preset:{}", preset.name).parse()?;
        let own = judged_alike(suite, &strategy)?;
        Ok(Comparison::new(recording, strategy, |situation| {
            let (client, preset) = (broken(judged, situation), broken(&own, situation));
            (client != preset).then(|| Difference::new("broken rules", named(&client), named(&preset)))
        }))
    };
    let mut all = presets().iter().map(begun).collect::<Result<Vec<_>, SpecError>>()?;
    // A preset that differs in more situations than another one is not the closest, so its comparison ends early. All presets are compared
    // up to their first differences and with little effort first, because few of them are then left for more. The result does not depend
    // on the order.
    let fewest = AtomicUsize::new(usize::MAX);
    for (limit, effort) in STEPS {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|index| all[*index].min_differences());
        let mut compared: Vec<Result<Comparison<'_>, SpecError>> = Vec::with_capacity(all.len());
        side_by_side(
            order.len(),
            VirtualTime::on_threads(None).threads,
            |index| {
                let mut comparison = all[order[index]].clone();
                comparison.compare(effort, || fewest.load(Ordering::Relaxed).min(limit))?;
                fewest.fetch_min(comparison.max_differences(), Ordering::Relaxed);
                Ok(comparison)
            },
            |over| {
                compared.extend(over);
                live.line(|| {
                    format!("{} of {} presets compared with the client", compared.len(), order.len())
                });
                interrupt.received() == 0
            },
        );
        if compared.len() < order.len() {
            return Ok(None);
        }
        for (index, comparison) in order.into_iter().zip(compared) {
            all[index] = comparison?;
        }
    }
    let is_closest = |index: &usize| all[*index].max_differences() <= fewest.load(Ordering::Relaxed);
    let closest: Vec<usize> = (0..all.len()).filter(is_closest).collect();
    // Only the differences of the first one are shown, so only these are compared with all simulated ops.
    if let Some(first) = closest.first() {
        all[*first] = begun(&presets()[*first])?;
        all[*first].compare(Effort::Most, || usize::MAX)?;
    }
    let mut alike: Vec<ClosestPreset> =
        closest.into_iter().filter_map(|index| all[index].closeness()).collect();
    let most = alike.iter().map(|one| one.same).max().unwrap_or(0).max(1);
    alike.retain(|one| one.same == most);
    let presets = alike.iter().flat_map(|one| one.presets.clone()).collect();
    Ok(alike.into_iter().next().map(|first| ClosestPreset { presets, ..first }))
}

fn judged_alike(suite: &Suite, strategy: &StrategySpec) -> Result<Report, SpecError> {
    let simulated = Simulated { strategy, operation: OperationType::Read, seed: SEED, idle: IDLE };
    let judge = Judge { operation: None, allowed: &[], idle: IDLE, expected_attempts: None };
    Ok(judge.report(suite, &simulated.observations(suite)?))
}

/// Returns the rules that a client breaks in a situation. Rules about idempotency keys and about short delays are left out, because presets
/// have no keys, and a busy machine hides short delays.
fn broken<'a>(judged: &'a Report, situation: &str) -> Vec<&'a str> {
    let found = judged.situations.iter().find(|judged| judged.name == situation);
    let findings = found.map(|judged| judged.findings.as_slice()).unwrap_or_default();
    findings.iter().map(|finding| finding.rule).filter(|rule| COMPARED.contains(rule)).collect()
}

fn named(rules: &[&str]) -> String {
    if rules.is_empty() { "none".to_owned() } else { rules.join(", ") }
}
