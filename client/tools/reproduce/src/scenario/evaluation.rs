//! Verdicts on claims, computed from the figures of runs. The rules are the same for runs in virtual time and over HTTP.
//!
//! If the source describes many runs, its sentence is tested on the mean over our runs. If the source describes one random run, the rule
//! depends on the sentence. A printed number of that run must be within the middle 95 % of our runs. Any other sentence is judged by the
//! share of our runs in which it is true. The claim holds if this share is more than half, and holds partly if it is at least 5 %.

#[cfg(test)]
mod tests;

use results::ClaimVerdict;
use results::numbers::{counted, short};
use statistics::Summary;

use crate::scenario::cases::{Case, Spot, cases};
use crate::scenario::cells::Cell;
use crate::scenario::claim::{Claim, Stat};
use crate::scenario::condition::Condition;
use crate::scenario::data::Data;
use crate::scenario::derived::of_all_runs;
use crate::scenario::file::Scenario;
use crate::scenario::verdict::{Found, Judged, SOME, of_all, of_one};

/// Minimum number of runs for a 95 % range. The probability that one more run is outside the range of 39 runs is at most 5 %.
const ENOUGH: usize = 39;

/// Judges a claim. Returns `None` if the claim's experiment was not run.
pub fn judge<'a>(scenario: &Scenario, claim: &'a Claim, cells: &[Cell], data: &Data) -> Option<Judged<'a>> {
    // The condition and the cases are valid, because the whole scenario was checked when it was loaded.
    let condition = Condition::new(claim).ok()?;
    let figures = ClaimFigures { claim, data };
    let cases = cases(scenario, claim, cells).ok()?;
    if !cases.iter().all(|case| figures.was_run(case)) {
        return None;
    }
    let one_run = claim.one_run(scenario.one_run);
    let found: Vec<Found> = cases
        .iter()
        .map(|case| {
            if one_run {
                run_by_run(&figures, case, &condition)
            } else {
                over_all(&figures, case, &condition)
            }
        })
        .collect();
    let verdict = of_all(&found);
    let by = match (one_run, condition.printed) {
        (true, true) => "the middle 95 % of runs",
        (true, false) => "the share of runs",
        (false, _) => match claim.stat.unwrap_or_default() {
            Stat::Mean => "the mean over runs",
            Stat::Median => "the median of runs",
            Stat::Min => "the smallest of all runs",
            Stat::Max => "the largest of all runs",
            Stat::Deviation => "the standard deviation over runs",
        },
    };
    let ours = together(&found, verdict);
    Some(Judged { claim, verdict, ours, condition, by, found })
}

fn no_figure(at: Option<String>, values: &[f64]) -> Found {
    let known = values.iter().filter(|value| value.is_finite()).count();
    let text = match known {
        0 => "no figure".to_owned(),
        known => format!("a figure in {known} of {} runs only", values.len()),
    };
    let verdict = ClaimVerdict::NoFigure;
    Found { at, value: f64::NAN, middle: None, runs: values.len(), so_in: None, verdict, text }
}

/// Judges a statement about many runs or about a figure that does not depend on chance. A statement about many runs is tested on the mean,
/// unless the claim selects another statistic.
fn over_all(figures: &ClaimFigures<'_>, case: &Case<'_>, condition: &Condition) -> Found {
    let at = case.at.clone();
    let stat = figures.claim.stat.unwrap_or_default();
    let own = figures.values(&case.own);
    let other = figures.others(case, own.len());
    let ratios = other.as_ref().map(|other| case.joined(&own, other));
    let values = ratios.as_ref().unwrap_or(&own);
    let runs = values.len();
    let found = |value: f64, text: String| {
        let verdict = of_one(condition.is_met(value));
        Found { at: at.clone(), value, middle: None, runs, so_in: None, verdict, text }
    };
    let one = if runs == 1 { ", 1 run" } else { "" };
    if let (Stat::Mean, Some(other)) = (stat, &other) {
        let (Some(own), Some(other)) = (of_all_runs(&own), of_all_runs(other)) else {
            return no_figure(at, values);
        };
        let Some(joined) = case.joined(&[own.mean], &[other.mean]).first().copied() else {
            return no_figure(at, values);
        };
        let text = match case.exponent {
            Some(_) => format!("exponent {joined:.2}{one}"),
            None => format!("{} × ({} / {}){one}", short(joined), short(own.mean), short(other.mean)),
        };
        return if joined.is_nan() { no_figure(at, values) } else { found(joined, text) };
    }
    let Some(seeds) = of_all_runs(values) else { return no_figure(at, values) };
    match stat {
        Stat::Mean => found(seeds.mean, with_deviation(&seeds)),
        Stat::Median => found(seeds.p50, format!("{}{one}", short(seeds.p50))),
        Stat::Min => {
            found(seeds.min, format!("{} (smallest of {})", short(seeds.min), counted(runs as u64, "run")))
        }
        Stat::Max => {
            found(seeds.max, format!("{} (largest of {})", short(seeds.max), counted(runs as u64, "run")))
        }
        Stat::Deviation => match seeds.deviation {
            Some(deviation) => found(deviation, short(deviation)),
            None => Found {
                verdict: ClaimVerdict::TooFewRuns,
                ..found(f64::NAN, "1 run has no deviation".to_owned())
            },
        },
    }
}

/// Judges a statement of the source about one random run. If the statement is a printed number, it must be within the middle 95 % of our
/// runs. Any other statement is judged by the share of our runs in which it is true.
fn run_by_run(figures: &ClaimFigures<'_>, case: &Case<'_>, condition: &Condition) -> Found {
    let at = case.at.clone();
    let own = figures.values(&case.own);
    let values = match figures.others(case, own.len()) {
        Some(other) => case.joined(&own, &other),
        None => own,
    };
    let runs = values.len();
    // NaN cannot be ordered, so it is rejected. Infinity (the result of a division by zero) is allowed, because it is larger than any other
    // value.
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return no_figure(at, &values);
    }
    let mean = values.iter().sum::<f64>() / runs as f64;
    let seeds = of_all_runs(&values);
    let mean_text = seeds.as_ref().map_or_else(|| short(mean), with_deviation);
    let mut found = Found {
        at,
        value: mean,
        middle: None,
        runs,
        so_in: None,
        verdict: ClaimVerdict::TooFewRuns,
        text: mean_text.clone(),
    };
    if condition.printed {
        let Some((low, high)) = middle(&values) else {
            found.text = format!("{mean_text}; the middle 95 % needs {ENOUGH} runs");
            return found;
        };
        found.middle = Some((low, high));
        found.verdict = of_one(condition.overlaps(low, high));
        found.text = format!(
            "{}–{} in the middle 95 % of {} (2.5 to 97.5 percentile), mean {}",
            short(low),
            short(high),
            counted(runs as u64, "run"),
            short(mean)
        );
        return found;
    }
    let so = values.iter().filter(|value| condition.is_met(**value)).count();
    let share = so as f64 / runs as f64;
    found.so_in = Some(so);
    found.verdict = match share {
        share if share > 0.5 => ClaimVerdict::Holds,
        share if share >= SOME => ClaimVerdict::HoldsPartly,
        _ => ClaimVerdict::DoesNotHold,
    };
    let mean_text = if runs == 1 { short(mean) } else { mean_text };
    found.text = format!("{mean_text}, so in {so} of {}", counted(runs as u64, "run"));
    found
}

/// Returns the lowest and the highest value of the middle 95 % of runs. A further run is outside this range with a probability of at most
/// 5 %. Returns `None` if there are too few runs for such a range.
fn middle(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // The run that the source describes is ranked among our n runs. Each of the n + 1 possible ranks is equally likely.
    let outside = (sorted.len() + 1) / (ENOUGH + 1);
    let first = outside.checked_sub(1)?;
    Some((sorted[first], sorted[sorted.len() - outside]))
}

/// Figures that a scenario's claim refers to, taken from the runs of the scenario.
pub(super) struct ClaimFigures<'a> {
    pub(super) claim: &'a Claim,
    pub(super) data: &'a Data,
}

impl ClaimFigures<'_> {
    pub(super) fn was_run(&self, case: &Case<'_>) -> bool {
        std::iter::once(&case.own).chain(&case.other).all(|spot| self.data.has(spot.cell))
    }

    pub(super) fn others(&self, case: &Case<'_>, runs: usize) -> Option<Vec<f64>> {
        let published = case.published.map(|figure| vec![figure; runs]);
        published.or_else(|| case.other.as_ref().map(|spot| self.values(spot)))
    }

    pub(super) fn values(&self, spot: &Spot<'_>) -> Vec<f64> {
        let values = self.data.values(spot.cell, spot.figure);
        values.into_iter().map(|value| self.claim.scaled(value)).collect()
    }
}

/// Returns a summary of the results of one claim of a scenario, in one line.
pub(super) fn together(found: &[Found], verdict: ClaimVerdict) -> String {
    if let [only] = found {
        return only.text.clone();
    }
    let (low, high) = found
        .iter()
        .flat_map(|one| one.middle.map_or([one.value, one.value], |(low, high)| [low, high]))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let mut text = format!("{}–{}", short(low), short(high));
    let shares = found.iter().filter_map(|one| Some(one.so_in? as f64 / one.runs as f64));
    if let Some(least) = shares.reduce(f64::min).filter(|_| verdict == ClaimVerdict::Holds) {
        text = format!("{text}, so in {:.0} % of runs at least", (least * 100.0).floor());
    }
    if found.iter().any(|one| one.runs == 1) {
        text.push_str(", 1 run");
    }
    let named = |wanted: &dyn Fn(ClaimVerdict) -> bool| {
        let cases = found.iter().filter(|one| wanted(one.verdict));
        cases.filter_map(|one| one.at.as_deref()).collect::<Vec<_>>()
    };
    if verdict != ClaimVerdict::HoldsPartly {
        return text;
    }
    let (so, not) =
        (named(&|one| one == ClaimVerdict::Holds), named(&|one| one == ClaimVerdict::DoesNotHold));
    let partly = named(&|one| one == ClaimVerdict::HoldsPartly);
    text = match (so.len(), not.len()) {
        (0, _) | (_, 0) => text,
        (some, others) if some <= others => format!("{text}; so: {}", so.join(", ")),
        _ => format!("{text}; not: {}", not.join(", ")),
    };
    if partly.is_empty() { text } else { format!("{text}; partly: {}", partly.join(", ")) }
}

pub(super) fn with_deviation(seeds: &Summary) -> String {
    match seeds.deviation {
        Some(deviation) => format!("{} ± {}", short(seeds.mean), short(deviation)),
        None => format!("{}, 1 run", short(seeds.mean)),
    }
}
