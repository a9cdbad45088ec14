//! Warnings about figures whose skewed distribution over seeds makes confidence intervals unreliable.

use statistics::Summary;

use crate::text::figures::level;
use crate::text::{counted, short, thousands};

/// Returns one line for each figure whose distribution over seeds is too skewed for the confidence interval of its mean. The line names
/// better statistics. The result is empty for fewer than three runs.
pub fn skewed<'a>(figures: impl Iterator<Item = (String, &'a Summary)>) -> Vec<String> {
    figures
        .filter_map(|(name, figure)| {
            let (skewness, enough) = (figure.too_skewed()?, figure.runs_enough()?);
            let median = match figure.median_interval {
                Some(range) => format!(
                    "{} ({} by order statistics: {}–{})",
                    short(figure.p50),
                    level(range.level),
                    short(range.low),
                    short(range.high)
                ),
                None => format!("{}, whose interval needs six runs", short(figure.p50)),
            };
            Some(format!(
                "{name} is skewed over these {} (skewness {skewness:.1}), so the interval of its mean is less certain than stated; use the median, {median}, or {} repeats",
                counted(figure.count as u64, "run"),
                thousands(enough)
            ))
        })
        .collect()
}

/// Returns one sentence about `count` skewed figures, of which one has this name and median.
pub fn brief(count: usize, name: &str, median: &str) -> String {
    match count {
        1 => format!("{name} is skewed: median {median} (--explain)"),
        several => format!("{several} figures are skewed, such as {name}: median {median} (--explain)"),
    }
}
