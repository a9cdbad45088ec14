//! A figure that a scenario asks for, as it is written.

use results::Basis;
use serde::Deserialize;
use toml::Value;
use vocabulary::duration_text;

/// A figure, what the source says of it, and what it is drawn from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/scenarios.md says what the keys mean")]
pub struct Plot {
    /// Its name in the registry of figures.
    pub draw: String,
    pub title: String,
    /// What the source says that it shows.
    #[serde(default)]
    pub shows: String,
    /// What else a reader should know.
    #[serde(default)]
    pub note: String,
    /// May be left out when there is only one.
    #[serde(default)]
    pub experiment: Option<String>,
    /// Labels; all of the experiment when left out.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// The point, or the points, when the experiment has several.
    #[serde(default)]
    pub at: Option<Value>,
    /// Titles of the experiment's columns; all when left out.
    #[serde(default)]
    pub columns: Vec<String>,
    /// What is counted in steps; all but successes when left out.
    #[serde(default)]
    pub series: Vec<Counted>,
    /// How long a step is; the workload's bins when left out.
    #[serde(default)]
    pub(super) step: Option<String>,
    /// What comes later is left out.
    #[serde(default)]
    pub(super) until: Option<String>,
    /// Over how long courses are averaged: a whole number of the waves in which a server answers hides them.
    #[serde(default)]
    pub(super) smooth: Option<String>,
    /// In what times are given; seconds when left out.
    #[serde(default)]
    pub(super) time_unit: Option<String>,
    #[serde(default)]
    pub scale: Scale,
    /// What it is drawn from; known when the scenario was checked.
    #[serde(skip)]
    pub(super) basis: Option<Basis>,
}

/// How values are spread over the vertical axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "as their names say")]
pub enum Scale {
    /// As the figure does it by itself.
    #[default]
    Plain,
    Logarithmic,
}

/// What is counted in steps of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Attempts sent.
    Sent,
    /// Attempts that were rejected or failed.
    TurnedAway,
    /// The first attempts of their op.
    First,
    /// Attempts that succeeded.
    Succeeded,
    /// Attempts under way that are going to succeed: accepted, and not yet answered.
    Queued,
}

impl Plot {
    /// What it is drawn from; known of every plot of a scenario that was checked.
    pub fn basis(&self) -> Option<Basis> {
        self.basis
    }

    /// Up to when it is drawn, in seconds.
    pub fn until_s(&self) -> Option<f64> {
        seconds(self.until.as_deref())
    }

    /// Over how long it is averaged, in seconds.
    pub fn smooth_s(&self) -> Option<f64> {
        seconds(self.smooth.as_deref())
    }

    /// What stands for one on axes of time: in seconds, and its name.
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
