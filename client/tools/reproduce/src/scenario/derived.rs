//! Figures computed from counts of calls in time bins. Examples are clusters of calls, aftershocks, and the time for which a server was
//! overwhelmed.

use loadgen_core::{Bin, Bins};
use serde::Deserialize;
use statistics::{Level, Method, Summary};

/// Figure computed from the time bins of a run. Bins are numbered from 0. A range of bins includes both of its ends.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
pub enum Derived {
    /// Autocorrelation of the series at the given lag. A centred moving average over `detrend` bins (an odd number) is subtracted first.
    Autocorrelation {
        series: Series,
        from: usize,
        to: usize,
        lag: usize,
        detrend: usize,
    },
    /// Standard deviation of the values that the series has in the bins of the range.
    Deviation {
        series: Series,
        from: usize,
        to: usize,
    },
    Sum {
        series: Series,
        from: usize,
        to: usize,
    },
    Largest {
        series: Series,
        from: usize,
        to: usize,
    },
    Mean {
        series: Series,
        from: usize,
        to: usize,
    },
    /// Number of bins in which the value of the series exceeds the threshold `above`.
    BinsAbove {
        series: Series,
        above: u32,
    },
    /// Share of empty bins in a range of the series. The range begins at the bin `from`. It ends with the bin in which the cumulative sum
    /// reaches the share `until_share` of the series' total.
    EmptyShare {
        series: Series,
        from: usize,
        until_share: f64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Series {
    Sent,
    First,
    Succeeded,
    /// Attempts that were rejected or failed.
    TurnedAway,
    /// Attempts that are in flight at the end of a bin.
    Outstanding,
}

const LAST_BIN: usize = 1_000_000;

impl Derived {
    pub(super) fn fault(&self) -> Option<String> {
        match *self {
            Self::Autocorrelation { from, to, lag, detrend, .. } => {
                if lag == 0 || detrend.is_multiple_of(2) {
                    return Some("`lag` must be at least 1, and `detrend` an odd number of bins".to_owned());
                }
                if to < from.saturating_add(lag).saturating_add(detrend) {
                    return Some("the range is shorter than `lag` and `detrend` together".to_owned());
                }
                range_fault(from, to)
            }
            Self::Deviation { from, to, .. }
            | Self::Sum { from, to, .. }
            | Self::Largest { from, to, .. }
            | Self::Mean { from, to, .. } => range_fault(from, to),
            Self::EmptyShare { from, until_share, .. } => {
                let sound = (0.0..=1.0).contains(&until_share);
                (!sound)
                    .then(|| "`until_share` must be from 0 to 1".to_owned())
                    .or_else(|| range_fault(from, from))
            }
            Self::BinsAbove { .. } => None,
        }
    }

    pub(super) fn of(&self, bins: &Bins) -> Option<f64> {
        let all = |series: Series| bins.bins().iter().map(move |bin| f64::from(count(series, bin)));
        // If the range continues after the last recorded bin, the bins after it are empty.
        let range = |series: Series, from: usize, to: usize| -> Vec<f64> {
            all(series).chain(std::iter::repeat(0.0)).skip(from).take((to + 1).saturating_sub(from)).collect()
        };
        match *self {
            Self::Autocorrelation { series, from, to, lag, detrend } => {
                let rest = statistics::detrended(&range(series, from, to), detrend / 2);
                statistics::autocorrelation(&rest, lag)
            }
            Self::Deviation { series, from, to } => over_seeds(&range(series, from, to))?.deviation,
            Self::Sum { series, from, to } => Some(range(series, from, to).iter().sum()),
            Self::Largest { series, from, to } => range(series, from, to).into_iter().reduce(f64::max),
            Self::Mean { series, from, to } => {
                let range = range(series, from, to);
                (!range.is_empty()).then(|| range.iter().sum::<f64>() / range.len() as f64)
            }
            Self::BinsAbove { series, above } => {
                Some(all(series).filter(|count| *count > f64::from(above)).count() as f64)
            }
            Self::EmptyShare { series, from, until_share } => {
                let wanted = all(series).sum::<f64>() * until_share;
                let mut come = 0.0;
                let until = all(series).position(|count| {
                    come += count;
                    come >= wanted
                })?;
                let looked_at = range(series, from, until.max(from));
                let empty = looked_at.iter().filter(|count| **count == 0.0).count();
                Some(empty as f64 / looked_at.len() as f64)
            }
        }
    }
}

fn range_fault(from: usize, to: usize) -> Option<String> {
    (from > to || to > LAST_BIN).then(|| {
        format!("the range {from} to {to} is not valid; bins are numbered from 0 to at most {LAST_BIN}")
    })
}

fn count(series: Series, bin: &Bin) -> u32 {
    match series {
        Series::Sent => bin.sent,
        Series::First => bin.first,
        Series::Succeeded => bin.succeeded,
        Series::TurnedAway => bin.turned_away,
        Series::Outstanding => bin.outstanding,
    }
}

/// Summarizes a figure over runs. Runs without the figure are ignored.
pub fn over_seeds(values: &[f64]) -> Option<Summary> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    Summary::new(&known, Level::P95, Method::StudentT)
}

/// Summarizes a figure over runs. Returns `None` if a run lacks the figure, because a statistic of the remaining runs only would have
/// another meaning.
pub(super) fn of_all_runs(values: &[f64]) -> Option<Summary> {
    over_seeds(values).filter(|seeds| seeds.count == values.len())
}
