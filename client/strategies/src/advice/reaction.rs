//! Reaction of a client to unusual advice: a wait that is too long or zero, a time that has passed, or an unparsable
//! value.

use std::time::Duration;

use vocabulary::{TextField, duration_text};

use super::limit::wait;

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

const WORDS: [(&str, Reaction); 3] =
    [("back-off", Reaction::BackOff), ("at-once", Reaction::AtOnce), ("give-up", Reaction::GiveUp)];

impl TextField for Reaction {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let known = WORDS.iter().find(|(word, _)| *word == text);
        *self = known.map_or_else(|| wait(text).map(Self::As), |(_, reaction)| Ok(*reaction))?;
        Ok(())
    }

    fn show(&self) -> String {
        match self {
            Self::As(wait) => duration_text::format(*wait),
            word => WORDS.iter().find(|(_, known)| known == word).map_or("", |(word, _)| word).to_owned(),
        }
    }

    fn accepted(&self) -> &'static str {
        "`back-off`, `at-once`, `give-up`, or a wait to use instead of the advised one, such as `1ms`"
    }
}

impl TextField for Beyond {
    fn read(&mut self, text: &str) -> Result<(), String> {
        if text == CUT {
            *self = Self::Cut;
            return Ok(());
        }
        let mut reaction = Reaction::BackOff;
        reaction.read(text)?;
        *self = Self::Instead(reaction);
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
}
