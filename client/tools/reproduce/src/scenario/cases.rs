//! Cases of a claim. A case is one strategy of the claim at one of its points. If the claim names strategies to compare with, each of these
//! comparisons is a separate case.

use toml::Value;
use vocabulary::did_you_mean;

use crate::scenario::cells::{Cell, is_at, text};
use crate::scenario::wrong::{Wrong, refuse};
use crate::scenario::{Against, Claim, ComparedFigure, Scenario};

#[derive(Clone, Debug)]
pub(super) struct Spot<'a> {
    pub(super) cell: usize,
    pub(super) figure: &'a str,
}

#[derive(Clone, Debug)]
pub(super) struct Case<'a> {
    /// Text that distinguishes one case of a claim from the claim's other cases; `None` if the claim has only one case.
    pub(super) at: Option<String>,
    pub(super) own: Spot<'a>,
    pub(super) other: Option<Spot<'a>>,
    /// Figure that the scenario's source (such as a paper) states for the point of one case of a claim. It is `None` unless the claim
    /// compares our figures with figures of the source.
    pub(super) published: Option<f64>,
    /// Two values of the varied parameter, for claims about growth. Such a claim is about the exponent with which the figure grows from the
    /// first value to the second.
    pub(super) exponent: Option<(f64, f64)>,
}

impl Case<'_> {
    /// Returns the ratio of two figures, or the exponent with which the figure grows from the first to the second.
    pub(super) fn joined(&self, own: f64, other: f64) -> f64 {
        match self.exponent {
            None => own / other,
            Some((from, to)) => statistics::growth_exponent((from, own), (to, other)).unwrap_or(f64::NAN),
        }
    }
}

pub(super) fn cases<'a>(
    scenario: &Scenario,
    claim: &'a Claim,
    cells: &[Cell],
) -> Result<Vec<Case<'a>>, Wrong> {
    let (experiment, _) = scenario.existing(claim.experiment.as_deref(), "the claim")?;
    let table = Cells { cells, experiment };
    let varied = cells.iter().any(|cell| cell.experiment == experiment && !cell.point.is_empty());
    let ways = [claim.at.is_some(), !claim.over.is_empty(), claim.growth.is_some()];
    if ways.iter().filter(|way| **way).count() > 1 {
        return refuse("at", "`at`, `over` and `growth` exclude one another");
    }
    if varied && !ways.contains(&true) {
        return refuse(
            "says",
            format!("experiment `{experiment}` has several points; choose with `at`, `over` or `growth`"),
        );
    }
    if claim.growth.is_some() && claim.against.is_some() {
        return refuse("growth", "`growth` and `against` exclude one another");
    }
    if claim.of.all().is_empty() {
        return refuse("of", "`of` names no strategy");
    }
    let figure = claim.figure.as_str();
    let mut cases = Vec::new();
    for of in claim.of.all() {
        let of_one = (claim.of.all().len() > 1).then(|| of.clone());
        if let Some([from, to]) = &claim.growth {
            let number = |point: &Value| {
                let number = point.as_float().or_else(|| point.as_integer().map(|whole| whole as f64));
                let words = || format!("`growth` needs a numeric point, not {point}");
                number.ok_or_else(|| Wrong::new("growth", words()))
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
                let point =
                    point.filter(|_| claim.over.len() > 1).map(|point| point_text(point, &claim.over));
                let parts: Vec<String> = [of_one.clone(), point, against].into_iter().flatten().collect();
                let at = (!parts.is_empty()).then(|| parts.join(" "));
                cases.push(Case { at, own: own.clone(), other, published, exponent: None });
            };
            match &claim.against {
                None => case(None, None, None),
                Some(Against::Labels(labels)) => {
                    if labels.all().is_empty() {
                        return refuse("against", "`against` names no strategy");
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
                        return refuse("against", scenario.no_experiment(Some(name), "the other figure"));
                    }
                    let label = place.of.as_deref().unwrap_or(of);
                    let elsewhere = Cells { cells, experiment: name };
                    let cell = elsewhere.find_beside(label, &cells[own.cell], place.at.as_ref())?;
                    let figure = place.figure.as_deref().unwrap_or(figure);
                    if (cell, figure) == (own.cell, own.figure) {
                        return refuse("against", "a figure is compared with itself");
                    }
                    case(None, Some(Spot { cell, figure }), None);
                }
            }
        }
    }
    Ok(cases)
}

fn published(claim: &Claim, place: &ComparedFigure, index: usize) -> Result<f64, Wrong> {
    let ComparedFigure { of, at, experiment, figure, published } = place;
    let elsewhere = of.is_some() || at.is_some() || experiment.is_some() || figure.is_some();
    if elsewhere || published.len() != claim.over.len() {
        let words = format!(
            "`published` must be the only key of `against` and needs one figure for every point of `over`: {} for {}",
            published.len(),
            claim.over.len()
        );
        return refuse("against", words);
    }
    let figure = published[index];
    if !(figure.is_finite() && figure != 0.0) {
        return refuse("against", format!("a figure of {figure} cannot be the base of a ratio"));
    }
    Ok(figure)
}

/// Formats a point of an experiment. If the point is a table of several values, only values that differ between the points are shown.
fn point_text(point: &Value, all: &[Value]) -> String {
    match point {
        Value::Table(keys) => {
            let differs = |key: &str, value: &Value| all.iter().any(|other| other.get(key) != Some(value));
            let differing = keys.iter().filter(|(key, value)| differs(key, value));
            differing.map(|(_, value)| text(value)).collect::<Vec<_>>().join(" ")
        }
        value => text(value),
    }
}

struct Cells<'a> {
    cells: &'a [Cell],
    experiment: &'a str,
}

impl Cells<'_> {
    fn find(&self, key: &str, label: &str, point: Option<&Value>) -> Result<usize, Wrong> {
        self.only((key, label), ("at", point), |cell| point.is_none_or(|point| is_at(cell, point)))
    }

    /// Returns the cell with which the cell `own` is compared. The returned cell belongs to the strategy `label`. If `differs` is a table,
    /// the returned cell has the table's values, and the values of `own` for all other varied keys. If `differs` is a single value, the
    /// returned cell has this value. If `differs` is `None`, the returned cell is at the same point as `own`. Fails if not exactly one cell
    /// matches.
    fn find_beside(&self, label: &str, own: &Cell, differs: Option<&Value>) -> Result<usize, Wrong> {
        self.only(("against", label), ("against", differs), |cell| match differs {
            Some(point @ Value::Table(keys)) => {
                let mut rest = own.point.iter().filter(|(key, _)| !keys.contains_key(key));
                is_at(cell, point) && rest.all(|wanted| agrees(cell, wanted))
            }
            Some(point) => is_at(cell, point),
            None => own.point.iter().all(|wanted| agrees(cell, wanted)),
        })
    }

    /// Returns the only cell of the strategy `label` that matches. An error names the key of the claim that gives the label, or the key
    /// that gives the point.
    fn only(
        &self,
        (key, label): (&str, &str),
        (point_key, point): (&str, Option<&Value>),
        matches: impl Fn(&Cell) -> bool,
    ) -> Result<usize, Wrong> {
        let name = self.experiment;
        let own = || self.cells.iter().enumerate().filter(|(_, cell)| cell.experiment == name);
        let mut labelled = own().filter(|(_, cell)| cell.label == label).peekable();
        if labelled.peek().is_none() {
            let suggestion = did_you_mean(label, own().map(|(_, cell)| cell.label.as_str()));
            return refuse(key, format!("`{label}` is not run in experiment `{name}`{suggestion}"));
        }
        let point = point.map_or_else(|| "it".to_owned(), ToString::to_string);
        let mut matching = labelled.filter(|(_, cell)| matches(cell));
        match (matching.next(), matching.next()) {
            (Some((only, _)), None) => Ok(only),
            (None, _) => refuse(point_key, format!("experiment `{name}` has no point {point}")),
            _ => refuse(
                point_key,
                format!(
                    "{point} matches several points of experiment `{name}`; name every varied key, such as `at = {{ ops = 10, max_busy = 10 }}`"
                ),
            ),
        }
    }
}

fn agrees(cell: &Cell, (key, wanted): &(String, Value)) -> bool {
    cell.point.iter().all(|(varied, value)| varied != key || value == wanted)
}
