//! A figure that a scenario asks for: what is drawn, from which runs or cells, and the words and claims that it belongs to.

use serde_json::Value;

use super::document::Document;
use super::experiment::{Cell, Column, Scenario};
use super::figure::{Axis, Figure, Scale, Shape};
use super::reading::{Wrong, each, list, look, number, text};
use super::registry::Entry;
use super::run::Run;
use super::strategy::Strategy;

/// A figure with what it was made for.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    /// By which it can be asked for alone.
    pub(super) name: String,
    pub(super) title: String,
    /// What the source says that it shows.
    pub(super) shows: String,
    /// What else a reader should know.
    pub(super) note: String,
    /// Which claims it belongs to, by their number.
    pub(super) claims: Vec<usize>,
    entry: &'static Entry,
    /// Only what it is drawn from.
    document: Document,
    dress: Dress,
}

/// What is changed on the figure that the registry draws.
#[derive(Clone, Debug, Default)]
struct Dress {
    /// What is later is left out.
    until_s: Option<f64>,
    /// Over how long courses are averaged.
    smooth_s: Option<f64>,
    logarithmic: bool,
    /// In what times are given: seconds per unit, and its name.
    unit: Option<(f64, String)>,
    /// Strategies' labels in the order of their looks, so that each looks the same in all plots of a scenario.
    looks: Vec<String>,
}

impl Plot {
    /// Reads a plot of a scenario with these cells.
    pub(super) fn read(raw: &Value, cells: &[Cell]) -> Result<Self, Wrong> {
        let drawn = text(raw, "draw")?;
        let entry = Entry::named(&drawn)
            .ok_or_else(|| Wrong::new("draw", format!("this program draws no `{drawn}`")))?;
        let own =
            list(raw, "cells")?.iter().filter_map(|index| cells.get(usize::try_from(index.as_u64()?).ok()?));
        let scenario = Scenario {
            cells: own.cloned().collect(),
            columns: each(raw, "columns", Column::read)?,
            ..Scenario::default()
        };
        let strategies = each(raw, "runs", |run| Ok(Strategy::alone(text(run, "label")?, Run::read(run)?)))?;
        let numbers = list(raw, "claims")?.iter().filter_map(Value::as_u64);
        let optional = |key| look(raw, key).and_then(Value::as_str).map(ToOwned::to_owned);
        let mut looks: Vec<String> = Vec::new();
        for cell in cells {
            if !looks.contains(&cell.label) {
                looks.push(cell.label.clone());
            }
        }
        let per_unit = number(raw, "time_unit.s")?.filter(|seconds| *seconds > 0.0);
        Ok(Self {
            name: text(raw, "name")?,
            title: text(raw, "title")?,
            shows: optional("shows").unwrap_or_default(),
            note: optional("note").unwrap_or_default(),
            claims: numbers.filter_map(|index| usize::try_from(index).ok()).collect(),
            entry,
            document: Document {
                strategies,
                scenarios: vec![scenario],
                comparison: Vec::new(),
                ..Document::default()
            },
            dress: Dress {
                until_s: number(raw, "until_s")?,
                smooth_s: number(raw, "smooth_s")?.filter(|seconds| *seconds > 0.0),
                logarithmic: look(raw, "logarithmic").and_then(Value::as_bool).unwrap_or(false),
                unit: per_unit.map(|seconds| (seconds, optional("time_unit.name").unwrap_or_default())),
                looks,
            },
        })
    }

    /// The name of the registry's figure.
    pub(super) fn draws(&self) -> &'static str {
        self.entry.name
    }

    /// Draws it; several when every strategy has a figure of its own.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let mut figures = (self.entry.draw)(&self.document);
        for figure in &mut figures {
            self.dress.put_on(figure);
        }
        if let [only] = figures.as_mut_slice() {
            only.title.clone_from(&self.title);
        }
        figures
    }
}

impl Dress {
    fn put_on(&self, figure: &mut Figure) {
        if let Some(smooth_s) = self.smooth_s.filter(|_| figure.x.unit == "s") {
            for series in figure.series.iter_mut().filter(|series| series.shape == Shape::Line) {
                series.points = averaged(&series.points, smooth_s);
            }
            figure.note = format!("{}; and averaged over {} s", figure.note, super::number::number(smooth_s));
        }
        if let Some(until_s) = self.until_s.filter(|_| figure.x.unit == "s") {
            for series in &mut figure.series {
                series.points.retain(|(x, _)| *x <= until_s);
                series.band.retain(|(x, ..)| *x <= until_s);
            }
            figure.x.reaches = until_s;
            let told = format!("the first {} s", super::number::number(until_s));
            figure.note = if figure.note.is_empty() { told } else { format!("{told}; {}", figure.note) };
        }
        if self.logarithmic {
            figure.y.scale = Scale::Logarithmic;
            for series in &mut figure.series {
                // A bar has no foot on a logarithmic axis, and zero no place.
                if series.shape == Shape::Bars {
                    series.shape = Shape::Dots;
                }
                series.points.iter_mut().filter(|(_, y)| *y <= 0.0).for_each(|(_, y)| *y = f64::NAN);
                series.band.retain(|(.., high)| *high > 0.0);
            }
        }
        if let Some((seconds, name)) = &self.unit {
            let in_unit = |axis: &mut Axis| {
                let of_time = axis.unit == "s";
                if of_time {
                    axis.reaches /= seconds;
                    axis.unit = "";
                    axis.label = format!("{} ({name})", axis.label);
                }
                if of_time { *seconds } else { 1.0 }
            };
            let (x_s, y_s) = (in_unit(&mut figure.x), in_unit(&mut figure.y));
            for series in &mut figure.series {
                series.points.iter_mut().for_each(|(x, y)| (*x, *y) = (*x / x_s, *y / y_s));
                let band = series.band.iter_mut();
                band.for_each(|(x, low, high)| (*x, *low, *high) = (*x / x_s, *low / y_s, *high / y_s));
            }
        }
        let look = |label: &str| self.looks.iter().position(|known| known == label);
        let looks: Option<Vec<usize>> = figure.series.iter().map(|series| look(&series.label)).collect();
        for (series, look) in figure.series.iter_mut().zip(looks.into_iter().flatten()) {
            series.look = look;
        }
    }
}

/// Every point with the mean of those around it, over so long. What is not a number stays so.
fn averaged(points: &[(f64, f64)], width: f64) -> Vec<(f64, f64)> {
    let mean = |(x, y): &(f64, f64)| {
        let near = points
            .iter()
            .filter(|(at, other)| (at - x).abs() <= width * 0.5 * (1.0 + 1e-9) && other.is_finite());
        let (sum, count) = near.fold((0.0, 0.0), |(sum, count), (_, other)| (sum + other, count + 1.0));
        (*x, if y.is_finite() { sum / count } else { *y })
    };
    points.iter().map(mean).collect()
}

/// The figures of one name: those that the registry draws of the whole document, and those that scenarios ask for by
/// this name, be it their own or the registry's.
pub fn figures_named(document: &Document, name: &str) -> Vec<Figure> {
    let mut figures = Entry::named(name).map(|entry| (entry.draw)(document)).unwrap_or_default();
    for plot in document.scenarios.iter().flat_map(|scenario| &scenario.plots) {
        if plot.name == name || plot.draws() == name {
            figures.extend(plot.figures());
        }
    }
    figures
}

/// Every name that a scenario of the document gives to a figure.
pub fn plot_names(document: &Document) -> impl Iterator<Item = &str> {
    document.scenarios.iter().flat_map(|scenario| &scenario.plots).map(|plot| plot.name.as_str())
}

impl Column {
    fn read(raw: &Value) -> Result<Self, Wrong> {
        Ok(Self {
            title: text(raw, "title")?,
            figure: text(raw, "figure")?,
            minus: number(raw, "minus")?.unwrap_or(0.0),
            times: number(raw, "times")?.unwrap_or(1.0),
        })
    }
}
