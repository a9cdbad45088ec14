//! Axis of a sweep: `KEY=VALUE,VALUE,…` or `KEY=LOW..HIGH/COUNT`.

use std::time::Duration;

use clap::{Args as _, Command};
use mockserver::ServerFlags;
use results::Axis;
use shell::args::WorkloadArgs;
use vocabulary::duration_text;

/// Maximum number of values of an axis, because readers do not compare more.
const MAX_VALUES: usize = 1000;

/// Returns the key as documents and texts show it: a flag without the dashes before it and with dashes inside, or a parameter of one part of
/// a strategy, such as `aimd.beta`.
pub(super) fn normal_key(text: &str) -> String {
    match text.split_once('.') {
        Some((part, key)) => format!("{}.{}", part.trim(), key.trim()),
        None => text.replace('_', "-"),
    }
}

/// Returns the part of a strategy and its parameter, or `None` if a flag is varied.
pub(super) fn parameter(axis: &Axis) -> Option<(&str, &str)> {
    axis.key.split_once('.')
}

/// Parses a varied flag or strategy parameter. Its values are in the order of the command line.
pub(crate) fn axis(text: &str) -> Result<Axis, String> {
    let example = "write it like `ops=50,500,5000` or `aimd.beta=0.5..0.95/10`";
    let (key, values) = text.split_once('=').ok_or_else(|| format!("the text has no `=`; {example}"))?;
    let key = key.trim().trim_start_matches("--");
    if key.is_empty() {
        return Err(format!("the key before the `=` is missing; {example}"));
    }
    let key = normal_key(key);
    let mut all: Vec<String> = Vec::new();
    let counts = takes_counts(&key);
    for item in items(values) {
        let item = item.trim();
        if item.is_empty() {
            return Err(format!("a value is missing; {example}"));
        }
        let item = if counts { counted(item) } else { item.to_owned() };
        match range(&item)? {
            Some(values) => all.extend(values),
            None => all.push(item),
        }
        if all.len() > MAX_VALUES {
            return Err(format!("there are more than {MAX_VALUES} values; name fewer"));
        }
    }
    if let Some((_, twice)) = all.iter().enumerate().find(|(index, value)| all[..*index].contains(value)) {
        return Err(format!("value `{twice}` is repeated"));
    }
    Ok(Axis { key, values: all })
}

/// True if the flag accepts counts such as `2k` for 2000. Flags for durations do not accept them, because `1M` is a month in a duration.
fn takes_counts(key: &str) -> bool {
    let flags = ServerFlags::augment_args(WorkloadArgs::augment_args(Command::new("loadgen")));
    flags.try_get_matches_from(["loadgen".to_owned(), format!("--{key}=1k")]).is_ok()
}

/// Replaces abbreviated counts such as `2k` with plain numbers, so that equal values have one spelling and points can be plotted.
fn counted(item: &str) -> String {
    let whole = |text: &str| command_line::count::<u64>(0, u64::MAX)(text).map(|number| number.to_string());
    let number = |text: &str| whole(text).unwrap_or_else(|_| text.to_owned());
    let Some((low, rest)) = item.split_once("..") else { return number(item) };
    match rest.split_once('/') {
        Some((high, count)) => format!("{}..{}/{count}", number(low), number(high)),
        None => item.to_owned(),
    }
}

/// Splits a list at commas outside parentheses: `exp(5ms),lognormal(5ms,0.3)` has two items.
fn items(text: &str) -> Vec<&str> {
    let (mut items, mut begin, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[begin..]);
    items
}

/// Returns the values of `LOW..HIGH/COUNT` (evenly spaced) or `LOW..HIGH/COUNTlog` (equal factors), both ends included.
fn range(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((low, rest)) = text.split_once("..") else { return Ok(None) };
    let (high, count) = rest.split_once('/').ok_or_else(|| {
        format!("`{text}` lacks the number of values; write for example `{low}..{rest}/10`")
    })?;
    let (count, factors) = count.strip_suffix("log").map_or((count, false), |count| (count, true));
    let count: usize = count
        .trim()
        .parse()
        .ok()
        .filter(|count| (2..=MAX_VALUES).contains(count))
        .ok_or_else(|| {
            format!(
                "`{count}` is not a number of values from 2 to {MAX_VALUES}; write `LOW..HIGH/COUNT`, such as `10..100/4`"
            )
        })?;
    let ends = (low.trim(), high.trim());
    let (numbers, write): ((f64, f64), fn(f64) -> String) = match numbers(ends) {
        Some(numbers) if whole(ends) => (numbers, |value| format!("{value:.0}")),
        Some(numbers) => (numbers, decimal),
        None => match durations(ends) {
            Some(durations) => (durations, |s| duration_text::format(rounded(s))),
            None => return Err(format!("`{text}`: both ends must be numbers, or both durations")),
        },
    };
    let (low, high) = numbers;
    if low >= high {
        return Err(format!("`{text}` goes from {} to {}; write the lower end first", ends.0, ends.1));
    }
    if factors && low <= 0.0 {
        return Err(format!("`{text}`: equal factors need a lower end above 0"));
    }
    let value = |index: usize| {
        let share = index as f64 / (count - 1) as f64;
        match index {
            0 => low,
            last if last == count - 1 => high,
            _ if factors => low * libm::pow(high / low, share),
            _ => low + (high - low) * share,
        }
    };
    let mut values: Vec<String> = (0..count).map(|index| write(value(index))).collect();
    // Rounding can make neighbouring values equal, so duplicates are removed.
    values.dedup();
    Ok(Some(values))
}

fn numbers((low, high): (&str, &str)) -> Option<(f64, f64)> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    Some((number(low)?, number(high)?))
}

fn whole((low, high): (&str, &str)) -> bool {
    low.parse::<i64>().is_ok() && high.parse::<i64>().is_ok()
}

/// Parses both ends of a range as durations, in seconds.
fn durations((low, high): (&str, &str)) -> Option<(f64, f64)> {
    let seconds = |text: &str| duration_text::parse(text).ok().map(|duration| duration.as_secs_f64());
    Some((seconds(low)?, seconds(high)?))
}

/// Rounds a duration to microseconds, because the nanoseconds that a division yields only distract.
fn rounded(s: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the longest duration is 100 years"
    )]
    let micros = (s * 1e6).round() as u64;
    Duration::from_micros(micros)
}

/// Formats a number with at most ten decimals, for example as 0.55 instead of 0.5500000000000001.
fn decimal(value: f64) -> String {
    let text = format!("{value:.10}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        axis(text).unwrap().values
    }

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(values("ops=50,100, 500"), ["50", "100", "500"]);
        assert_eq!(values("ops=100..400/4"), ["100", "200", "300", "400"]);
        assert_eq!(values("aimd.beta=0.5..0.6/3"), ["0.5", "0.55", "0.6"]);
        assert_eq!(values("ops=10..1000/3log"), ["10", "100", "1000"]);
        assert_eq!(values("service-time=100ms..1s/4"), ["100ms", "400ms", "700ms", "1s"]);
        assert_eq!(values("service-time=exp(5ms),lognormal(5ms,0.3)"), ["exp(5ms)", "lognormal(5ms,0.3)"]);
        assert_eq!(values("ops=1..3/9"), ["1", "2", "3"]);
        assert_eq!(values("ops=10,100..300/3"), ["10", "100", "200", "300"]);
        assert_eq!(values("ops=1k..5k/3"), ["1000", "3000", "5000"]);
        assert_eq!(values("ops=500,1.5k, 2M"), ["500", "1500", "2000000"]);
        assert_eq!(values("max-busy=0.1k..1K/2"), ["100", "1000"]);
        assert_eq!(values("timeout=1M"), ["1M"], "a month");
    }

    #[test]
    fn keys_are_flags_or_parameters() {
        let flag = axis("--max_busy=1,2").unwrap();
        assert_eq!((flag.key.as_str(), parameter(&flag)), ("max-busy", None));
        let beta = axis("aimd . beta=0.5,0.9").unwrap();
        assert_eq!((beta.key.as_str(), parameter(&beta)), ("aimd.beta", Some(("aimd", "beta"))));
    }

    #[test]
    fn contradictory_ranges_are_refused() {
        let error = |text: &str| axis(text).unwrap_err();
        assert!(error("ops").contains("no `=`"));
        assert!(error("=1").contains("the key before the `=`"));
        assert!(error("ops=1,,2").contains("a value is missing"));
        assert!(error("ops=1..5").contains("write for example `1..5/10`"));
        assert!(error("ops=5..1/3").contains("write the lower end first"));
        assert!(error("ops=1..5/1").contains("from 2 to 1000"));
        assert!(error("ops=1..1s/3").contains("both ends"));
        assert!(error("ops=0..100/3log").contains("above 0"));
        assert!(error("ops=1..500/500,501..2000/1000").contains("more than 1000 values"));
        assert!(error("ops=1k,1000").contains("value `1000` is repeated"));
        assert!(error("ops=5,5").contains("value `5` is repeated"));
    }
}
