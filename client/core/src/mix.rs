//! Kinds of requests of a workload with their weights, written `GET /repos 8; POST /issues 2 cost=5`.
//!
//! The kind of an op is drawn from the seed and the op's number alone. So every strategy and every driver gets the same
//! ops, and all attempts of an op are the same request. Weights are whole millionths, so that shares are exact.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use tailback::Method;
use vocabulary::{Purpose, Rng, draws};

pub const MAX_KINDS: usize = 64;
/// Maximum length of a path in bytes. This limit keeps the head of a request far below the limits of servers.
const MAX_PATH: usize = 1024;
/// Maximum length of an HTTP method, in bytes.
const MAX_METHOD: usize = 32;
pub const HIGHEST_COST: u64 = 1_000_000_000;
/// Stored value of a weight of 1: one million, because weights are stored in millionths.
const ONE: u64 = 1_000_000;
const DECIMALS: usize = 6;
/// Maximum weight of a kind of requests as written by the user, not in millionths.
const HIGHEST_WEIGHT: u64 = 1_000_000;

/// Characters that a path may contain besides letters and digits: `pchar` and `/` of RFC 3986, section 3.3. `;` is
/// excluded, because it separates kinds of requests.
const IN_PATHS: &[u8] = b"-._~!$&'()*+,=:@/%";

/// Stands for values of queries in results.
const HIDDEN: char = '…';

/// Kinds of requests of a workload with their weights; at least one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    kinds: Arc<[RequestKind]>,
    /// Cumulative weights in millionths: for each kind, the sum of all weights up to and including the weight of that
    /// kind.
    up_to: Arc<[u64]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKind {
    /// HTTP method of the request: a token in upper case.
    pub method: Box<str>,
    /// Path of the request, which begins with `/`, without its query.
    pub path: Box<str>,
    /// Query of the request, without `?`. Results contain only the names in it, because values may be secrets.
    pub query: Option<Box<str>>,
    /// Name of the file with the body of the request. Results contain it without its folder.
    pub body: Option<Box<str>>,
    /// Cost that the client announces in the request, for servers that charge requests by cost.
    pub cost: Option<u64>,
    /// Actual cost of the request, which is known only when the request is answered.
    pub used: Option<u64>,
    /// Weight of the kind of requests in the mix, in millionths.
    weight: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MixError {
    #[error(
        "`{kind}` is not a kind of request: {why}; write `METHOD PATH[?QUERY] [@FILE] [WEIGHT] [cost=N] [used=N]`, several \
         joined by `;`, such as `GET /repos 8; POST /issues 2 cost=5`"
    )]
    Kind { kind: String, why: String },
    #[error("it has {0} kinds of requests; at most {MAX_KINDS} are accepted")]
    TooMany(usize),
}

impl Mix {
    pub fn kinds(&self) -> &[RequestKind] {
        &self.kinds
    }

    /// Iterates over the kinds of requests, each with its share (0 to 1) of all requests.
    pub fn shares(&self) -> impl Iterator<Item = (f64, &RequestKind)> {
        let total = self.up_to.last().copied().unwrap_or(1) as f64;
        self.kinds().iter().map(move |kind| (kind.weight as f64 / total, kind))
    }

    pub fn kind_of(&self, seed: u64, op: u64) -> usize {
        let up_to = &self.up_to;
        let total = up_to.last().copied().unwrap_or_default();
        // The upper 64 bits of the product are uniformly distributed below `total`. The error is at most 2^-17 of a
        // millionth.
        let product = u128::from(draws(seed, Purpose::RequestKind, op, 0).next_u64()) * u128::from(total);
        let place = (product >> 64) as u64;
        up_to.partition_point(|up_to| *up_to <= place)
    }
}

impl RequestKind {
    pub fn rules_method(&self) -> Method {
        Method::named(&self.method)
    }

    /// Returns whether requests with the HTTP method of this kind have a body. For methods such as GET, a body has no
    /// meaning (RFC 9110, section 9.3).
    pub fn has_body(&self) -> bool {
        !["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"].contains(&&*self.method)
    }

    fn read(text: &str) -> Result<Self, String> {
        let mut words = text.split_ascii_whitespace();
        let method = method(words.next().unwrap_or_default())?;
        let url = words.next().ok_or("it has no path")?;
        let (path, query) = match url.split_once('?') {
            Some((before, after)) => (path(before)?, Some(query(after)?)),
            None => (path(url)?, None),
        };
        let mut kind = Self { method, path, query, body: None, cost: None, used: None, weight: 0 };
        for word in words {
            if let Some(file) = word.strip_prefix('@') {
                match &kind.body {
                    _ if file.is_empty() => {
                        return Err("`@` must be followed by the name of a file".to_owned());
                    }
                    _ if !kind.has_body() => return Err(format!("{} requests have no body", kind.method)),
                    Some(_) => return Err(format!("`{word}` is a second body")),
                    None => kind.body = Some(file.into()),
                }
                continue;
            }
            match word.split_once('=') {
                None if kind.weight == 0 => {
                    let is_name =
                        kind.body.is_some() && !word.starts_with(|letter: char| letter.is_ascii_digit());
                    let hint = if is_name { "; the name of a file contains no spaces" } else { "" };
                    kind.weight = weight(word).map_err(|why| why + hint)?;
                }
                None => return Err(format!("`{word}` is not expected here")),
                Some(("cost", number)) if kind.cost.is_none() => kind.cost = Some(cost(word, number)?),
                Some(("used", number)) if kind.used.is_none() => kind.used = Some(cost(word, number)?),
                Some((key @ ("cost" | "used"), _)) => return Err(format!("`{key}` is given twice")),
                Some((key, _)) => return Err(format!("`{key}` is unknown; there are `cost` and `used`")),
            }
        }
        if kind.weight == 0 {
            kind.weight = ONE;
        }
        Ok(kind)
    }
}

fn method(text: &str) -> Result<Box<str>, String> {
    // Characters that an HTTP method may contain: token characters of RFC 9110, section 5.6.2.
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_method = (1..=MAX_METHOD).contains(&text.len()) && text.bytes().all(is_token);
    match text.to_ascii_uppercase() {
        _ if !is_method => Err(format!("`{text}` is not an HTTP method")),
        connect if connect == "CONNECT" => Err("CONNECT requests a tunnel and has no path".to_owned()),
        method => Ok(method.into()),
    }
}

fn path(text: &str) -> Result<Box<str>, String> {
    if !text.starts_with('/') {
        return Err(format!("the path `{text}` does not begin with `/`"));
    }
    if text.len() > MAX_PATH {
        return Err(format!("the path is longer than {MAX_PATH} bytes"));
    }
    if let Some(other) = text.chars().find(|character| !is_in_paths(*character)) {
        return Err(format!("a path must not contain `{other}`, unless percent-encoded"));
    }
    // Dot segments are rejected, because URL parsers remove them
    // (https://url.spec.whatwg.org/#double-dot-path-segment), so that the server would receive another path.
    let is_dots =
        |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if text.split('/').any(is_dots) {
        return Err("a path must not have the segments `.` and `..`".to_owned());
    }
    if is_or_is_below(text, "/_mock") {
        return Err("paths under `/_mock` are admin endpoints of the mockserver".to_owned());
    }
    Ok(text.into())
}

/// Checks a query. Besides the characters of paths, it may contain `?` (RFC 3986, section 3.4), and the `…` of results.
fn query(text: &str) -> Result<Box<str>, String> {
    if text.len() > MAX_PATH {
        return Err(format!("the query is longer than {MAX_PATH} bytes"));
    }
    match text.chars().find(|character| !is_in_paths(*character) && !['?', HIDDEN].contains(character)) {
        Some(other) => Err(format!("a query must not contain `{other}`, unless percent-encoded")),
        None => Ok(text.into()),
    }
}

fn is_in_paths(character: char) -> bool {
    u8::try_from(character).is_ok_and(|byte| byte.is_ascii_alphanumeric() || IN_PATHS.contains(&byte))
}

fn is_or_is_below(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn weight(text: &str) -> Result<u64, String> {
    let refuse = || {
        format!(
            "the weight `{text}` must be a number above 0 and up to {HIGHEST_WEIGHT}, with at most {DECIMALS} decimals"
        )
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(decimals) || decimals.len() > DECIMALS {
        return Err(refuse());
    }
    let millionths: u64 = format!("{decimals:0<DECIMALS$}").parse().map_err(|_| refuse())?;
    let whole: u64 = whole.parse().map_err(|_| refuse())?;
    let weight = whole.checked_mul(ONE).and_then(|whole| whole.checked_add(millionths));
    weight.filter(|weight| (1..=HIGHEST_WEIGHT * ONE).contains(weight)).ok_or_else(refuse)
}

fn cost(word: &str, number: &str) -> Result<u64, String> {
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let cost: Option<u64> = number.parse().ok().filter(|cost| is_number && *cost <= HIGHEST_COST);
    cost.ok_or_else(|| format!("`{word}` is not a whole number from 0 to {HIGHEST_COST}"))
}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let count = text.split(';').count();
        if count > MAX_KINDS {
            return Err(MixError::TooMany(count));
        }
        let read = |kind: &str| {
            let kind = kind.trim();
            RequestKind::read(kind).map_err(|why| MixError::Kind { kind: kind.to_owned(), why })
        };
        let all = text.split(';').map(read).collect::<Result<Vec<_>, _>>()?;
        let mut sum = 0;
        let up_to = all.iter().map(|kind| {
            sum += kind.weight;
            sum
        });
        Ok(Self { up_to: up_to.collect(), kinds: all.into() })
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, kind) in self.kinds().iter().enumerate() {
            let joint = if index == 0 { "" } else { "; " };
            write!(f, "{joint}{kind}")?;
        }
        Ok(())
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (index, pair) in self.query.iter().flat_map(|query| query.split('&')).enumerate() {
            let joint = if index == 0 { '?' } else { '&' };
            match pair.split_once('=') {
                Some((name, _)) => write!(f, "{joint}{name}={HIDDEN}")?,
                None => write!(f, "{joint}{HIDDEN}")?,
            }
        }
        if let Some(file) = &self.body {
            write!(f, " @{}", file.rsplit(['/', '\\']).next().unwrap_or_default())?;
        }
        match (self.weight / ONE, self.weight % ONE) {
            (1, 0) => {}
            (whole, 0) => write!(f, " {whole}")?,
            (whole, millionths) => {
                let decimals = format!("{millionths:0DECIMALS$}");
                write!(f, " {whole}.{}", decimals.trim_end_matches('0'))?;
            }
        }
        for (key, cost) in [("cost", self.cost), ("used", self.used)] {
            if let Some(cost) = cost {
                write!(f, " {key}={cost}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
