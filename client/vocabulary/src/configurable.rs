//! What has a name and parameters, and says what it is: strategies' parts at the client, policies at the server.
//!
//! The config struct holds the values, its `Default` is the only place of its defaults, and lists of such structs are all
//! that help texts, documentation and property tests need.

use crate::nesting::split_outside;
use crate::parameter::{Parameter, ParameterError, ParameterInfo};

/// The configuration of something that is typed as `name:key=value,key=value`.
pub trait Configurable: Default + 'static {
    /// As typed, kebab-case, and in snake case the name of its file.
    const NAME: &'static str;
    /// What it does, in one line without a full stop.
    const SUMMARY: &'static str;
    /// Its rule, as formulas and words.
    const RULE: &'static str;
    /// Paper, RFC or seed document it comes from.
    const SOURCE: &'static str;
    /// Its parameters, in the order in which help texts list them.
    const PARAMETERS: &'static [Parameter<Self>];

    /// What its parameters must obey together, said as what is wrong.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The defaults with these options put in.
    ///
    /// # Errors
    /// Names the first option that is unknown, given twice or out of range, or says what does not fit together.
    fn with_options(options: &Options) -> Result<Self, OptionsError> {
        let mut config = Self::default();
        for (index, (key, value)) in options.iter().enumerate() {
            let Some(parameter) = Self::PARAMETERS.iter().find(|parameter| parameter.key == key) else {
                let known = Self::PARAMETERS.iter().map(|parameter| parameter.key).collect();
                return Err(OptionsError::Unknown { key: key.clone(), value: value.clone(), known });
            };
            if options[..index].iter().any(|(before, _)| before == key) {
                return Err(OptionsError::Twice { key: parameter.key });
            }
            parameter.set(&mut config, value)?;
        }
        config.check().map_err(OptionsError::Combination)?;
        Ok(config)
    }

    /// The parameters with the values that they have.
    fn parameters(&mut self) -> Vec<ParameterInfo> {
        Self::PARAMETERS.iter().map(|parameter| parameter.info(self)).collect()
    }
}

/// Options as typed: keys and values.
pub type Options = [(String, String)];

/// Options that a configuration does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// There is no such parameter.
    #[error("there is no parameter `{key}`")]
    Unknown {
        /// As typed.
        key: String,
        /// The value that it was given.
        value: String,
        /// The parameters that there are.
        known: Vec<&'static str>,
    },
    /// A parameter is given more than once.
    #[error("`{key}` is given twice; keep one of them")]
    Twice {
        /// The parameter.
        key: &'static str,
    },
    /// A value is not accepted.
    #[error(transparent)]
    Value(#[from] ParameterError),
    /// Values do not fit one another.
    #[error("{0}")]
    Combination(String),
}

/// `name:key=value,key=value` taken apart: the name, and every option's key with its value; `None` where there is no `=`.
///
/// Commas in parentheses belong to a value.
pub fn split_options(text: &str) -> (&str, Vec<(&str, Option<&str>)>) {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    (name.trim(), split_options_of(options))
}

/// `key=value,key=value` taken apart: every option's key with its value; `None` where there is no `=`.
pub fn split_options_of(options: &str) -> Vec<(&str, Option<&str>)> {
    let options = split_outside(options, ',').map(str::trim).filter(|option| !option.is_empty());
    let options = options.map(|option| match option.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value.trim())),
        None => (option, None),
    });
    options.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Window {
        low: u32,
        high: u32,
    }

    impl Default for Window {
        fn default() -> Self {
            Self { low: 1, high: 9 }
        }
    }

    impl Configurable for Window {
        const NAME: &'static str = "window";
        const SUMMARY: &'static str = "";
        const RULE: &'static str = "";
        const SOURCE: &'static str = "";
        const PARAMETERS: &'static [Parameter<Self>] = &[
            Parameter::count("low", "", (1, 9), |config| &mut config.low),
            Parameter::count("high", "", (1, 9), |config| &mut config.high),
        ];

        fn check(&self) -> Result<(), String> {
            if self.low <= self.high { Ok(()) } else { Err("`low` is above `high`".to_owned()) }
        }
    }

    fn window(options: &str) -> Result<Window, String> {
        let text = format!("window:{options}");
        let (_, options) = split_options(&text);
        let options: Vec<(String, String)> = options
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.unwrap_or_default().to_owned()))
            .collect();
        Window::with_options(&options).map_err(|error| error.to_string())
    }

    #[test]
    fn options_go_over_the_defaults() {
        assert_eq!(window(""), Ok(Window { low: 1, high: 9 }));
        assert_eq!(window(" high = 5 ,, low=2"), Ok(Window { low: 2, high: 5 }));
    }

    #[test]
    fn the_first_wrong_option_is_refused() {
        for (options, words) in [
            ("lo=1,high=0", "there is no parameter `lo`"),
            ("high=3,high=4", "`high` is given twice; keep one of them"),
            ("high=0,high=4", "`high=0` is not accepted; `high` takes a whole number from 1 to 9"),
            ("high", "`high=` is not accepted; `high` takes a whole number from 1 to 9"),
            ("low=5,high=4", "`low` is above `high`"),
        ] {
            assert_eq!(window(options), Err(words.to_owned()), "{options}");
        }
    }

    #[test]
    fn a_name_may_have_no_options() {
        assert_eq!(split_options(" aimd "), ("aimd", Vec::new()));
        assert_eq!(split_options("aimd:"), ("aimd", Vec::new()));
        assert_eq!(split_options("aimd:a = b=c, d"), ("aimd", vec![("a", Some("b=c")), ("d", None)]));
        assert_eq!(
            split_options("aimd:a=(min(b,c)),d"),
            ("aimd", vec![("a", Some("(min(b,c))")), ("d", None)])
        );
    }
}
