//! A plot as data, which defines what is drawn but not how or where.

use crate::text::index;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// Series of the plot in drawing order. Later series cover earlier ones.
    pub series: Vec<Series>,
    pub note: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub label: String,
    /// Unit of the values on the axis; empty for plain counts.
    pub unit: &'static str,
    pub scale: Scale,
    /// Value that the axis always includes. Plots that stand side by side include the same value, so that their axes
    /// have the same ends.
    pub reaches: f64,
    /// Names of the values 0, 1, 2 … on an axis of named choices. Empty if the axis shows measured values.
    pub names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear scale that starts at zero.
    #[default]
    Linear,
    /// Linear scale that starts at the lowest value. Meant for values that were chosen rather than measured.
    Fitted,
    /// Logarithmic scale with powers of ten. Values of zero or below are drawn at the lower end.
    Logarithmic,
    /// Scale for shares from 0 to 1, spaced by their number of nines: 90 %, 99 % and 99.9 % are equally far apart.
    Nines,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub label: String,
    /// Index of the series' look (colour, dash pattern and marker), from 0.
    pub look: usize,
    pub shape: Shape,
    /// Points of the series from left to right. A y of NaN is a gap in the line.
    pub points: Vec<(f64, f64)>,
    /// Band around the points, as (x, low end, high end); may be empty.
    pub band: Vec<(f64, f64, f64)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    #[default]
    Line,
    /// Points drawn as separate marks. The first mark is larger, because it represents all the others.
    Marks,
    /// Points drawn as separate marks of equal size.
    Dots,
    /// Values drawn as bars that start at zero. If several series have a bar at the same position, the bars are side by
    /// side.
    Bars,
    /// One thin line per event. Meant for so many events that only their density matters.
    Events,
}

impl Axis {
    pub(super) fn linear(label: &str, unit: &'static str) -> Self {
        Self { label: label.to_owned(), unit, ..Self::default() }
    }

    pub(super) fn of_names(label: &str, names: Vec<String>) -> Self {
        Self { names, ..Self::linear(label, "") }
    }

    pub(super) fn logarithmic(label: &str, unit: &'static str) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::linear(label, unit) }
    }

    pub(super) fn time() -> Self {
        Self::linear("time", "s")
    }

    /// Returns the name at the position `x` of an axis of names.
    pub(super) fn name_at(&self, x: f64) -> Option<String> {
        self.names.get(index(x)).cloned()
    }

    pub(super) fn caption(&self) -> String {
        match self.unit {
            "" => self.label.clone(),
            unit => format!("{} ({unit})", self.label),
        }
    }
}

impl Series {
    pub(super) fn line(label: &str, look: usize, points: Vec<(f64, f64)>) -> Self {
        Self { label: label.to_owned(), look, points, ..Self::default() }
    }

    pub(super) fn marks(label: &str, look: usize, points: Vec<(f64, f64)>) -> Self {
        Self { shape: Shape::Marks, ..Self::line(label, look, points) }
    }

    /// Returns the points that have a place in a plot.
    pub(super) fn drawable(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    /// Converts all values to other units, which are given in the present units.
    pub(super) fn convert(&mut self, x_unit: f64, y_unit: f64) {
        self.points.iter_mut().for_each(|(x, y)| (*x, *y) = (*x / x_unit, *y / y_unit));
        let band = self.band.iter_mut();
        band.for_each(|(x, low, high)| (*x, *low, *high) = (*x / x_unit, *low / y_unit, *high / y_unit));
    }
}

impl Plot {
    /// Creates a plot of those series that have drawable points; `None` if there are none.
    pub(super) fn new(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        series: impl IntoIterator<Item = Series>,
        note: impl Into<String>,
    ) -> Option<Self> {
        let is_drawn = |series: &Series| series.drawable().next().is_some();
        let series: Vec<Series> = series.into_iter().filter(is_drawn).collect();
        (!series.is_empty()).then(|| Self { title: title.into(), x, y, series, note: note.into() })
    }

    pub(super) fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// Returns the position of a series among the plot's series of the same shape, and the number of series of this
    /// shape.
    pub(super) fn among(&self, index: usize) -> (usize, usize) {
        let shape = self.series[index].shape;
        let alike = |series: &&Series| series.shape == shape;
        let before = self.series[..index].iter().filter(alike).count();
        (before, self.series.iter().filter(alike).count())
    }
}
