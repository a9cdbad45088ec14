//! HTTP statuses that count as successes, as given on the command line.

use std::fmt;
use std::str::FromStr;

/// Maximum number of statuses and ranges, counted together, that the user may list.
const MOST: usize = 64;

/// Statuses that count as successes, written `200-399,404`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuccessStatuses(Vec<(u16, u16)>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write statuses and ranges, such as `200-399,404`")]
pub struct SuccessStatusesError(String);

impl Default for SuccessStatuses {
    fn default() -> Self {
        Self(vec![(200, 299)])
    }
}

impl SuccessStatuses {
    pub(crate) fn contains(&self, code: u16) -> bool {
        self.0.iter().any(|&(low, high)| (low..=high).contains(&code))
    }

    /// Returns true if the list has `code` itself, and not only a range that includes it.
    pub(crate) fn names(&self, code: u16) -> bool {
        self.0.contains(&(code, code))
    }
}

impl FromStr for SuccessStatuses {
    type Err = SuccessStatusesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let status = |text: &str| text.trim().parse().ok().filter(|status| (100..600).contains(status));
        let range = |part: &str| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let range = status(low).zip(status(high)).filter(|(low, high)| low <= high);
            let words = "is neither a status from 100 to 599 nor a range from a lower status to a higher one";
            range.ok_or_else(|| SuccessStatusesError(format!("`{}` {words}", part.trim())))
        };
        let ranges: Vec<_> = text.split(',').take(MOST + 1).map(range).collect::<Result<_, _>>()?;
        if ranges.len() > MOST {
            return Err(SuccessStatusesError(format!("the list has more than {MOST} entries")));
        }
        Ok(Self(ranges))
    }
}

impl fmt::Display for SuccessStatuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |&(low, high): &(u16, u16)| {
            if low == high { low.to_string() } else { format!("{low}-{high}") }
        };
        f.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_and_ranges_are_read_as_they_are_shown() {
        let read: SuccessStatuses = "200-399, 404".parse().unwrap();
        assert_eq!(read.to_string(), "200-399,404");
        assert_eq!(read.to_string().parse(), Ok(read.clone()));
        assert_eq!(
            [199, 200, 399, 400, 404].map(|code| read.contains(code)),
            [false, true, true, false, true]
        );
        assert_eq!([200, 404].map(|code| read.names(code)), [false, true]);
        assert_eq!(SuccessStatuses::default().to_string(), "200-299");
    }

    #[test]
    fn nonsense_is_refused() {
        let many = vec!["404"; 65].join(",");
        for text in ["", "99", "600", "200-", "-299", "500-400", "abc", "200,,404", "2xx", "1-2-3", &many] {
            assert!(text.parse::<SuccessStatuses>().is_err(), "{text}");
        }
        let error = "200-299,500-400".parse::<SuccessStatuses>().unwrap_err().to_string();
        assert!(error.starts_with("`500-400` is neither a status from 100 to 599 nor a range"), "{error}");
    }
}
