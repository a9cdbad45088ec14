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
use crate::scenario::derived::of_all_runs;
use crate::scenario::verdict::{Found, Judged, SOME, of_all, of_one};
use crate::scenario::{Cell, Claim, Condition, Data, Scenario, Stat};

/// Minimum number of runs for a 95 % range. The probability that one more run is outside the range of 39 runs is at most 5 %.
const ENOUGH: usize = 39;

/// Judges a claim. Returns `None` if the claim's experiment was not run.
pub fn judge<'a>(scenario: &Scenario, claim: &'a Claim, cells: &[Cell], data: &Data) -> Option<Judged<'a>> {
    // The condition and the cases are valid, because the whole scenario was checked when it was loaded.
    let condition = Condition::new(claim).ok()?;
    let cases = cases(scenario, claim, cells).ok()?;
    let mut spots = cases.iter().flat_map(|case| std::iter::once(&case.own).chain(&case.other));
    if !spots.all(|spot| data.has(spot.cell)) {
        return None;
    }
    let figures = |spot: &Spot<'_>| -> Vec<f64> {
        data.values(spot.cell, spot.figure).into_iter().map(|value| claim.scaled(value)).collect()
    };
    let one_run = claim.one_run(scenario.one_run);
    let stat = claim.stat.unwrap_or_default();
    let found: Vec<Found> = cases
        .iter()
        .map(|case| {
            let own = figures(&case.own);
            let published = case.published.map(|figure| vec![figure; own.len()]);
            let other = published.or_else(|| case.other.as_ref().map(figures));
            let joined = other.as_ref().map(|other| {
                own.iter().zip(other).map(|(own, other)| case.joined(*own, *other)).collect::<Vec<f64>>()
            });
            let values = joined.as_ref().unwrap_or(&own);
            let none = no_figure(case, values);
            match (one_run, stat, &other) {
                (true, ..) => run_by_run(none, values, &condition),
                (false, Stat::Mean, Some(other)) => over_means(none, case, [&own, other], &condition),
                (false, ..) => over_all(none, stat, values, &condition),
            }
        })
        .collect();
    let verdict = of_all(&found);
    let by = match (one_run, condition.printed) {
        (true, true) => "the middle 95 % of runs",
        (true, false) => "the share of runs",
        (false, _) => match stat {
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

/// Returns the result of a case in which some runs lack the figure.
fn no_figure(case: &Case<'_>, values: &[f64]) -> Found {
    let known = values.iter().filter(|value| value.is_finite()).count();
    let text = match known {
        0 => "no figure".to_owned(),
        known => format!("a figure in {known} of {} runs only", values.len()),
    };
    let (at, verdict) = (case.at.clone(), ClaimVerdict::NoFigure);
    Found { at, value: f64::NAN, middle: None, runs: values.len(), so_in: None, verdict, text }
}

/// Returns what is added to the text of a figure that comes from a single run.
fn of_one_run(runs: usize) -> &'static str {
    if runs == 1 { ", 1 run" } else { "" }
}

/// Judges a statement that compares the means of two figures over many runs. Returns `none` if some runs lack one of the figures.
fn over_means(none: Found, case: &Case<'_>, both: [&[f64]; 2], condition: &Condition) -> Found {
    let [Some(own), Some(other)] = both.map(of_all_runs) else { return none };
    let value = case.joined(own.mean, other.mean);
    if value.is_nan() {
        return none;
    }
    let one = of_one_run(none.runs);
    let text = match case.exponent {
        Some(_) => format!("exponent {value:.2}{one}"),
        None => format!("{} × ({} / {}){one}", short(value), short(own.mean), short(other.mean)),
    };
    Found { value, verdict: of_one(condition.is_met(value)), text, ..none }
}

/// Judges a statement about many runs or about a figure that does not depend on chance. A statement about many runs is tested on the mean,
/// unless the claim selects another statistic. Returns `none` if some runs lack the figure.
fn over_all(none: Found, stat: Stat, values: &[f64], condition: &Condition) -> Found {
    let Some(seeds) = of_all_runs(values) else { return none };
    let runs = counted(none.runs as u64, "run");
    let (value, text) = match stat {
        Stat::Mean => (seeds.mean, with_deviation(&seeds)),
        Stat::Median => (seeds.p50, format!("{}{}", short(seeds.p50), of_one_run(none.runs))),
        Stat::Min => (seeds.min, format!("{} (smallest of {runs})", short(seeds.min))),
        Stat::Max => (seeds.max, format!("{} (largest of {runs})", short(seeds.max))),
        Stat::Deviation => {
            let Some(deviation) = seeds.deviation else {
                let text = "1 run has no deviation".to_owned();
                return Found { verdict: ClaimVerdict::TooFewRuns, text, ..none };
            };
            (deviation, short(deviation))
        }
    };
    Found { value, verdict: of_one(condition.is_met(value)), text, ..none }
}

/// Judges a statement of the source about one random run. If the statement is a printed number, it must be within the middle 95 % of our
/// runs. Any other statement is judged by the share of our runs in which it is true. Returns `none` if some runs lack the figure.
fn run_by_run(none: Found, values: &[f64], condition: &Condition) -> Found {
    // NaN cannot be ordered, so it is rejected. Infinity (the result of a division by zero) is allowed, because it is larger than any other
    // value.
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return none;
    }
    let runs = counted(values.len() as u64, "run");
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mean_text = of_all_runs(values).as_ref().map_or_else(|| short(mean), with_deviation);
    let found = Found { value: mean, ..none };
    if condition.printed {
        let Some((low, high)) = middle(values) else {
            let text = format!("{mean_text}; the middle 95 % needs {ENOUGH} runs");
            return Found { verdict: ClaimVerdict::TooFewRuns, text, ..found };
        };
        let text = format!(
            "{}–{} in the middle 95 % of {runs} (2.5 to 97.5 percentile), mean {}",
            short(low),
            short(high),
            short(mean)
        );
        let verdict = of_one(condition.overlaps(low, high));
        return Found { middle: Some((low, high)), verdict, text, ..found };
    }
    let so = values.iter().filter(|value| condition.is_met(**value)).count();
    let verdict = match so as f64 / values.len() as f64 {
        share if share > 0.5 => ClaimVerdict::Holds,
        share if share >= SOME => ClaimVerdict::HoldsPartly,
        _ => ClaimVerdict::DoesNotHold,
    };
    // The number of runs follows, so a single run is not mentioned twice.
    let mean_text = if values.len() == 1 { short(mean) } else { mean_text };
    Found { so_in: Some(so), verdict, text: format!("{mean_text}, so in {so} of {runs}"), ..found }
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

/// Returns a summary of the results of one claim of a scenario, in one line.
fn together(found: &[Found], verdict: ClaimVerdict) -> String {
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
    if verdict != ClaimVerdict::HoldsPartly {
        return text;
    }
    let named = |verdict: ClaimVerdict| {
        let cases = found.iter().filter(|one| one.verdict == verdict);
        cases.filter_map(|one| one.at.as_deref()).collect::<Vec<_>>()
    };
    let (so, not) = (named(ClaimVerdict::Holds), named(ClaimVerdict::DoesNotHold));
    let partly = named(ClaimVerdict::HoldsPartly);
    text = match (so.len(), not.len()) {
        (0, _) | (_, 0) => text,
        (some, others) if some <= others => format!("{text}; so: {}", so.join(", ")),
        _ => format!("{text}; not: {}", not.join(", ")),
    };
    if partly.is_empty() { text } else { format!("{text}; partly: {}", partly.join(", ")) }
}

fn with_deviation(seeds: &Summary) -> String {
    match seeds.deviation {
        Some(deviation) => format!("{} ± {}", short(seeds.mean), short(deviation)),
        None => format!("{}, 1 run", short(seeds.mean)),
    }
}
