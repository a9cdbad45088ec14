//! A plot that a scenario requests, as it is written.

use results::Basis;
use serde::Deserialize;
use toml::Value;
use vocabulary::duration_text;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Name in the registry of plots.
    pub draw: String,
    pub title: String,
    /// The source's description of what the plot shows.
    #[serde(default)]
    pub shows: String,
    #[serde(default)]
    pub note: String,
    /// May be left out if there is only one.
    #[serde(default)]
    pub experiment: Option<String>,
    /// Labels; defaults to all of the experiment.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// The point, or the points, if the experiment has several.
    #[serde(default)]
    pub at: Option<Value>,
    /// Titles of the experiment's columns; defaults to all.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Counts per step; defaults to all but successes.
    #[serde(default)]
    pub series: Vec<Counted>,
    /// Length of a step; defaults to the workload's bins.
    #[serde(default)]
    pub(super) step: Option<String>,
    /// End of the plotted time. Later data is left out.
    #[serde(default)]
    pub(super) until: Option<String>,
    /// Time over which curves are averaged. A whole number of the waves in which a server responds hides the waves.
    #[serde(default)]
    pub(super) smooth: Option<String>,
    /// Unit of times; defaults to seconds.
    #[serde(default)]
    pub(super) time_unit: Option<String>,
    #[serde(default)]
    pub scale: Scale,
    /// Data that the plot is drawn from; set once the scenario is checked.
    #[serde(skip)]
    pub(super) basis: Option<Basis>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The plot's own scale.
    #[default]
    Plain,
    Logarithmic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    Sent,
    /// Attempts that were rejected or failed.
    TurnedAway,
    First,
    Succeeded,
    /// Attempts in flight that will succeed: accepted, and not yet answered.
    Queued,
}

impl Plot {
    pub fn basis(&self) -> Option<Basis> {
        self.basis
    }

    pub fn until_s(&self) -> Option<f64> {
        seconds(self.until.as_deref())
    }

    pub fn smooth_s(&self) -> Option<f64> {
        seconds(self.smooth.as_deref())
    }

    /// Returns the unit of time axes: its length in seconds, and its name.
    pub fn time_unit(&self) -> Option<(f64, String)> {
        let written = self.time_unit.as_deref()?;
        let unit = duration_text::parse(written).ok()?;
        let name = match written {
            "1s" => "s".to_owned(),
            "1ms" => "ms".to_owned(),
            other => {
                let digits = other.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(other.len());
                format!("steps of {} {}", &other[..digits], &other[digits..])
            }
        };
        Some((unit.as_secs_f64(), name))
    }
}

fn seconds(written: Option<&str>) -> Option<f64> {
    duration_text::parse(written?).ok().map(|duration| duration.as_secs_f64())
}
