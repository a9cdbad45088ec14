//! Counts of attempts in time bins of equal width, for experiments about the exact times of attempts, such as clusters
//! or aftershocks.

use std::time::Duration;

use vocabulary::{Instant, whole_nanos};

/// Maximum number of time bins. Attempts after the last bin are not counted.
const MAX_BINS: usize = 1_000_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    pub sent: u32,
    /// Number of sent attempts that were the first attempt of their op.
    pub first: u32,
    pub succeeded: u32,
    /// Number of attempts that were rejected or failed.
    pub turned_away: u32,
    /// Number of attempts in flight at the end of the bin.
    pub outstanding: u32,
}

#[derive(Clone, Debug)]
pub struct Bins {
    width_nanos: u64,
    bins: Vec<Bin>,
}

impl Bins {
    pub(crate) fn new(width: Duration) -> Self {
        let width_nanos = whole_nanos(width).max(1);
        Self { width_nanos, bins: Vec::new() }
    }

    pub fn width(&self) -> Duration {
        Duration::from_nanos(self.width_nanos)
    }

    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// Records an event in the time bin that contains `at`. Calls must be in the order of time.
    pub(crate) fn note(&mut self, at: Instant, in_flight: u64, note: impl FnOnce(&mut Bin)) {
        let index = usize::try_from(at.as_nanos() / self.width_nanos).unwrap_or(usize::MAX);
        if index >= MAX_BINS {
            return;
        }
        if index >= self.bins.len() {
            let outstanding = self.bins.last().map_or(0, |bin| bin.outstanding);
            self.bins.resize(index + 1, Bin { outstanding, ..Bin::default() });
        }
        let bin = &mut self.bins[index];
        bin.outstanding = u32::try_from(in_flight).unwrap_or(u32::MAX);
        note(bin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outstanding_is_carried_over_empty_bins() {
        let mut bins = Bins::new(Duration::from_millis(10));
        bins.note(Instant::from_millis(9), 3, |bin| bin.sent += 1);
        bins.note(Instant::from_millis(30), 2, |bin| bin.succeeded += 1);
        let outstanding: Vec<u32> = bins.bins().iter().map(|bin| bin.outstanding).collect();
        assert_eq!(outstanding, [3, 3, 3, 2]);
        assert_eq!((bins.bins()[0].sent, bins.bins()[3].succeeded), (1, 1));
        bins.note(Instant::FAR_FUTURE, 0, |bin| bin.sent += 1);
        assert_eq!(bins.bins().len(), 4);
    }
}
