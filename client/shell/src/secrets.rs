//! Removal of secrets from the command line before it is shown in results and on screens, because users share both.

use std::ffi::OsString;
use std::path::Path;

use experiments::servers::target::url;
use loadgen_core::Mix;

use crate::args::is_url;
use crate::files::exporters::EXPORTERS;

/// Stands for a value that results leave out.
pub(crate) const HIDDEN: &str = "…";

struct Secret {
    long: &'static str,
    short: Option<char>,
    shown: fn(&str) -> String,
}

const SECRETS: &[Secret] = &[
    Secret { long: "--header", short: Some('H'), shown: header },
    Secret { long: "--body", short: Some('d'), shown: file_name_only },
    Secret { long: "--mix", short: None, shown: mix },
    Secret { long: "--target", short: Some('t'), shown: url },
    Secret { long: "--admin-token", short: None, shown: file_name_only },
];

/// Short flags without a value. Further short flags may follow them in the same command-line word, as in `-kq`.
const PLAIN: &[char] = &['k', 'q'];

pub fn command_line() -> Vec<String> {
    without(without_outputs(std::env::args_os().skip(1)))
}

/// Returns the words of another program's command line that name it: the program and, if an argument is an existing file, the first such
/// argument. All other words may be secrets.
pub fn program_words(command: &[String]) -> Vec<String> {
    let Some((program, arguments)) = command.split_first() else { return Vec::new() };
    let file = arguments.iter().find(|argument| Path::new(argument).is_file());
    [program].into_iter().chain(file).cloned().collect()
}

/// Removes flags that change no figure from the recorded command line, because a simulated result must not depend on them. The removed
/// flags concern output files, screens, checks, threads and shards.
fn without_outputs(typed: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    const PLAIN: &[&str] = &["--no-tui", "--quiet", "-q", "--print-config"];
    const WITH_VALUE: [&str; 10] = [
        "--threads",
        "--theme",
        "--color",
        "--shard",
        "--local-address",
        "--progress",
        "--fail-if",
        "--save-baseline",
        "--baseline",
        "--noise",
    ];
    let with_value: Vec<&str> = EXPORTERS.iter().map(|format| format.flag).chain(WITH_VALUE).collect();
    let mut value_follows = false;
    typed.filter(move |argument| {
        if std::mem::take(&mut value_follows) {
            return false;
        }
        let argument = argument.to_string_lossy();
        value_follows = with_value.contains(&argument.as_ref());
        let inline = with_value
            .iter()
            .any(|flag| argument.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')));
        !value_follows && !inline && !PLAIN.contains(&argument.as_ref())
    })
}

fn without(typed: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut value_of: Option<&Secret> = None;
    typed
        .map(|argument| {
            let argument = argument.to_string_lossy().into_owned();
            if let Some(secret) = value_of.take()
                && !argument.starts_with("--")
            {
                return (secret.shown)(&argument);
            }
            match SECRETS.iter().find_map(|secret| Some((secret, value(&argument, secret)?))) {
                Some((_, "")) if argument.ends_with('=') => {}
                Some((secret, "")) => value_of = Some(secret),
                Some((secret, value)) => {
                    let flag = &argument[..argument.len() - value.len()];
                    return format!("{flag}{}", (secret.shown)(value));
                }
                None if !argument.starts_with('-') && is_url(&argument) => return url(&argument),
                None => {}
            }
            argument
        })
        .collect()
}

/// Returns the value of a secret flag from a command-line word, or `None` if the word is not this flag. The value is empty if it is in the
/// next word.
fn value<'a>(argument: &'a str, secret: &Secret) -> Option<&'a str> {
    if let Some(rest) = argument.strip_prefix(secret.long) {
        return if rest.is_empty() { Some(rest) } else { rest.strip_prefix('=') };
    }
    let rest = argument.strip_prefix('-')?.trim_start_matches(PLAIN).strip_prefix(secret.short?)?;
    Some(rest.strip_prefix('=').unwrap_or(rest))
}

fn header(typed: &str) -> String {
    let name = typed.split(':').next().unwrap_or_default();
    format!("{name}: {HIDDEN}")
}

/// Removes the values of queries and the folders of files.
fn mix(typed: &str) -> String {
    match typed.parse::<Mix>() {
        Ok(mix) if typed.contains(['?', '@']) => mix.to_string(),
        Ok(_) => typed.to_owned(),
        Err(_) => HIDDEN.to_owned(),
    }
}

fn file_name_only(typed: &str) -> String {
    match typed.strip_prefix('@').map(Path::new).and_then(Path::file_name) {
        Some(file) => format!("@{}", file.to_string_lossy()),
        None => HIDDEN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(typed: &[&str]) -> Vec<String> {
        without(typed.iter().map(Into::into))
    }

    #[test]
    fn flags_that_change_no_figure_are_left_out() {
        let typed =
            ["--simulate", "--color", "never", "--color=always", "--theme", "dark", "-q", "--ops", "9"];
        let kept: Vec<OsString> = without_outputs(typed.iter().map(Into::into)).collect();
        assert_eq!(kept, ["--simulate", "--ops", "9"]);
    }

    #[test]
    fn values_of_queries_and_folders_of_bodies_are_left_out() {
        let typed =
            ["--mix", "POST /a?x=1 @/home/me/b.json 2", "--mix=GET /a?x=1;GET /b", "--mix", "get /c 1.0"];
        assert_eq!(
            shown(&typed),
            ["--mix", "POST /a?x=… @b.json 2", "--mix=GET /a?x=…; GET /b", "--mix", "get /c 1.0"]
        );
    }

    #[test]
    fn values_of_headers_are_left_out() {
        let typed =
            ["-H", "a: 1", "--header", "b: 2", "--header=c: 3", "-Hd: 4", "-kqH", "e: 5", "--ops", "9"];
        assert_eq!(
            shown(&typed),
            ["-H", "a: …", "--header", "b: …", "--header=c: …", "-Hd: …", "-kqH", "e: …", "--ops", "9"]
        );
    }

    #[test]
    fn bodies_and_tokens_are_left_out_and_names_of_files_stay() {
        let typed = [
            "-d",
            "x",
            "--body",
            "y",
            "--body=z",
            "-dw",
            "-kd=v",
            "--body=",
            "-d@a.json",
            "--body",
            "@/home/me/b.json",
        ];
        assert_eq!(
            shown(&typed),
            [
                "-d",
                "…",
                "--body",
                "…",
                "--body=…",
                "-d…",
                "-kd=…",
                "--body=",
                "-d@a.json",
                "--body",
                "@b.json"
            ]
        );
        assert_eq!(
            shown(&["--admin-token", "t", "--admin-token=@f", "--admin-token", "--duration", "9s"]),
            ["--admin-token", "…", "--admin-token=@f", "--admin-token", "--duration", "9s"]
        );
    }

    #[test]
    fn a_url_keeps_where_it_leads_and_the_names_of_its_query() {
        for (typed, told) in [
            ("http://a.test:80/x/y", "http://a.test:80/x/y"),
            ("a.test?key=1&k2=2&bare#part", "a.test?key=…&k2=…&…"),
            ("https://user:pass@word@a.test/p@q?x=http://b", "https://…@a.test/p@q?x=…"),
            ("[::1]:81", "[::1]:81"),
        ] {
            assert_eq!(url(typed), told);
            assert_eq!(
                shown(&["-t", typed, &format!("--target={typed}")]),
                ["-t", told, &format!("--target={told}")]
            );
        }
    }

    #[test]
    fn a_command_is_named_by_its_program_and_its_first_file() {
        let (file, other) = (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), env!("CARGO_MANIFEST_DIR"));
        let named =
            |words: &[&str]| program_words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["env", "TOKEN=secret", "python3", other, file, "secret", file]), ["env", file]);
        assert_eq!(named(&["sh", "-c", "curl -H 'key: secret'", "\0"]), ["sh"]);
        assert!(named(&[]).is_empty());
    }

    #[test]
    fn where_results_go_is_left_out_of_the_command_line() {
        let typed = [
            "--simulate",
            "--json",
            "a.json",
            "--threads=2",
            "-q",
            "--shard",
            "0/4",
            "--fail-if=amplification > 2",
            "--ops",
            "9",
            "--json=-",
            "--noise",
            "5%",
        ];
        let kept: Vec<OsString> = without_outputs(typed.into_iter().map(Into::into)).collect();
        assert_eq!(kept, ["--simulate", "--ops", "9"]);
    }
}
