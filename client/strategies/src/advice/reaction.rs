//! Reaction of a client to unusual advice: a wait that is too long or zero, a time that has passed, or an unparsable
//! value.

use std::time::Duration;

use vocabulary::{TextField, duration_text};

use crate::advice::LONGEST;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    BackOff,
    AtOnce,
    GiveUp,
    As(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Cut,
    Instead(Reaction),
}

const CUT: &str = "cut";

impl TextField for Reaction {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = match text {
            "back-off" => Self::BackOff,
            "at-once" => Self::AtOnce,
            "give-up" => Self::GiveUp,
            text => Self::As(wait(text)?),
        };
        Ok(())
    }

    fn show(&self) -> String {
        match self {
            Self::BackOff => "back-off".to_owned(),
            Self::AtOnce => "at-once".to_owned(),
            Self::GiveUp => "give-up".to_owned(),
            Self::As(wait) => duration_text::format(*wait),
        }
    }

    fn accepted(&self) -> &'static str {
        "`back-off`, `at-once`, `give-up`, or a wait to use instead of the advised one, such as `1ms`"
    }
}

impl TextField for Beyond {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = if text == CUT {
            Self::Cut
        } else {
            let mut reaction = Reaction::BackOff;
            reaction.read(text)?;
            Self::Instead(reaction)
        };
        Ok(())
    }

    fn show(&self) -> String {
        match self {
            Self::Cut => CUT.to_owned(),
            Self::Instead(reaction) => reaction.show(),
        }
    }

    fn accepted(&self) -> &'static str {
        "`cut` (to `advice-limit`), `back-off`, `at-once`, `give-up`, or a wait to use instead of the \
         advised one, such as `30s`"
    }
}

const NONE: &str = "none";

/// Optional upper bound of a wait that a server advises.
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

fn wait(text: &str) -> Result<Duration, String> {
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
    fn reactions_read_what_they_show() {
        let mut beyond = Beyond::Cut;
        for text in ["back-off", "at-once", "give-up", "1ms", "24days 20h 31m 23s 647ms", "cut"] {
            beyond.read(text).unwrap();
            assert_eq!(beyond.show(), text);
        }
        let mut reaction = Reaction::BackOff;
        for text in ["cut", "", "soon", "-1s", "60 days"] {
            reaction.read(text).unwrap_err();
            assert_eq!(reaction, Reaction::BackOff, "{text}");
        }
    }

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
