//! Figures of a reproduction's result, cell by cell.

use std::borrow::Cow;

use serde_json::Value;

#[derive(Clone, Copy)]
pub(crate) struct Cell<'a>(&'a Value);

pub(crate) fn cells(scenario: &Value) -> impl Iterator<Item = Cell<'_>> {
    scenario["cells"].as_array().unwrap().iter().map(Cell)
}

impl<'a> Cell<'a> {
    pub(crate) fn experiment(self) -> &'a str {
        self.0["experiment"].as_str().unwrap()
    }

    pub(crate) fn label(self) -> &'a str {
        self.0["label"].as_str().unwrap()
    }

    /// Returns the value of a varied key in the syntax of the command line.
    pub(crate) fn at(self, key: &str) -> Cow<'a, str> {
        match &self.0["at"][key] {
            Value::String(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_string()),
        }
    }

    pub(crate) fn mean(self, figure: &str) -> f64 {
        self.of(figure, "mean")
    }

    pub(crate) fn of(self, figure: &str, statistic: &str) -> f64 {
        let found = self.0["figures"][figure][statistic].as_f64();
        found.unwrap_or_else(|| panic!("no {statistic} of `{figure}` in {}", self.0))
    }
}
