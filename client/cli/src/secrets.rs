//! What results and screens do not show of a command line: they are passed on, and values may be secrets.

use std::ffi::OsString;

/// What stands in the place of what is hidden.
const HIDDEN: &str = "…";

/// A flag whose value is not shown as it was typed.
struct Secret {
    long: &'static str,
    short: Option<char>,
    shown: fn(&str) -> String,
}

const SECRETS: &[Secret] = &[
    Secret { long: "--header", short: Some('H'), shown: header },
    Secret { long: "--body", short: Some('d'), shown: file_name_only },
    Secret { long: "--target", short: Some('t'), shown: url },
    Secret { long: "--admin-token", short: None, shown: file_name_only },
];

/// Short flags that take no value: others may follow in the same word.
const PLAIN: &[char] = &['k', 'q'];

/// The command line with secrets left out.
pub(crate) fn without(typed: impl Iterator<Item = OsString>) -> Vec<String> {
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
                None => {}
            }
            argument
        })
        .collect()
}

/// The value that follows the flag in the same word; empty when the next word is the value.
fn value<'a>(argument: &'a str, secret: &Secret) -> Option<&'a str> {
    if let Some(rest) = argument.strip_prefix(secret.long) {
        return if rest.is_empty() { Some(rest) } else { rest.strip_prefix('=') };
    }
    let rest = argument.strip_prefix('-')?.trim_start_matches(PLAIN).strip_prefix(secret.short?)?;
    Some(rest.strip_prefix('=').unwrap_or(rest))
}

/// A header's name.
fn header(typed: &str) -> String {
    let name = typed.split(':').next().unwrap_or_default();
    format!("{name}: {HIDDEN}")
}

/// The name of the file that it is read from.
fn file_name_only(typed: &str) -> String {
    if typed.starts_with('@') { typed.to_owned() } else { HIDDEN.to_owned() }
}

/// A URL without its user and the values of its query.
pub(crate) fn url(typed: &str) -> String {
    let typed = typed.split('#').next().unwrap_or_default();
    let (place, query) = typed.split_once('?').map_or((typed, None), |(place, query)| (place, Some(query)));
    let (scheme, rest) = place.split_once("://").map_or(("", place), |(scheme, rest)| (scheme, rest));
    let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let mut shown = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let host = match host.rsplit_once('@') {
        Some((_, host)) => {
            shown.push_str(HIDDEN);
            shown.push('@');
            host
        }
        None => host,
    };
    shown.push_str(host);
    if let Some(path) = path {
        shown.push('/');
        shown.push_str(path);
    }
    if let Some(query) = query {
        let hidden = |pair: &str| match pair.split_once('=') {
            Some((name, _)) => format!("{name}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        };
        shown.push('?');
        shown.push_str(&query.split('&').map(hidden).collect::<Vec<_>>().join("&"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(typed: &[&str]) -> Vec<String> {
        without(typed.iter().map(Into::into))
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
            "@b.json",
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
}
