//! Whether claims hold, computed from the figures of runs.

use statistics::{Level, Method, Summary};
use toml::Value;

use super::cell::{Cell, text};
use super::file::{Claim, Expectation, Scenario, Stat};
use super::run::Data;
use crate::figures::short;

/// What a claim comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Everywhere that it was looked at.
    Holds,
    /// At some points only.
    HoldsPartly,
    /// Nowhere.
    DoesNotHold,
    /// The runs do not have the figure: nothing can be said.
    NoFigure,
}

/// A claim with its verdict.
pub(crate) struct Judged<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) verdict: Verdict,
    /// Our figure with its spread, as it is shown.
    pub(crate) ours: String,
    /// Our figure, at every point that was looked at.
    pub(crate) values: Vec<(Option<String>, f64)>,
    /// The band that was applied.
    pub(crate) accept: [f64; 2],
}

impl Judged<'_> {
    /// Whether the verdict is the one that the scenario expects.
    pub(crate) fn as_expected(&self) -> bool {
        matches!(
            (self.claim.expect, self.verdict),
            (Expectation::Holds, Verdict::Holds)
                | (Expectation::HoldsPartly, Verdict::HoldsPartly)
                | (Expectation::DoesNotHold, Verdict::DoesNotHold)
        )
    }
}

impl Verdict {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::NoFigure => "no figure",
        }
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
    http: bool,
) -> Option<Judged<'a>> {
    let (experiment, _) = scenario.experiment_of(claim)?;
    let run = cells.iter().enumerate().any(|(index, cell)| cell.experiment == experiment && data.has(index));
    if !run {
        return None;
    }
    let looked = Looked { claim, experiment, cells, data };
    let no_figure = || (f64::NAN, "no figure".to_owned());
    let accept = claim.accept_http.filter(|_| http).unwrap_or(claim.accept);
    let within = |value: f64| (accept[0]..=accept[1]).contains(&value);
    if claim.over.is_empty() {
        let (value, ours) = looked.value(claim.at.as_ref()).unwrap_or_else(no_figure);
        let verdict = match value {
            value if value.is_nan() => Verdict::NoFigure,
            value if within(value) => Verdict::Holds,
            _ => Verdict::DoesNotHold,
        };
        return Some(Judged { claim, verdict, ours, values: vec![(None, value)], accept });
    }
    let mut values = Vec::new();
    for point in &claim.over {
        values.push((text(point), looked.value(Some(point)).unwrap_or_else(no_figure).0));
    }
    let holding: Vec<&str> =
        values.iter().filter(|(_, value)| within(*value)).map(|(point, _)| point.as_str()).collect();
    let verdict = match holding.len() {
        _ if values.iter().any(|(_, value)| value.is_nan()) => Verdict::NoFigure,
        0 => Verdict::DoesNotHold,
        some if some < values.len() => Verdict::HoldsPartly,
        _ => Verdict::Holds,
    };
    let range = values.iter().map(|(_, value)| *value);
    let (low, high) = range
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let mut ours = format!("{}–{}", short(low), short(high));
    if verdict == Verdict::HoldsPartly {
        ours = format!("{ours}, at {}", holding.join(" "));
    }
    let values = values.into_iter().map(|(point, value)| (Some(point), value)).collect();
    Some(Judged { claim, verdict, ours, values, accept })
}

/// A figure over seeds; runs that do not have it are left out.
pub(crate) fn over_seeds(values: &[f64]) -> Option<Summary> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    Summary::of(&known, Level::P95, Method::StudentT)
}

fn mean(values: &[f64]) -> Option<f64> {
    // A mean over those runs only that have the figure would say something else.
    over_seeds(values).filter(|seeds| seeds.count == values.len()).map(|seeds| seeds.mean)
}

/// Where a claim looks for its figure.
struct Looked<'a> {
    claim: &'a Claim,
    experiment: &'a str,
    cells: &'a [Cell],
    data: &'a Data,
}

impl Looked<'_> {
    /// The claim's figure at a point, and how it is shown.
    fn value(&self, at: Option<&Value>) -> Option<(f64, String)> {
        let claim = self.claim;
        if let Some([from, to]) = &claim.growth {
            let (low, high) = (self.mean(&claim.of, Some(from))?, self.mean(&claim.of, Some(to))?);
            let number =
                |point: &Value| point.as_float().or_else(|| point.as_integer().map(|whole| whole as f64));
            let exponent = statistics::growth_exponent((number(from)?, low), (number(to)?, high))?;
            return Some((exponent, format!("exponent {exponent:.2}")));
        }
        let own = self.values(&claim.of, at)?;
        let Some(other) = &claim.against else { return Some(self.of_seeds(&own)) };
        let other = self.values(other, at)?;
        if claim.stat == Stat::Mean {
            let (own, other) = (mean(&own)?, mean(&other)?);
            let ratio = own / other;
            return Some((ratio, format!("{} × ({} / {})", short(ratio), short(own), short(other))));
        }
        let ratios: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other).collect();
        Some(self.of_seeds(&ratios))
    }

    /// What is made of the values of all seeds.
    fn of_seeds(&self, values: &[f64]) -> (f64, String) {
        if self.claim.stat == Stat::ShareAbove {
            let above =
                values.iter().filter(|value| **value > self.claim.threshold.unwrap_or_default()).count();
            return (above as f64 / values.len() as f64, format!("in {above} of {} seeds", values.len()));
        }
        let known = values.iter().filter(|value| value.is_finite()).count();
        let seeds = match over_seeds(values) {
            Some(seeds) if known == values.len() => seeds,
            _ => return (f64::NAN, format!("a figure in {known} of {} seeds only", values.len())),
        };
        let value = match self.claim.stat {
            Stat::Mean | Stat::ShareAbove => {
                let deviation = seeds.deviation.unwrap_or(0.0);
                return (seeds.mean, format!("{} ± {}", short(seeds.mean), short(deviation)));
            }
            Stat::Median => seeds.p50,
            Stat::Min => seeds.min,
            Stat::Max => seeds.max,
            Stat::Deviation => seeds.deviation.unwrap_or(f64::NAN),
        };
        (value, short(value))
    }

    fn mean(&self, label: &str, at: Option<&Value>) -> Option<f64> {
        mean(&self.values(label, at)?)
    }

    fn values(&self, label: &str, at: Option<&Value>) -> Option<Vec<f64>> {
        let cell = self.cells.iter().position(|cell| {
            cell.experiment == self.experiment && cell.label == label && at.is_none_or(|at| is_at(cell, at))
        })?;
        let values = self.data.values(cell, &self.claim.figure);
        self.data.has(cell).then(|| values.into_iter().map(|value| self.claim.scaled(value)).collect())
    }
}
