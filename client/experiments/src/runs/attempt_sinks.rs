//! Combination of several sinks for attempts into one. The combined sink passes every attempt of the run to each of the sinks.

use loadgen_core::SampleSink;

pub fn joined(sinks: impl IntoIterator<Item = SampleSink>) -> Option<SampleSink> {
    let mut sinks: Vec<SampleSink> = sinks.into_iter().collect();
    match sinks.len() {
        0 | 1 => sinks.pop(),
        _ => Some(Box::new(move |sample| sinks.iter_mut().for_each(|sink| sink(sample)))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::recording::testing::sample;

    #[test]
    fn everybody_gets_every_attempt() {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let sink = |name: &'static str| -> SampleSink {
            let taken = taken.clone();
            Box::new(move |sample| taken.lock().unwrap().push((name, sample.op)))
        };
        let mut both = joined([sink("file"), sink("plot")]).unwrap();
        both(&sample(3, 1, 0, 1));
        joined([sink("plot")]).unwrap()(&sample(4, 1, 0, 1));
        assert_eq!(*taken.lock().unwrap(), [("file", 3), ("plot", 3), ("plot", 4)]);
        assert!(joined([]).is_none());
    }
}
