//! Gauges that strategies have drawn under names of their own: the latest value of each, and sums over instances.

use tailback::GaugeKind;

/// The latest value of every gauge that was met, of one instance or summed over all.
#[derive(Debug, Default)]
pub(super) struct Drawn(Vec<(&'static GaugeKind, f64)>);

impl Drawn {
    /// Whether there is any.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every gauge with its value.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'static GaugeKind, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Takes an instance's new value into its own ones and the sum; the sum, if it is another than before.
    pub(super) fn take(
        &mut self,
        own: &mut Self,
        alone: bool,
        kind: &'static GaugeKind,
        value: f64,
    ) -> Option<f64> {
        let change = value - own.replace(kind, |_| value).unwrap_or(0.0);
        // An instance that is alone shows exactly its own numbers: differences would round.
        let next = |sum: Option<f64>| if alone { value } else { sum.unwrap_or(0.0) + change };
        let mut sum = value;
        let before = self.replace(kind, |before| {
            sum = next(before);
            sum
        });
        (before != Some(sum)).then_some(sum)
    }

    /// Replaces a gauge's value by what is made of it; what it was.
    fn replace(&mut self, kind: &'static GaugeKind, next: impl FnOnce(Option<f64>) -> f64) -> Option<f64> {
        let known = self.0.iter_mut().find(|(there, _)| *there == kind);
        let Some((_, value)) = known else {
            self.0.push((kind, next(None)));
            return None;
        };
        let before = *value;
        *value = next(Some(before));
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: GaugeKind = GaugeKind { name: "tokens", unit: "" };
    const RATE: GaugeKind = GaugeKind { name: "rate", unit: "per s" };

    #[test]
    fn values_are_summed_over_instances_by_name_and_unit() {
        let (mut sums, mut one, mut other) = (Drawn::default(), Drawn::default(), Drawn::default());
        assert_eq!(sums.take(&mut one, false, &TOKENS, 5.0), Some(5.0));
        assert_eq!(sums.take(&mut other, false, &TOKENS, 3.0), Some(8.0));
        assert_eq!(sums.take(&mut other, false, &RATE, 100.0), Some(100.0));
        assert_eq!(sums.take(&mut one, false, &TOKENS, 4.0), Some(7.0));
        assert_eq!(sums.take(&mut one, false, &TOKENS, 4.0), None, "nothing new");
        assert_eq!(sums.values().collect::<Vec<_>>(), [(&TOKENS, 7.0), (&RATE, 100.0)]);
    }

    #[test]
    fn an_instance_that_is_alone_shows_its_own_numbers_to_the_last_digit() {
        let (mut sums, mut own) = (Drawn::default(), Drawn::default());
        for value in [0.1, 0.7, 0.3] {
            assert_eq!(sums.take(&mut own, true, &TOKENS, value), Some(value));
        }
    }
}
