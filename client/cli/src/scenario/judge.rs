//! Whether claims hold, computed from the figures of runs.
//!
//! One rule for both drivers. A sentence about a figure is tested on the mean over runs. Where the source had one random run, its
//! printed number must lie among the middle 95 % of our runs, and its sentences are judged by the share of runs in which they are so:
//! more than half of them, and the claim holds; at least 5 %, and it holds partly.

use statistics::{Level, Method, Summary};
use toml::Value;

use super::cases::{Case, Looked, cases};
use super::cell::Cell;
use super::claim::{Claim, Expectation, Stat};
use super::condition::Condition;
use super::file::Scenario;
use super::run::Data;
use crate::text::figures::{counted, short};

/// From so many runs on, being outside of all of them has a probability of 5 % at most, for a run like them.
pub(crate) const ENOUGH: usize = 39;

/// The share of runs in which a sentence about one random run must be so to hold partly.
const SOME: f64 = 0.05;

/// What a claim comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Everywhere that it was looked at.
    Holds,
    /// At some points, or in some runs, only.
    HoldsPartly,
    /// Nowhere.
    DoesNotHold,
    /// No number that the source prints would lie outside of so few runs.
    TooFewRuns,
    /// The runs do not have the figure: nothing can be said.
    NoFigure,
}

/// A claim with its verdict.
pub(crate) struct Judged<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) verdict: Verdict,
    /// Our figure with its spread, as it is shown.
    pub(crate) ours: String,
    /// What was tested.
    pub(crate) condition: Condition,
    /// How it was tested, in words.
    pub(crate) by: &'static str,
    /// Our figure in every case that was looked at.
    pub(crate) found: Vec<Found>,
}

/// What was found in one case.
pub(crate) struct Found {
    /// Which case it is, when there are several.
    pub(crate) at: Option<String>,
    /// The figure: the mean, unless the claim says otherwise.
    pub(crate) value: f64,
    /// The lowest and the highest of the middle 95 % of runs, where they are what counts.
    pub(crate) middle: Option<(f64, f64)>,
    pub(crate) runs: usize,
    /// The runs in which it is so, where they are what counts.
    pub(crate) so_in: Option<usize>,
    pub(crate) verdict: Verdict,
    /// As it is shown.
    text: String,
}

impl Judged<'_> {
    /// Whether the verdict is the one that the scenario expects; `None` when too few runs were made to say.
    pub(crate) fn as_expected(&self) -> Option<bool> {
        let expected = match self.claim.expect {
            Expectation::Holds => Verdict::Holds,
            Expectation::HoldsPartly => Verdict::HoldsPartly,
            Expectation::DoesNotHold => Verdict::DoesNotHold,
        };
        // A share between 5 % and a half takes 20 runs to show.
        let too_few_for_a_share = self.claim.expect == Expectation::HoldsPartly
            && matches!(self.found.as_slice(), [one] if one.so_in.is_some() && (one.runs as f64) * SOME < 1.0);
        (self.verdict != Verdict::TooFewRuns && !too_few_for_a_share).then_some(self.verdict == expected)
    }
}

impl Verdict {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::TooFewRuns => "too few runs",
            Self::NoFigure => "no figure",
        }
    }

    /// Of several cases together.
    fn of_all(found: &[Found]) -> Self {
        let any = |verdict: Self| found.iter().any(|one| one.verdict == verdict);
        let all = |verdict: Self| found.iter().all(|one| one.verdict == verdict);
        match () {
            () if any(Self::NoFigure) => Self::NoFigure,
            () if any(Self::TooFewRuns) => Self::TooFewRuns,
            () if all(Self::Holds) => Self::Holds,
            () if all(Self::DoesNotHold) => Self::DoesNotHold,
            () => Self::HoldsPartly,
        }
    }

    fn of_one(so: bool) -> Self {
        if so { Self::Holds } else { Self::DoesNotHold }
    }
}

/// Whether a cell stands at this point: one of what it varies has this value, or, given a table, every key of it.
pub(crate) fn is_at(cell: &Cell, point: &Value) -> bool {
    match point {
        Value::Table(keys) => keys
            .iter()
            .all(|(key, wanted)| cell.point.iter().any(|(varied, value)| varied == key && value == wanted)),
        wanted => cell.point.iter().any(|(_, value)| value == wanted),
    }
}

/// Judges a claim; `None` when its experiment was not run.
pub(crate) fn judge<'a>(
    scenario: &Scenario,
    claim: &'a Claim,
    cells: &[Cell],
    data: &Data,
) -> Option<Judged<'a>> {
    // Checked when the scenario was read.
    let condition = Condition::of(claim).ok()?;
    let looked = Looked { claim, data };
    let cases = cases(scenario, claim, cells).ok()?;
    if !cases.iter().all(|case| looked.was_run(case)) {
        return None;
    }
    let one_run = claim.one_run(scenario.one_run);
    let found: Vec<Found> = cases
        .iter()
        .map(|case| {
            if one_run { run_by_run(&looked, case, &condition) } else { over_all(&looked, case, &condition) }
        })
        .collect();
    let verdict = Verdict::of_all(&found);
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

/// All cases in one line.
fn together(found: &[Found], verdict: Verdict) -> String {
    if let [only] = found {
        return only.text.clone();
    }
    let (low, high) = found
        .iter()
        .flat_map(|one| one.middle.map_or([one.value, one.value], |(low, high)| [low, high]))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let mut text = format!("{}–{}", short(low), short(high));
    let shares = found.iter().filter_map(|one| Some(one.so_in? as f64 / one.runs as f64));
    if let Some(least) = shares.reduce(f64::min).filter(|_| verdict == Verdict::Holds) {
        text = format!("{text}, so in {:.0} % of runs at least", (least * 100.0).floor());
    }
    if found.iter().any(|one| one.runs == 1) {
        text.push_str(", 1 run");
    }
    let named = |wanted: &dyn Fn(Verdict) -> bool| {
        let cases = found.iter().filter(|one| wanted(one.verdict));
        cases.filter_map(|one| one.at.as_deref()).collect::<Vec<_>>()
    };
    if verdict != Verdict::HoldsPartly {
        return text;
    }
    let (so, not) = (named(&|one| one == Verdict::Holds), named(&|one| one == Verdict::DoesNotHold));
    let partly = named(&|one| one == Verdict::HoldsPartly);
    // The fewer are told.
    text = match (so.len(), not.len()) {
        (0, _) | (_, 0) => text,
        (some, others) if some <= others => format!("{text}; so: {}", so.join(", ")),
        _ => format!("{text}; not: {}", not.join(", ")),
    };
    if partly.is_empty() { text } else { format!("{text}; partly: {}", partly.join(", ")) }
}

/// A figure over runs; those that do not have it are left out.
pub(crate) fn over_seeds(values: &[f64]) -> Option<Summary> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    Summary::of(&known, Level::P95, Method::StudentT)
}

/// A figure over runs that all have it: a statistic of some of them only would say something else.
fn of_all_runs(values: &[f64]) -> Option<Summary> {
    over_seeds(values).filter(|seeds| seeds.count == values.len())
}

fn no_figure(at: Option<String>, values: &[f64]) -> Found {
    let known = values.iter().filter(|value| value.is_finite()).count();
    let text = match known {
        0 => "no figure".to_owned(),
        known => format!("a figure in {known} of {} runs only", values.len()),
    };
    let verdict = Verdict::NoFigure;
    Found { at, value: f64::NAN, middle: None, runs: values.len(), so_in: None, verdict, text }
}

/// Judges what the source says of many runs, or of what does not depend on chance.
fn over_all(looked: &Looked<'_>, case: &Case<'_>, condition: &Condition) -> Found {
    let at = case.at.clone();
    let stat = looked.claim.stat.unwrap_or_default();
    let own = looked.values(&case.own);
    let other = looked.others(case, own.len());
    let ratios = other.as_ref().map(|other| case.joined(&own, other));
    let values = ratios.as_ref().unwrap_or(&own);
    let runs = values.len();
    let found = |value: f64, text: String| {
        let verdict = Verdict::of_one(condition.is_met(value));
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
            None => {
                Found { verdict: Verdict::TooFewRuns, ..found(f64::NAN, "1 run has no deviation".to_owned()) }
            }
        },
    }
}

/// Judges what the source says of one random run.
fn run_by_run(looked: &Looked<'_>, case: &Case<'_>, condition: &Condition) -> Found {
    let at = case.at.clone();
    let own = looked.values(&case.own);
    let values = match looked.others(case, own.len()) {
        Some(other) => case.joined(&own, &other),
        None => own,
    };
    let runs = values.len();
    // One that is divided by nothing is more than any other.
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return no_figure(at, &values);
    }
    let mean = values.iter().sum::<f64>() / runs as f64;
    let seeds = of_all_runs(&values);
    let told = seeds.as_ref().map_or_else(|| short(mean), with_deviation);
    let mut found = Found {
        at,
        value: mean,
        middle: None,
        runs,
        so_in: None,
        verdict: Verdict::TooFewRuns,
        text: told.clone(),
    };
    if condition.printed {
        let Some((low, high)) = middle(&values) else {
            found.text = format!("{told}; the middle 95 % takes {ENOUGH} runs to tell");
            return found;
        };
        found.middle = Some((low, high));
        found.verdict = Verdict::of_one(condition.overlaps(low, high));
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
        share if share > 0.5 => Verdict::Holds,
        share if share >= SOME => Verdict::HoldsPartly,
        _ => Verdict::DoesNotHold,
    };
    let told = if runs == 1 { short(mean) } else { told };
    found.text = format!("{told}, so in {so} of {}", counted(runs as u64, "run"));
    found
}

/// The lowest and the highest of the middle 95 %: a further run like these lies outside with a probability of 5 % at most.
/// `None` when there are too few runs for that.
fn middle(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Of n runs and the published one, each is as likely as any other to have any rank.
    let outside = (sorted.len() + 1) / (ENOUGH + 1);
    let first = outside.checked_sub(1)?;
    Some((sorted[first], sorted[sorted.len() - outside]))
}

fn with_deviation(seeds: &Summary) -> String {
    match seeds.deviation {
        Some(deviation) => format!("{} ± {}", short(seeds.mean), short(deviation)),
        None => format!("{}, 1 run", short(seeds.mean)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_39_runs_is_all_of_them_and_of_fewer_nothing() {
        let values = |count: u32| (1..=count).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!(middle(&values(38)), None);
        assert_eq!(middle(&values(39)), Some((1.0, 39.0)));
        assert_eq!(middle(&values(78)), Some((1.0, 78.0)));
        assert_eq!(middle(&values(100)), Some((2.0, 99.0)));
        assert_eq!(middle(&values(199)), Some((5.0, 195.0)));
    }
}
