//! `--hdr FILE`: writes op latencies as an `HdrHistogram` interval log (V2, compressed). Each run is one interval, tagged with its
//! strategy.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use experiments::runs::one_run::KeptLatencies;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use results::RunResult;

use crate::files::exporter::{Format, Results};

/// Flag of the format that needs the latencies of runs.
pub const HDR: &str = "--hdr";

pub(super) const FORMAT: Format = Format {
    flag: HDR,
    help: |results| match results {
        Results::Run | Results::Comparison => Some(
            "Write op latencies to a V2 interval log of HDR histograms, one interval a run, its strategy as the tag",
        ),
        Results::Sweep | Results::Reproduction | Results::Recordings | Results::Merged => None,
    },
    write: Some(|exported, to| log(to, exported.document.runs().iter().zip(&exported.latencies))),
};

const COMMENTS: [&str; 6] = [
    "[Histogram log format version 1.3]",
    "[Latencies of ops, from scheduled arrival to success, in microseconds, by loadgen (Tailback)]",
    "[One interval is one run; the seed stands before it. Times are seconds of the experiment, runs end to end from 0]",
    "[The tag is the strategy, with ; in place of , and _ in place of white space]",
    "[Interval_Max is in milliseconds]",
    "[Tag,StartTimestamp,Interval_Length,Interval_Max,Interval_Compressed_Histogram]",
];

/// Microseconds per millisecond. Histograms contain microseconds, but the log gives the maximum in milliseconds.
const MICROS_PER_MILLI: f64 = 1e3;

fn log<'a>(
    mut to: &mut dyn Write,
    runs: impl Iterator<Item = (&'a RunResult, &'a Arc<KeptLatencies>)>,
) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    for comment in COMMENTS {
        builder.add_comment(comment);
    }
    // The log contains a start time and a base time. Without them, readers of the log would guess the meaning of its times. Both are the
    // Unix epoch, because a simulated run has no date.
    builder.with_start_time(UNIX_EPOCH).with_base_time(UNIX_EPOCH).with_max_value_divisor(MICROS_PER_MILLI);
    let mut writer = builder.begin_log_with(&mut to, &mut serializer)?;
    let mut start = Duration::ZERO;
    for (RunResult { seed, strategy, .. }, latencies) in runs {
        let KeptLatencies { encoded, length } = &**latencies;
        let histogram: Histogram<u64> =
            Deserializer::new().deserialize(&mut encoded.as_slice()).map_err(io::Error::other)?;
        writer.write_comment(&format!("seed {seed}"))?;
        let tag = tag(strategy);
        writer.write_histogram(&histogram, start, *length, Tag::new(&tag)).map_err(|error| match error {
            IntervalLogWriterError::IoError(error) => error,
            IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
        })?;
        start += *length;
    }
    Ok(())
}

/// Converts a strategy to a tag of the log. Commas and white space are not allowed in a tag, so they are replaced by characters that no
/// strategy contains.
fn tag(strategy: &str) -> String {
    let replaced = |letter: char| match letter {
        ',' => ';',
        white if white.is_whitespace() => '_',
        other => other,
    };
    strategy.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_can_be_a_tag() {
        assert_eq!(tag("aimd:beta=0.5,min=1+full-jitter:cap=1s"), "aimd:beta=0.5;min=1+full-jitter:cap=1s");
        assert!(Tag::new(&tag("a, b\r\nc")).is_some());
    }
}
