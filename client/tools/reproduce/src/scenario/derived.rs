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
    Deviation(BinRange),
    Sum(BinRange),
    Largest(BinRange),
    Mean(BinRange),
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

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinRange {
    series: Series,
    from: usize,
    to: usize,
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
            Self::Autocorrelation { series, from, to, lag, detrend } => {
                if lag == 0 || detrend.is_multiple_of(2) {
                    return Some("`lag` must be at least 1, and `detrend` an odd number of bins".to_owned());
                }
                if to < from.saturating_add(lag).saturating_add(detrend) {
                    return Some("the range is shorter than `lag` and `detrend` together".to_owned());
                }
                BinRange { series, from, to }.fault()
            }
            Self::Deviation(range) | Self::Sum(range) | Self::Largest(range) | Self::Mean(range) => {
                range.fault()
            }
            Self::EmptyShare { until_share, .. } if !(0.0..=1.0).contains(&until_share) => {
                Some("`until_share` must be from 0 to 1".to_owned())
            }
            Self::EmptyShare { series, from, .. } => BinRange { series, from, to: from }.fault(),
            Self::BinsAbove { .. } => None,
        }
    }

    pub(super) fn of(&self, bins: &Bins) -> Option<f64> {
        match *self {
            Self::Autocorrelation { series, from, to, lag, detrend } => {
                let range = BinRange { series, from, to };
                statistics::autocorrelation(&statistics::detrended(&range.values(bins), detrend / 2), lag)
            }
            Self::Deviation(range) => over_seeds(&range.values(bins))?.deviation,
            Self::Sum(range) => Some(range.values(bins).iter().sum()),
            Self::Largest(range) => range.values(bins).into_iter().reduce(f64::max),
            Self::Mean(range) => {
                let values = range.values(bins);
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            }
            Self::BinsAbove { series, above } => {
                Some(series.values(bins).filter(|count| *count > f64::from(above)).count() as f64)
            }
            Self::EmptyShare { series, from, until_share } => {
                let wanted = series.values(bins).sum::<f64>() * until_share;
                let mut come = 0.0;
                let until = series.values(bins).position(|count| {
                    come += count;
                    come >= wanted
                })?;
                let looked_at = BinRange { series, from, to: until.max(from) }.values(bins);
                let empty = looked_at.iter().filter(|count| **count == 0.0).count();
                Some(empty as f64 / looked_at.len() as f64)
            }
        }
    }
}

impl BinRange {
    fn fault(self) -> Option<String> {
        let Self { from, to, .. } = self;
        (from > to || to > LAST_BIN).then(|| {
            format!("the range {from} to {to} is not valid; bins are numbered from 0 to at most {LAST_BIN}")
        })
    }

    /// Returns the values of the series in the bins of the range. If the range continues after the last recorded bin, the bins after it are
    /// empty.
    fn values(self, bins: &Bins) -> Vec<f64> {
        let bins = self.series.values(bins).chain(std::iter::repeat(0.0));
        bins.skip(self.from).take((self.to + 1).saturating_sub(self.from)).collect()
    }
}

impl Series {
    fn values(self, bins: &Bins) -> impl Iterator<Item = f64> {
        let count = move |bin: &Bin| match self {
            Self::Sent => bin.sent,
            Self::First => bin.first,
            Self::Succeeded => bin.succeeded,
            Self::TurnedAway => bin.turned_away,
            Self::Outstanding => bin.outstanding,
        };
        bins.bins().iter().map(move |bin| f64::from(count(bin)))
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
