//! Components that are configured by name and parameters: parts of the client's strategy, policies of the server.
//!
//! Each component has a config struct, which holds its parameters. The struct's `Default` is the only place of their
//! default values. Help texts, documentation and property tests are generated from lists of such structs.

use crate::nesting::split_outside;
use crate::parameter::{Parameter, ParameterError, ParameterInfo};

/// Configuration of a component. Users write it as `name:key=value,key=value`.
pub trait Configurable: Default + 'static {
    /// Name of the component as written by users, in kebab case. The source file has the same name in snake case.
    const NAME: &'static str;
    /// Summary of the component in one line, without a full stop.
    const SUMMARY: &'static str;
    const RULE: &'static str;
    /// Paper, RFC, article or source file from which the component comes.
    const SOURCE: &'static str;
    /// Parameters of the component, in the order of help texts.
    const PARAMETERS: &'static [Parameter<Self>];

    /// Checks conditions that involve several parameters. The error states what is wrong.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

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

    fn parameters(&mut self) -> Vec<ParameterInfo> {
        Self::PARAMETERS.iter().map(|parameter| parameter.info(self)).collect()
    }
}

pub type Options = [(String, String)];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    #[error("unknown parameter `{key}`")]
    Unknown { key: String, value: String, known: Vec<&'static str> },
    #[error("`{key}` is given twice; keep one of them")]
    Twice { key: &'static str },
    #[error(transparent)]
    Value(#[from] ParameterError),
    #[error("{0}")]
    Combination(String),
}

/// Splits `name:key=value,key=value` into the name and the options. An option without `=` has the value `None`.
///
/// Commas in parentheses do not separate options.
pub fn split_options(text: &str) -> (&str, Vec<(&str, Option<&str>)>) {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    (name.trim(), split_options_of(options))
}

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
            Parameter::count("low", "", 1..=9, |config| &mut config.low),
            Parameter::count("high", "", 1..=9, |config| &mut config.high),
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
            ("lo=1,high=0", "unknown parameter `lo`"),
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
