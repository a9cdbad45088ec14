//! What a request is besides its place in a run: kept only where a policy or an answer goes by it.

use std::collections::BTreeSet;
use std::net::IpAddr;

/// The most of a request's body that is looked at, in bytes.
pub const LONGEST_LOOK: usize = 64 << 10;

/// What a request says of itself in the words of HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// In upper case.
    pub method: Box<str>,
    /// Without what follows a `?`.
    pub path: Box<str>,
    /// Where it came from, where that is known.
    pub address: Option<IpAddr>,
    /// Names in lower case; only those that are [wanted](Wants::headers), and the first of each name.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The first [`LONGEST_LOOK`] of it, if that is [wanted](Wants::body).
    pub body: Box<[u8]>,
}

impl Details {
    /// The value of this header; the name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|(there, value)| (**there == *name).then_some(&**value))
    }
}

/// What of requests anybody looks at: whoever brings them need not keep more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Anything at all: method, path and address at least.
    pub any: bool,
    /// The names of headers, in lower case.
    pub headers: BTreeSet<String>,
    /// The body.
    pub body: bool,
}
