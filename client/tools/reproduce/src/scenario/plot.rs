//! A plot as requested in a scenario file, with its defaults.

use results::Basis;
use serde::Deserialize;
use toml::Value;
use vocabulary::duration_text;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Name of the plot, as registered in the list of plots that can be drawn.
    pub draw: String,
    pub title: String,
    /// Description of the plot in the scenario's source, such as a paper.
    #[serde(default)]
    pub shows: String,
    #[serde(default)]
    pub note: String,
    /// Name of the experiment whose data the plot shows; may be left out if the scenario has only one experiment.
    pub experiment: Option<String>,
    /// Labels of the strategies to show; defaults to all strategies of the experiment.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// Point or points to show. Used if the experiment has several points.
    pub at: Option<Value>,
    /// Titles of the columns to show. By default, all columns of the experiment are shown.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Kinds of events that are counted in each time step. By default, all kinds except successes are counted.
    #[serde(default)]
    pub series: Vec<Counted>,
    /// Length of a time step. The default is the length of the time bins of the workload.
    pub(super) step: Option<String>,
    /// End of the time axis. Later data is left out.
    pub(super) until: Option<String>,
    /// Length of the window of a moving average that smooths curves. If the server responds in waves, choose a whole number of wave
    /// lengths, because the average then hides the waves.
    pub(super) smooth: Option<String>,
    /// Unit of a plot's time axis; defaults to seconds.
    pub(super) time_unit: Option<String>,
    #[serde(default)]
    pub scale: Scale,
    /// Kind of data that the plot needs; `None` until the scenario has been checked.
    #[serde(skip)]
    pub(crate) basis: Option<Basis>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Default scale of a plot's axis, which depends on the kind of plot.
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
    /// Attempts in flight that will succeed. The server has accepted these attempts and has not yet responded to them.
    Queued,
}

impl Plot {
    pub fn until_s(&self) -> Option<f64> {
        seconds(self.until.as_deref())
    }

    pub fn smooth_s(&self) -> Option<f64> {
        seconds(self.smooth.as_deref())
    }

    /// Returns the unit of the time axis: its length in seconds and its name.
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
