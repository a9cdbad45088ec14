//! A plot as data: what is drawn, not how or where.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// Series in drawing order; later ones cover earlier ones.
    pub series: Vec<Series>,
    pub note: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub label: String,
    /// Unit of the values; empty for plain counts.
    pub unit: &'static str,
    pub scale: Scale,
    /// Value that the axis always includes, so that adjacent plots have the same ends.
    pub reaches: f64,
    /// Names of the values 0, 1, 2 …, if the axis shows choices instead of measured values; otherwise empty.
    pub names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Even spacing, starting at zero.
    #[default]
    Linear,
    /// Even spacing, starting at the lowest value. Meant for chosen rather than measured values.
    Fitted,
    /// Powers of ten. Values of zero or below are drawn at the lower end.
    Logarithmic,
    /// Shares from 0 to 1, spaced by their number of nines: 90 %, 99 %, 99.9 % are equally far apart.
    Nines,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub label: String,
    /// Index of colour, dash pattern and marker, from 0.
    pub look: usize,
    pub shape: Shape,
    /// Points from left to right. A y of NaN is a gap in the line.
    pub points: Vec<(f64, f64)>,
    /// Low and high ends around the points as (x, low, high); may be empty.
    pub band: Vec<(f64, f64, f64)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    #[default]
    Line,
    /// Separate marks. The first mark represents all others and is larger.
    Marks,
    /// Separate marks of equal size.
    Dots,
    /// Bars from zero. If several series have a bar at the same position, the bars are side by side.
    Bars,
    /// One thin stroke per event, for so many events that only their density counts.
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
    /// Returns the index of a series among the series of the same shape, and the number of these series.
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
