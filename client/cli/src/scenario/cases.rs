//! What a claim is looked at: every strategy that it is about, against every other that it names, at every point.

use anyhow::anyhow;
use toml::Value;
use vocabulary::did_you_mean;

use super::cell::{Cell, text};
use super::claim::{Against, Claim, Place, Stat};
use super::condition::{Condition, Wrong};
use super::file::Scenario;
use super::judge::is_at;
use super::run::Data;

/// A figure of one cell.
#[derive(Clone, Debug)]
pub(crate) struct Spot<'a> {
    cell: usize,
    figure: &'a str,
}

/// One figure, or two that are compared.
#[derive(Clone, Debug)]
pub(crate) struct Case<'a> {
    /// What tells it from the others, when there are several.
    pub(crate) at: Option<String>,
    pub(crate) own: Spot<'a>,
    pub(crate) other: Option<Spot<'a>>,
    /// The source's own figure at this point, when ours is compared with that.
    pub(crate) published: Option<f64>,
    /// The two values of what is varied, when the figure is how it grows from one to the other.
    pub(crate) exponent: Option<(f64, f64)>,
}

impl Case<'_> {
    /// What is made of the two figures, run by run.
    pub(crate) fn joined(&self, own: &[f64], other: &[f64]) -> Vec<f64> {
        let pairs = own.iter().zip(other);
        match self.exponent {
            None => pairs.map(|(own, other)| own / other).collect(),
            Some((from, to)) => pairs
                .map(|(low, high)| statistics::growth_exponent((from, *low), (to, *high)).unwrap_or(f64::NAN))
                .collect(),
        }
    }
}

/// Where a claim looks for its figures.
pub(crate) struct Looked<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) data: &'a Data,
}

impl Looked<'_> {
    /// Whether all cells of a case were run.
    pub(crate) fn was_run(&self, case: &Case<'_>) -> bool {
        std::iter::once(&case.own).chain(&case.other).all(|spot| self.data.has(spot.cell))
    }

    /// What the figure of a case is compared with, run by run.
    pub(crate) fn others(&self, case: &Case<'_>, runs: usize) -> Option<Vec<f64>> {
        let published = case.published.map(|figure| vec![figure; runs]);
        published.or_else(|| case.other.as_ref().map(|spot| self.values(spot)))
    }

    /// A figure of every run of its cell, in the scenario's unit.
    pub(crate) fn values(&self, spot: &Spot<'_>) -> Vec<f64> {
        let values = self.data.values(spot.cell, spot.figure);
        values.into_iter().map(|value| self.claim.scaled(value)).collect()
    }
}

/// All cases of a claim; or the key that is to blame for there being none.
pub(crate) fn cases<'a>(
    scenario: &Scenario,
    claim: &'a Claim,
    cells: &[Cell],
) -> Result<Vec<Case<'a>>, Wrong> {
    let Some((experiment, _)) = scenario.experiment_of(claim) else {
        return Err(("experiment", scenario.no_experiment(claim.experiment.as_deref(), "the claim")));
    };
    let table = Cells { cells, experiment };
    let varied = cells.iter().any(|cell| cell.experiment == experiment && !cell.point.is_empty());
    let ways = [claim.at.is_some(), !claim.over.is_empty(), claim.growth.is_some()];
    if ways.iter().filter(|way| **way).count() > 1 {
        return Err(("at", anyhow!("`at`, `over` and `growth` exclude one another")));
    }
    if varied && !ways.contains(&true) {
        return Err((
            "says",
            anyhow!("experiment `{experiment}` has several points: say which, with `at`, `over` or `growth`"),
        ));
    }
    if claim.growth.is_some() && claim.against.is_some() {
        return Err(("growth", anyhow!("`growth` and `against` exclude one another")));
    }
    if claim.of.all().is_empty() {
        return Err(("of", anyhow!("`of` names no strategy")));
    }
    let figure = claim.figure.as_str();
    let mut cases = Vec::new();
    for of in claim.of.all() {
        let of_one = (claim.of.all().len() > 1).then(|| of.clone());
        if let Some([from, to]) = &claim.growth {
            let number = |point: &Value| {
                let number = point.as_float().or_else(|| point.as_integer().map(|whole| whole as f64));
                number.ok_or_else(|| ("growth", anyhow!("`growth` is between two numbers, not {point}")))
            };
            let own = Spot { cell: table.find("of", of, Some(from))?, figure };
            let other = Some(Spot { cell: table.find("of", of, Some(to))?, figure });
            let exponent = Some((number(from)?, number(to)?));
            cases.push(Case { at: of_one, own, other, published: None, exponent });
            continue;
        }
        let points: Vec<Option<&Value>> = if claim.over.is_empty() {
            vec![claim.at.as_ref()]
        } else {
            claim.over.iter().map(Some).collect()
        };
        for (index, point) in points.into_iter().enumerate() {
            let own = Spot { cell: table.find("of", of, point)?, figure };
            let mut case = |against: Option<&str>, other: Option<Spot<'a>>, published: Option<f64>| {
                let against = against.map(|label| format!("against {label}"));
                let point = point.filter(|_| claim.over.len() > 1).map(|point| told(point, &claim.over));
                let parts: Vec<String> = [of_one.clone(), point, against].into_iter().flatten().collect();
                let at = (!parts.is_empty()).then(|| parts.join(" "));
                cases.push(Case { at, own: own.clone(), other, published, exponent: None });
            };
            match &claim.against {
                None => case(None, None, None),
                Some(Against::Labels(labels)) => {
                    if labels.all().is_empty() {
                        return Err(("against", anyhow!("`against` names no strategy")));
                    }
                    for label in labels.all() {
                        let cell = table.find("against", label, point)?;
                        let named = (labels.all().len() > 1).then_some(label.as_str());
                        case(named, Some(Spot { cell, figure }), None);
                    }
                }
                Some(Against::Place(place)) if !place.published.is_empty() => {
                    case(None, None, Some(published(claim, place, index)?));
                }
                Some(Against::Place(place)) => {
                    let name = place.experiment.as_deref().unwrap_or(experiment);
                    if !scenario.experiment.contains_key(name) {
                        return Err(("against", scenario.no_experiment(Some(name), "the other figure")));
                    }
                    let label = place.of.as_deref().unwrap_or(of);
                    let elsewhere = Cells { cells, experiment: name };
                    let cell = elsewhere.find_beside(label, &cells[own.cell], place.at.as_ref())?;
                    let figure = place.figure.as_deref().unwrap_or(figure);
                    if (cell, figure) == (own.cell, own.figure) {
                        return Err(("against", anyhow!("a figure is compared with itself")));
                    }
                    case(None, Some(Spot { cell, figure }), None);
                }
            }
        }
    }
    Ok(cases)
}

/// The source's figure at a point of `over`.
fn published(claim: &Claim, place: &Place, index: usize) -> Result<f64, Wrong> {
    let Place { of, at, experiment, figure, published } = place;
    let elsewhere = of.is_some() || at.is_some() || experiment.is_some() || figure.is_some();
    if elsewhere || published.len() != claim.over.len() {
        let words = format!(
            "`published` stands alone, and has a figure for every point of `over`: {} for {}",
            published.len(),
            claim.over.len()
        );
        return Err(("against", anyhow!(words)));
    }
    let figure = published[index];
    if !(figure.is_finite() && figure != 0.0) {
        return Err(("against", anyhow!("a figure that is {figure} makes no ratio")));
    }
    Ok(figure)
}

/// A point as it is shown: by what tells it from the others.
fn told(point: &Value, all: &[Value]) -> String {
    match point {
        Value::Table(keys) => {
            let differs = |key: &str, value: &Value| all.iter().any(|other| other.get(key) != Some(value));
            let differing = keys.iter().filter(|(key, value)| differs(key, value));
            differing.map(|(_, value)| text(value)).collect::<Vec<_>>().join(" ")
        }
        value => text(value),
    }
}

/// The cells of an experiment.
struct Cells<'a> {
    cells: &'a [Cell],
    experiment: &'a str,
}

impl Cells<'_> {
    fn labelled(&self, key: &'static str, label: &str) -> Result<Vec<(usize, &Cell)>, Wrong> {
        let own = || self.cells.iter().enumerate().filter(|(_, cell)| cell.experiment == self.experiment);
        let labelled: Vec<_> = own().filter(|(_, cell)| cell.label == label).collect();
        if labelled.is_empty() {
            let suggestion = did_you_mean(label, own().map(|(_, cell)| cell.label.as_str()));
            let words = format!("`{label}` is not run in experiment `{}`{suggestion}", self.experiment);
            return Err((key, anyhow!(words)));
        }
        Ok(labelled)
    }

    /// The only cell of a strategy at a point.
    fn find(&self, key: &'static str, label: &str, point: Option<&Value>) -> Result<usize, Wrong> {
        let mut there = self.labelled(key, label)?;
        there.retain(|(_, cell)| point.is_none_or(|point| is_at(cell, point)));
        self.only("at", &there, point)
    }

    /// The only cell of a strategy that stands where another one does, but for what differs.
    fn find_beside(&self, label: &str, own: &Cell, differs: Option<&Value>) -> Result<usize, Wrong> {
        let mut there = self.labelled("against", label)?;
        there.retain(|(_, cell)| match differs {
            Some(point @ Value::Table(keys)) => {
                let rest = own.point.iter().filter(|(key, _)| !keys.contains_key(key));
                is_at(cell, point) && rest.into_iter().all(|wanted| agrees(cell, wanted))
            }
            Some(point) => is_at(cell, point),
            None => own.point.iter().all(|wanted| agrees(cell, wanted)),
        });
        self.only("against", &there, differs)
    }

    fn only(
        &self,
        key: &'static str,
        there: &[(usize, &Cell)],
        point: Option<&Value>,
    ) -> Result<usize, Wrong> {
        let name = self.experiment;
        let point = point.map_or_else(|| "it".to_owned(), ToString::to_string);
        match there {
            [(only, _)] => Ok(*only),
            [] => Err((key, anyhow!("experiment `{name}` has no point {point}"))),
            _ => Err((
                key,
                anyhow!(
                    "{point} is more than one point of experiment `{name}`: name all that is varied, such as `at = {{ ops = 10, \
                     max_busy = 10 }}`"
                ),
            )),
        }
    }
}

/// Whether a cell has this value of what is varied, or does not vary it.
fn agrees(cell: &Cell, (key, wanted): &(String, Value)) -> bool {
    cell.point.iter().all(|(varied, value)| varied != key || value == wanted)
}

/// A claim must be about something that is run, and say what must be so of it.
pub(crate) fn check_claim(scenario: &Scenario, claim: &Claim, cells: &[Cell]) -> Result<(), Wrong> {
    self::cases(scenario, claim, cells)?;
    Condition::of(claim)?;
    if claim.judged_twice() {
        let words = "`stat` is of all runs together, and `one_run` judges each: leave one of them out";
        return Err(("stat", anyhow!(words)));
    }
    if claim.stat == Some(Stat::Deviation) && claim.against.is_some() {
        return Err(("stat", anyhow!("`stat = \"deviation\"` and `against` exclude one another")));
    }
    if let Some(plot) = claim.plot.as_ref().filter(|plot| !scenario.plot.contains_key(*plot)) {
        let suggestion = did_you_mean(plot, scenario.plot.keys().map(String::as_str));
        return Err(("plot", anyhow!("no figure is defined as `[plot.{plot}]`{suggestion}")));
    }
    let (name, _) = scenario.experiment_of(claim).expect("its cases were found in it");
    let binned =
        cells.iter().filter(|cell| cell.experiment == name).all(|cell| cell.settings.run.bins.is_some());
    for figure in claim.figures() {
        if scenario.figure.contains_key(figure) && !binned {
            let words = format!("`{figure}` needs calls in bins: set `bins` in the workload of `{name}`");
            return Err(("figure", anyhow!(words)));
        }
    }
    Ok(())
}
