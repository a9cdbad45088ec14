//! Command-line parsing of `mockserver` and `loadgen`: counts, probabilities, addresses, negative values.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::SocketAddr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error, FromArgMatches};
use vocabulary::{did_you_mean, excerpt, printable};

/// Returns the arguments of the program. A value that looks like a negative number is joined to its flag, as in `--ops=-5`. Otherwise `-5`
/// would be parsed as a flag, and the error would not explain which values `--ops` accepts.
pub fn arguments() -> Vec<OsString> {
    joined(std::env::args_os())
}

/// Parses the command line, whose first word is the name of the program. Exits after printing help or an error. `explain` returns a clearer
/// text for errors that users of similar programs often make.
pub fn parsed<C: FromArgMatches>(
    typed: &[OsString],
    command: &Command,
    explain: fn(&Error, &[String]) -> Option<String>,
) -> C {
    let parse = |typed: &[OsString]| {
        let mut command = command.clone();
        let matches = command.try_get_matches_from_mut(typed)?;
        C::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    };
    let error = match parse(typed) {
        Ok(cli) => return cli,
        Err(error) => error,
    };
    // clap also returns requests for help or for the version as errors. They are not mistakes, and clap itself prints the requested text.
    if !error.use_stderr() {
        error.exit();
    }
    // clap repeats arguments in its errors. When clap removes its own colours, it also removes the escape sequences of the arguments.
    // Therefore the arguments are parsed again with printable text in place of their escape sequences.
    let words: Vec<String> =
        typed.iter().map(|word| printable(&word.to_string_lossy()).into_owned()).collect();
    let shown: Vec<OsString> = words.iter().map(OsString::from).collect();
    let error = if typed == shown { error } else { parse(&shown).err().unwrap_or(error) };
    let text =
        explain(&error, &words).or_else(|| refused_value(&error)).unwrap_or_else(|| short(&error, command));
    drop(io::stderr().write_all(printable(&format!("error: {text}\n")).as_bytes()));
    std::process::exit(error.exit_code())
}

/// Returns the text of an error in at most two lines: clap's sentence, then a suggestion, the usage, or a reference to the help.
fn short(error: &Error, command: &Command) -> String {
    let rendered = error.render().to_string();
    let paragraphs: Vec<&str> = rendered.split("\n\n").collect();
    let sentence: Vec<&str> = paragraphs[0].split_whitespace().collect();
    let sentence = sentence.join(" ");
    let sentence = sentence.strip_prefix("error: ").unwrap_or(&sentence);
    let usage = paragraphs.iter().find_map(|paragraph| paragraph.strip_prefix("Usage: "));
    let usage = usage.and_then(|usage| usage.lines().next()).unwrap_or_default();
    let name = command.get_name();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let known = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
            let suggest = |word| did_you_mean(word, known.map(Command::get_name));
            let suggestion = argument(error).map(suggest).unwrap_or_default();
            format!("{sentence}{suggestion}; `{name} --help` lists all commands")
        }
        ErrorKind::UnknownArgument => {
            let similar = context(error, ContextKind::SuggestedArg);
            let similar = similar.map(|flag| format!(" (did you mean `{flag}`?)")).unwrap_or_default();
            format!("{sentence}{similar}; `{name} --help` lists all flags")
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = match error.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(missing)) => missing.join(" and "),
                _ => sentence.to_owned(),
            };
            format!("{missing} is missing; write {usage}")
        }
        _ => format!("{sentence}; see `{name} --help`"),
    }
}

/// Returns the argument that caused an error, as given on the command line.
pub fn argument(error: &Error) -> Option<&str> {
    context(error, ContextKind::InvalidArg).or_else(|| context(error, ContextKind::InvalidSubcommand))
}

fn context(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// Flags whose values may be secrets. Only the name before a value is printed, because logs of CI are often public.
const MAYBE_SECRET: [&str; 2] = ["--header", "--env"];

/// Returns the reason why the parser of a flag refused its value: `--loss 150%: at most 100%`.
fn refused_value(error: &Error) -> Option<String> {
    let reason = error.source().filter(|_| error.kind() == ErrorKind::ValueValidation)?;
    let value = context(error, ContextKind::InvalidValue)?;
    let flag = argument(error)?.split(' ').next()?;
    let is_plain = !value.is_empty() && !value.contains(char::is_whitespace);
    let value = match value.split_once([':', '=']) {
        Some((name, _)) if MAYBE_SECRET.contains(&flag) => format!("'{name}…'"),
        None if MAYBE_SECRET.contains(&flag) => "…".to_owned(),
        _ if is_plain => value.to_owned(),
        _ => format!("'{value}'"),
    };
    Some(format!("{flag} {}: {reason}", excerpt(&value)))
}

fn joined(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut only_values = false;
    for argument in typed {
        let flag = joined.last().and_then(|last| last.to_str()).is_some_and(is_long_flag);
        if flag
            && !only_values
            && argument.to_str().is_some_and(is_negative)
            && let Some(last) = joined.last_mut()
        {
            last.push("=");
            last.push(argument);
            continue;
        }
        only_values |= argument == "--";
        joined.push(argument);
    }
    joined
}

fn is_long_flag(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| !name.is_empty() && !name.contains('='))
}

fn is_negative(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Returns a parser of whole numbers from `min` to `max`. The suffixes `k` or `K`, `M` and `G` mean 10³, 10⁶ and 10⁹: `2000`, `2k`, `1.5M`.
pub fn count<N: TryFrom<u64>>(min: u64, max: u64) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| {
        whole(text)
            .filter(|number| (min..=max).contains(number))
            .and_then(|number| N::try_from(number).ok())
            .ok_or_else(|| format!("it must be a whole number from {min} to {max}, such as 20, 2k or 1M"))
    }
}

fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, zeros) = match text.char_indices().last()? {
        (end, 'k' | 'K') => (&text[..end], 3),
        (end, 'M') => (&text[..end], 6),
        (end, 'G') => (&text[..end], 9),
        _ => (text, 0),
    };
    let (before, after) = number.split_once('.').unwrap_or((number, ""));
    // A fraction is accepted only if the number is a whole number after all, as in `1.5k` or `2.0`.
    let after = after.trim_end_matches('0');
    let fits = after.len() <= zeros && (after.is_empty() || zeros > 0) && !before.starts_with('-');
    let padding = "0".repeat(zeros - after.len().min(zeros));
    fits.then(|| format!("{before}{after}{padding}").parse().ok()).flatten()
}

/// Parses a probability such as `0.5` or `50%`.
pub fn probability(text: &str) -> Result<f64, String> {
    let read = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.trim().parse(),
    };
    match read {
        Ok(share) if share > 1.0 => Err("it must be at most 100%".to_owned()),
        Ok(share) if share < 0.0 => Err("it must be at least 0%".to_owned()),
        Ok(share) if share.is_finite() => Ok(share),
        _ => Err("it must be a number from 0 to 1, or a percentage such as 50%".to_owned()),
    }
}

pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| match text.strip_prefix(':').or_else(|| text.strip_prefix("localhost:")) {
        Some(port) => format!(
            "the address before the port is missing; write `127.0.0.1:{port}` to accept connections from \
             this machine only, or `0.0.0.0:{port}` from all networks"
        ),
        None => "it must be an address and a port, such as `127.0.0.1:8503`; port 0 selects any free port"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_and_millions_and_a_range() {
        let count = count::<u32>(1, 4_000_000);
        for (text, number) in [
            ("1", 1),
            ("2k", 2_000),
            ("2K", 2_000),
            ("2M", 2_000_000),
            ("1.5k", 1_500),
            ("0.02k", 20),
            ("+7", 7),
            (".5k", 500),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in [
            "",
            "k",
            ".",
            "0",
            "-5",
            "-1k",
            "1.5",
            "1.0005k",
            "5M",
            "many",
            "1kk",
            "1m",
            "18446744073709551615G",
        ] {
            let error = count(text).unwrap_err();
            assert_eq!(error, "it must be a whole number from 1 to 4000000, such as 20, 2k or 1M", "{text}");
        }
    }

    #[test]
    fn probabilities_are_numbers_or_percent() {
        for (text, number) in [("0.5", 0.5), ("50%", 0.5), ("0 %", 0.0), ("100%", 1.0)] {
            assert_eq!(probability(text), Ok(number), "{text}");
        }
        assert!(probability("half").is_err() && probability("%").is_err() && probability("NaN").is_err());
        assert_eq!(probability("150%").unwrap_err(), "it must be at most 100%");
        assert_eq!(probability("-1").unwrap_err(), "it must be at least 0%");
    }

    #[test]
    fn negative_values_belong_to_the_flag_before_them() {
        for (typed, read) in [
            ("--ops -5 -q", "--ops=-5 -q"),
            ("--timeout -.5s", "--timeout=-.5s"),
            ("--ops=3 -5", "--ops=3 -5"),
            ("-q -5", "-q -5"),
            ("-- --ops -5", "-- --ops -5"),
            ("-5", "-5"),
        ] {
            assert_eq!(joined(typed.split(' ').map(OsString::from)), read.split(' ').collect::<Vec<_>>());
        }
    }
}
