//! Formatting of server URLs for output. The user name, the password and query values of a URL may be secrets, so they are hidden.

const HIDDEN: &str = "…";

pub fn url(typed: &str) -> String {
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
