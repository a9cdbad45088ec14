//! A plot as data, which defines what is drawn but not how or where.

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

    pub(super) fn is_empty(&self) -> bool {
        !self.points.iter().any(|(x, y)| x.is_finite() && y.is_finite())
    }
}

impl Plot {
    /// Returns the position of a series among the plot's series of the same shape, and the number of series of this
    /// shape.
    pub(super) fn among(&self, index: usize) -> (usize, usize) {
        let shape = self.series[index].shape;
        let alike = |series: &&Series| series.shape == shape;
        let before = self.series[..index].iter().filter(alike).count();
        (before, self.series.iter().filter(alike).count())
    }

    pub(super) fn if_any(mut self) -> Option<Self> {
        self.series.retain(|series| !series.is_empty());
        (!self.series.is_empty()).then_some(self)
    }
}
