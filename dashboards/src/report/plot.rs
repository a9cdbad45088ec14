//! A plot as data: what is drawn, not how or where.

/// A plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first below the others.
    pub series: Vec<Series>,
    /// What a reader must know: what was left out, which run is drawn.
    pub note: String,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// In what; empty for plain counts.
    pub unit: &'static str,
    /// How values are spread over it.
    pub scale: Scale,
    /// A value that it reaches in any case, so that plots side by side have the same ends.
    pub reaches: f64,
    /// When it is no measure but a choice: what stands at 0, 1, 2 …
    pub names: Vec<String>,
}

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero.
    #[default]
    Linear,
    /// Evenly, from the lowest value: for what was chosen and not measured.
    Fitted,
    /// By powers of ten. What is not above zero lies at the lower end.
    Logarithmic,
    /// Shares from 0 to 1, by how many nines they have: 90 %, 99 %, 99.9 % are equally far apart.
    Nines,
}

/// One line or cloud of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Which colour, dash pattern and marker, counted from 0.
    pub look: usize,
    /// How the points are drawn.
    pub shape: Shape,
    /// The points, from left to right. Where y is not a number the line has a gap.
    pub points: Vec<(f64, f64)>,
    /// Low and high ends around the points: x, low, high. Empty without any.
    pub band: Vec<(f64, f64, f64)>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Connected; with marks when there are few.
    #[default]
    Line,
    /// Apart from each other. The first stands for all and is larger.
    Marks,
    /// Apart from each other and all alike.
    Dots,
    /// Bars from zero. Those of several series at one place stand side by side.
    Bars,
    /// So many that only their density counts: a thin stroke each.
    Events,
}

impl Axis {
    /// An axis that starts at zero.
    pub(super) fn linear(label: &str, unit: &'static str) -> Self {
        Self { label: label.to_owned(), unit, ..Self::default() }
    }

    /// An axis of choices instead of values.
    pub(super) fn of_names(label: &str, names: Vec<String>) -> Self {
        Self { names, ..Self::linear(label, "") }
    }

    /// A logarithmic axis.
    pub(super) fn logarithmic(label: &str, unit: &'static str) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::linear(label, unit) }
    }

    /// Label and unit: `makespan (s)`.
    pub(super) fn caption(&self) -> String {
        match self.unit {
            "" => self.label.clone(),
            unit => format!("{} ({unit})", self.label),
        }
    }
}

impl Series {
    /// A line.
    pub(super) fn line(label: &str, look: usize, points: Vec<(f64, f64)>) -> Self {
        Self { label: label.to_owned(), look, points, ..Self::default() }
    }

    /// Whether there is anything to draw.
    pub(super) fn is_empty(&self) -> bool {
        !self.points.iter().any(|(x, y)| x.is_finite() && y.is_finite())
    }
}

impl Plot {
    /// Where a series stands among those of its shape: its index and how many there are.
    pub(super) fn among(&self, index: usize) -> (usize, usize) {
        let shape = self.series[index].shape;
        let alike = |series: &&Series| series.shape == shape;
        let before = self.series[..index].iter().filter(alike).count();
        (before, self.series.iter().filter(alike).count())
    }

    /// The plot without empty series; nothing when none is left.
    pub(super) fn if_any(mut self) -> Option<Self> {
        self.series.retain(|series| !series.is_empty());
        (!self.series.is_empty()).then_some(self)
    }
}
