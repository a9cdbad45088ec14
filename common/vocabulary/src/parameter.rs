//! Table of a component's parameters: for each parameter its key, meaning, accepted values, and the config field that
//! it sets.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::choice::ChoiceField;
use crate::duration_text;
use crate::rate::Rate;

/// Upper end of a range of durations without another one.
pub const DAY: Duration = Duration::from_hours(24);

pub struct Parameter<C: 'static> {
    pub key: &'static str,
    pub about: &'static str,
    field: Field<C>,
}

/// Config field that parses and formats its own value.
///
/// The field can parse every text that it formats. So a value can be copied from a recorded configuration or a help
/// text, and used as input. A value contains no comma and no plus sign outside of parentheses, because commas separate
/// options and plus signs separate parts.
pub trait TextField {
    /// Parses the text into the field. On an error the field keeps its value.
    ///
    /// # Errors
    /// Returns half a sentence that names the wrong word of the text and describes what is wrong with it.
    fn read(&mut self, text: &str) -> Result<(), String>;

    fn show(&self) -> String;

    /// Describes the accepted values of the field, in words that can follow "takes" in an error message.
    fn accepted(&self) -> &'static str;
}

/// Config field that a parameter sets, and its accepted values. Ranges of rates are per second. A count up to
/// `u32::MAX` also accepts `unlimited`.
enum Field<C: 'static> {
    Duration { at: Select<C, Duration>, range: RangeInclusive<Duration> },
    Number { at: Select<C, f64>, range: RangeInclusive<f64> },
    Rate { at: Select<C, Rate>, range: RangeInclusive<f64> },
    Count { at: Select<C, u32>, range: RangeInclusive<u32> },
    Choice { at: Select<C, dyn ChoiceField> },
    Text { at: Select<C, dyn TextField> },
}

/// Selects the field of a config that a parameter sets.
type Select<C, T> = fn(&mut C) -> &mut T;

const UNLIMITED: &str = "unlimited";

impl<C: Default> Parameter<C> {
    /// Creates a parameter for a duration up to a day.
    pub const fn duration(key: &'static str, about: &'static str, at: Select<C, Duration>) -> Self {
        Self::duration_in(key, about, Duration::ZERO..=DAY, at)
    }

    pub const fn duration_in(
        key: &'static str,
        about: &'static str,
        range: RangeInclusive<Duration>,
        at: Select<C, Duration>,
    ) -> Self {
        Self { key, about, field: Field::Duration { at, range } }
    }

    pub const fn number(
        key: &'static str,
        about: &'static str,
        range: RangeInclusive<f64>,
        at: Select<C, f64>,
    ) -> Self {
        Self { key, about, field: Field::Number { at, range } }
    }

    pub const fn rate(
        key: &'static str,
        about: &'static str,
        range: RangeInclusive<f64>,
        at: Select<C, Rate>,
    ) -> Self {
        Self { key, about, field: Field::Rate { at, range } }
    }

    pub const fn count(
        key: &'static str,
        about: &'static str,
        range: RangeInclusive<u32>,
        at: Select<C, u32>,
    ) -> Self {
        Self { key, about, field: Field::Count { at, range } }
    }

    pub const fn choice(key: &'static str, about: &'static str, at: Select<C, dyn ChoiceField>) -> Self {
        Self { key, about, field: Field::Choice { at } }
    }

    pub const fn text(key: &'static str, about: &'static str, at: Select<C, dyn TextField>) -> Self {
        Self { key, about, field: Field::Text { at } }
    }

    pub fn set(&self, config: &mut C, text: &str) -> Result<(), ParameterError> {
        let refuse_for =
            |why| ParameterError { key: self.key, value: text.to_owned(), why, accepted: self.accepted() };
        let refuse = || refuse_for(String::new());
        match &self.field {
            Field::Duration { at, range } => {
                let value = duration_text::parse(text).ok().filter(|value| range.contains(value));
                *at(config) = value.ok_or_else(refuse)?;
            }
            Field::Number { at, range } => {
                let value = text.parse().ok().filter(|value| range.contains(value));
                *at(config) = value.ok_or_else(refuse)?;
            }
            Field::Rate { at, range } => {
                let value = Rate::parse(text).filter(|value| range.contains(&value.per_s()));
                *at(config) = value.ok_or_else(refuse)?;
            }
            Field::Count { at, range } => {
                let is_unlimited = text == UNLIMITED && *range.end() == u32::MAX;
                let value = if is_unlimited { Some(u32::MAX) } else { text.parse().ok() };
                *at(config) = value.filter(|value| range.contains(value)).ok_or_else(refuse)?;
            }
            Field::Choice { at } => {
                if !at(config).choose(text) {
                    return Err(refuse());
                }
            }
            Field::Text { at } => at(config).read(text).map_err(|why| refuse_for(format!(": {why}")))?,
        }
        Ok(())
    }

    pub fn show(&self, config: &mut C) -> String {
        match &self.field {
            Field::Duration { at, .. } => duration_text::format(*at(config)),
            Field::Number { at, .. } => at(config).to_string(),
            Field::Rate { at, .. } => at(config).to_string(),
            Field::Count { at, .. } => match *at(config) {
                u32::MAX => UNLIMITED.to_owned(),
                count => count.to_string(),
            },
            Field::Choice { at } => at(config).word().to_owned(),
            Field::Text { at } => at(config).show(),
        }
    }

    pub fn info(&self, config: &mut C) -> ParameterInfo {
        let value = self.show(config);
        ParameterInfo { key: self.key, about: self.about, value, accepted: self.accepted() }
    }

    pub fn accepted(&self) -> String {
        match &self.field {
            Field::Duration { range, .. } => {
                let [min, max] = [range.start(), range.end()].map(|end| duration_text::format(*end));
                format!("a duration from {min} to {max}")
            }
            Field::Number { range, .. } => format!("a number from {} to {}", range.start(), range.end()),
            Field::Rate { range, .. } => format!(
                "a rate from {}/s to {}/s, such as `8/s` or `10/min`; a rate without a unit is per second",
                range.start(),
                range.end()
            ),
            Field::Count { range, .. } if *range.end() == u32::MAX => {
                format!("a whole number from {} or `{UNLIMITED}`", range.start())
            }
            Field::Count { range, .. } => format!("a whole number from {} to {}", range.start(), range.end()),
            Field::Choice { at } => at(&mut C::default()).words().join(" or "),
            Field::Text { at } => at(&mut C::default()).accepted().to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}={value}` is not accepted{why}; `{key}` takes {accepted}")]
pub struct ParameterError {
    key: &'static str,
    value: String,
    /// Reason why the value is not accepted. The text starts with a colon, or is empty if no reason is stated.
    why: String,
    accepted: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    pub key: &'static str,
    pub about: &'static str,
    /// Value of the parameter. It is the default value, or for a configured component the current value.
    pub value: String,
    pub accepted: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choice;

    #[derive(Clone, Debug, PartialEq)]
    struct Config {
        wait: Duration,
        tick: Duration,
        share: f64,
        rate: Rate,
        tries: u32,
        few: u32,
        word: Word,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Word {
        One,
        Two,
    }

    impl Choice for Word {
        const CHOICES: &'static [(&'static str, Self)] = &[("one", Self::One), ("two", Self::Two)];
    }

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Words(Vec<String>);

    impl TextField for Words {
        fn read(&mut self, text: &str) -> Result<(), String> {
            let words: Vec<String> = text.split('|').map(str::to_owned).collect();
            if words.iter().any(String::is_empty) {
                return Err("a word is missing".to_owned());
            }
            self.0 = words;
            Ok(())
        }

        fn show(&self) -> String {
            self.0.join("|")
        }

        fn accepted(&self) -> &'static str {
            "words joined by `|`"
        }
    }

    #[test]
    fn a_custom_notation_reports_its_own_parse_error() {
        let words = Parameter::text("words", "", |config: &mut Words| config);
        let mut config = Words::default();
        words.set(&mut config, "a|b").unwrap();
        assert_eq!(words.show(&mut config), "a|b");
        let wanted = "`words=a|` is not accepted: a word is missing; `words` takes words joined by `|`";
        assert_eq!(words.set(&mut config, "a|").unwrap_err().to_string(), wanted);
        assert_eq!(words.show(&mut config), "a|b");
    }

    const CONFIG: Config = Config {
        wait: Duration::ZERO,
        tick: Duration::ZERO,
        share: 0.5,
        rate: Rate::per_second(5.0),
        tries: 1,
        few: 1,
        word: Word::One,
    };

    impl Default for Config {
        fn default() -> Self {
            CONFIG
        }
    }

    const PARAMETERS: &[Parameter<Config>] = &[
        Parameter::duration("wait", "", |config| &mut config.wait),
        Parameter::duration_in("tick", "", Duration::from_millis(1)..=DAY, |config| &mut config.tick),
        Parameter::number("share", "", 0.0..=1.0, |config| &mut config.share),
        Parameter::rate("rate", "", 0.001..=1e9, |config| &mut config.rate),
        Parameter::count("tries", "", 1..=u32::MAX, |config| &mut config.tries),
        Parameter::count("few", "", 1..=9, |config| &mut config.few),
        Parameter::choice("word", "", |config| &mut config.word),
    ];

    const A_RATE: &str =
        "a rate from 0.001/s to 1000000000/s, such as `8/s` or `10/min`; a rate without a unit is per second";

    fn set(key: &str, text: &str) -> Result<Config, String> {
        let parameter = PARAMETERS.iter().find(|parameter| parameter.key == key).unwrap();
        let mut config = CONFIG;
        parameter.set(&mut config, text).map_err(|error| error.to_string())?;
        Ok(config)
    }

    #[test]
    fn values_are_read_into_their_fields() {
        assert_eq!(set("wait", "1.5s"), Ok(Config { wait: Duration::from_millis(1500), ..CONFIG }));
        assert_eq!(set("share", "1"), Ok(Config { share: 1.0, ..CONFIG }));
        let rate = Rate::parse("10/min").unwrap();
        assert_eq!(set("rate", "10/min"), Ok(Config { rate, ..CONFIG }));
        assert_eq!(set("tries", "7"), Ok(Config { tries: 7, ..CONFIG }));
        assert_eq!(set("tries", "unlimited"), Ok(Config { tries: u32::MAX, ..CONFIG }));
        assert_eq!(set("word", "two"), Ok(Config { word: Word::Two, ..CONFIG }));
    }

    #[test]
    fn a_refusal_names_the_value_and_what_is_accepted() {
        for (key, text, accepted) in [
            ("wait", "25h", "a duration from 0s to 1day"),
            ("wait", "-1s", "a duration from 0s to 1day"),
            ("wait", "NaN", "a duration from 0s to 1day"),
            ("wait", "inf", "a duration from 0s to 1day"),
            ("tick", "0", "a duration from 1ms to 1day"),
            ("share", "nan", "a number from 0 to 1"),
            ("share", "inf", "a number from 0 to 1"),
            ("share", "-0.1", "a number from 0 to 1"),
            ("share", "1e999", "a number from 0 to 1"),
            ("share", "half", "a number from 0 to 1"),
            ("rate", "0/s", A_RATE),
            ("rate", "0.01/min", A_RATE),
            ("rate", "8/parsec", A_RATE),
            ("tries", "0", "a whole number from 1 or `unlimited`"),
            ("tries", "-1", "a whole number from 1 or `unlimited`"),
            ("tries", "1.5", "a whole number from 1 or `unlimited`"),
            ("tries", "99999999999", "a whole number from 1 or `unlimited`"),
            ("few", "unlimited", "a whole number from 1 to 9"),
            ("few", "10", "a whole number from 1 to 9"),
            ("word", "One", "one or two"),
            ("word", "", "one or two"),
        ] {
            let wanted = format!("`{key}={text}` is not accepted; `{key}` takes {accepted}");
            assert_eq!(set(key, text), Err(wanted));
        }
    }
}
