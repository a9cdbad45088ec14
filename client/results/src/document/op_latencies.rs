//! Latencies of ops with their histogram, in the standard format of `HdrHistogram`. Latencies of several runs are added up from them.

use std::io::Read as _;
use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use loadgen_core::histogram::MAX_US;
use loadgen_core::{Latencies, LatencyFigures, LatencySums};
use serde::{Deserialize, Serialize};

/// Latencies of ops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OpLatencies {
    #[serde(flatten)]
    pub figures: LatencyFigures,
    /// Histogram in microseconds, in the compressed format V2 of `HdrHistogram` (Base64); absent if simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
}

impl Deref for OpLatencies {
    type Target = LatencyFigures;

    fn deref(&self) -> &LatencyFigures {
        &self.figures
    }
}

impl OpLatencies {
    pub(crate) fn new(latencies: &Latencies, has_histogram: bool) -> Self {
        let histogram = has_histogram.then(|| encoded(&latencies.histogram()));
        Self { figures: latencies.figures(), histogram }
    }

    /// Restores the latencies from the figures and the histogram. Returns `None` without a histogram, or if it is invalid or contradicts
    /// the figures.
    pub(crate) fn read(&self) -> Option<Latencies> {
        let LatencyFigures { count, min, mean, stdev, max, .. } = self.figures;
        let nanos = |ms: Option<f64>| whole(ms.unwrap_or_default() * 1e6);
        let count_of = count as f64;
        let (mean, stdev) = (mean.unwrap_or_default() * 1e6, stdev.unwrap_or_default() * 1e6);
        let sums = LatencySums {
            count,
            min_nanos: if count == 0 { u64::MAX } else { nanos(min) },
            max_nanos: nanos(max),
            sum: whole(mean * count_of).into(),
            squares: whole_wide((mean * mean + stdev * stdev) * count_of),
        };
        Latencies::restored(&sums, decoded(self.histogram.as_ref()?)?)
    }
}

fn whole(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let number = number.round() as u64;
    number
}

fn whole_wide(number: f64) -> u128 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let number = number.round() as u128;
    number
}

fn encoded(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // An error is impossible, because writing to memory does not fail and the histogram is small enough.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    STANDARD.encode(bytes)
}

/// Maximum length of an encoded histogram, in characters. It is sufficient, because histograms that `loadgen` writes have 28 672 buckets of
/// at most nine bytes.
const LONGEST: usize = 1 << 20;

/// Maximum size of a histogram in bytes after decompression.
const MAX_INFLATED: u64 = 1 << 20;

/// Number of bytes before the counts of a histogram. They contain the cookie, length, offset, digits, lowest value, highest value and
/// ratio.
const HEAD: usize = 40;

const COOKIE: u32 = 0x1c84_9313;

/// Decodes a histogram from an untrusted file, in which a few bytes could demand gigabytes of memory. Therefore, the declared length must
/// match the data. The histogram must also have no more buckets than histograms that `loadgen` writes.
fn decoded(text: &str) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(text).ok().filter(|_| text.len() <= LONGEST)?;
    // The first 8 bytes of an encoded histogram are a cookie and a length. The compressed part follows.
    let deflated = bytes.get(8..)?;
    let mut inflated = Vec::new();
    ZlibDecoder::new(deflated).take(MAX_INFLATED).read_to_end(&mut inflated).ok()?;
    let (head, counts) = inflated.split_at_checked(HEAD)?;
    let length = u32::from_be_bytes(head[4..8].try_into().ok()?);
    let digits = u32::from_be_bytes(head[12..16].try_into().ok()?);
    let greatest = u64::from_be_bytes(head[24..32].try_into().ok()?);
    if head[..4] != COOKIE.to_be_bytes()
        || length as usize != counts.len()
        || digits != 3
        || greatest > MAX_US
    {
        return None;
    }
    Deserializer::new().deserialize(&mut inflated.as_slice()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    /// Returns a histogram of a few bytes that declares this many bytes of counts, these digits, and this maximum in microseconds.
    fn bomb(length: u32, digits: u32, greatest: u64) -> String {
        let mut head = [COOKIE, length, 0, digits].map(u32::to_be_bytes).concat();
        head.extend([1, greatest, 1_f64.to_bits()].map(u64::to_be_bytes).concat());
        let mut bytes = [0x1c84_9314_u32, 0].map(u32::to_be_bytes).concat();
        let mut deflater = ZlibEncoder::new(&mut bytes, Compression::best());
        deflater.write_all(&head).and_then(|()| deflater.write_all(&[0; 9])).unwrap();
        drop(deflater);
        STANDARD.encode(bytes)
    }

    #[test]
    fn histograms_that_need_more_memory_than_ours_are_refused() {
        assert!(decoded(&bomb(9, 3, MAX_US)).is_some());
        for (length, digits, greatest) in [(u32::MAX, 3, MAX_US), (9, 5, MAX_US), (9, 3, u64::MAX)] {
            assert!(decoded(&bomb(length, digits, greatest)).is_none(), "{length} {digits} {greatest}");
        }
        let mut zeros = [0x1c84_9314_u32, 0].map(u32::to_be_bytes).concat();
        let mut deflater = ZlibEncoder::new(&mut zeros, Compression::best());
        deflater.write_all(&vec![0; 64 << 20]).unwrap();
        drop(deflater);
        assert!(decoded(&STANDARD.encode(zeros)).is_none());
    }

    #[test]
    fn latencies_are_read_as_they_were_written_and_garbage_is_not() {
        let mut latencies = Latencies::default();
        for nanos in [1_000, 999_000, 1_234_567, 86_400_000_000] {
            latencies.record(Duration::from_nanos(nanos));
        }
        for latencies in [latencies, Latencies::default()] {
            let record = OpLatencies::new(&latencies, true);
            let again = record.read().unwrap().figures();
            assert_eq!(
                (again.count, again.min, again.max, again.p99),
                (record.count, record.min, record.max, record.p99)
            );
            let off = |one: Option<f64>, other: Option<f64>| {
                (one.unwrap_or_default() - other.unwrap_or_default()).abs()
            };
            assert!(off(again.mean, record.mean) < 1e-6 && off(again.stdev, record.stdev) < 1e-3);
            let other =
                |histogram: &str| OpLatencies { histogram: Some(histogram.to_owned()), ..record.clone() };
            for wrong in ["", "!", "AAAA", &record.histogram.as_ref().unwrap()[..20]] {
                assert!(other(wrong).read().is_none(), "{wrong}");
            }
            let figures = LatencyFigures { count: record.count + 1, ..record.figures };
            assert!(OpLatencies { figures, ..record.clone() }.read().is_none());
            assert!(OpLatencies { histogram: None, ..record }.read().is_none());
        }
    }
}
