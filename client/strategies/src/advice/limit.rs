//! Optional upper bound of a wait that a server advises.

use std::time::Duration;

use vocabulary::{TextField, duration_text};

use super::LONGEST;

const NONE: &str = "none";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) Option<Duration>);

impl TextField for Limit {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = if text == NONE { None } else { Some(wait(text)?) };
        Ok(())
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| NONE.to_owned(), duration_text::format)
    }

    fn accepted(&self) -> &'static str {
        "a duration up to 49 days, or `none` for no limit, such as `2m` or `none`"
    }
}

pub(super) fn wait(text: &str) -> Result<Duration, String> {
    let wait = duration_text::parse(text).map_err(|error| error.to_string())?;
    if wait > LONGEST {
        return Err(format!("`{text}` is longer than 49 days, the longest wait of a client"));
    }
    Ok(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_may_be_no_limit() {
        let mut limit = Limit(None);
        for text in ["2m", "none", "0s"] {
            limit.read(text).unwrap();
            assert_eq!(limit.show(), text);
        }
        assert!(limit.read("100 days").unwrap_err().contains("longer"));
        assert_eq!(limit.show(), "0s");
    }
}
