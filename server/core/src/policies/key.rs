//! Keys under which requests are counted: the rule as given by the user, and its evaluation for a request.

use std::net::IpAddr;

use vocabulary::{TextField, choices};

use crate::header_rules::is_name;
use crate::{FieldSelection, RequestFields};

/// Key of all requests that are counted together. The key is a hash of the facts that these requests have in common. Two different sets of
/// facts have the same hash with a probability of 2⁻¹²⁸.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

/// Rule that determines the key of a request. The rule is a list of alternatives. Each alternative consists of one or more facts, such as a
/// header and the method. The first alternative whose facts are all known for the request determines the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRule(Vec<Vec<Fact>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    All,
    Header(String),
    Address,
    Method,
    /// First segments of the request's path. The value is the number of segments.
    Path(u32),
    /// Whole path, in which all segments with a digit after the first one are alike, because they are ids. Requests of one operation of an
    /// API therefore have the same value. The first segment may be a version, such as `v1`.
    Route,
}

const MAX_SEGMENTS: u32 = 16;

choices! {
    /// Treatment of requests to which no alternative of the key rule applies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Missing {
        /// All of them share one key.
        Shared = "shared",
        /// The stage does not apply to them, as in nginx and Envoy. A header with an empty value counts as missing.
        Unlimited = "unlimited",
    }
}

impl From<u64> for Key {
    fn from(hash: u64) -> Self {
        Self(hash.into())
    }
}

impl Default for KeyRule {
    fn default() -> Self {
        Self(vec![vec![Fact::All]])
    }
}

impl KeyRule {
    pub(crate) fn want(&self, wants: &mut FieldSelection) {
        for fact in self.0.iter().flatten() {
            wants.any |= *fact != Fact::All;
            if let Fact::Header(name) = fact {
                wants.headers.insert(name.clone());
            }
        }
    }

    /// Returns the key of a request. All requests to which no alternative applies have the default key.
    pub(crate) fn of(&self, details: &RequestFields, missing: Missing) -> Key {
        for (index, facts) in self.0.iter().enumerate() {
            let mut hash = Fnv::default();
            hash.write(&index.to_le_bytes());
            if facts.iter().all(|fact| fact.hash(details, missing, &mut hash)) {
                return Key(hash.0);
            }
        }
        Key::default()
    }

    /// Returns the first alternative that every request has. `None` if each alternative contains a header.
    pub(crate) fn known_of_all(&self) -> Option<String> {
        let is_header = |fact: &Fact| matches!(fact, Fact::Header(_));
        self.0.iter().find(|facts| !facts.iter().any(is_header)).map(|facts| joined(facts))
    }
}

fn joined(facts: &[Fact]) -> String {
    facts.iter().map(Fact::show).collect::<Vec<_>>().join("&")
}

impl Fact {
    /// Adds the request's value of this fact to the hash. Returns false if the request has no value of this fact.
    fn hash(&self, details: &RequestFields, missing: Missing, hash: &mut Fnv) -> bool {
        match self {
            Self::All => {}
            Self::Header(name) => match details.header(name) {
                Some("") if missing == Missing::Unlimited => return false,
                Some(value) => hash.write(value.as_bytes()),
                None => return false,
            },
            Self::Address => match details.address {
                Some(IpAddr::V4(address)) => hash.write(&address.octets()),
                Some(IpAddr::V6(address)) => hash.write(&address.octets()),
                None => return false,
            },
            Self::Method => hash.write(details.method.as_bytes()),
            Self::Path(segments) => {
                let named = details.path.split('/').filter(|segment| !segment.is_empty());
                for segment in named.take(*segments as usize) {
                    hash.write(segment.as_bytes());
                    hash.write(b"/");
                }
            }
            Self::Route => {
                let named = details.path.split('/').filter(|segment| !segment.is_empty());
                for (index, segment) in named.enumerate() {
                    let is_id = index > 0 && segment.bytes().any(|byte| byte.is_ascii_digit());
                    hash.write(if is_id { b"*" } else { segment.as_bytes() });
                    hash.write(b"/");
                }
            }
        }
        // Adds a separator to the hash, so that adjacent values cannot be confused.
        hash.write(&[0xff]);
        true
    }

    fn read(text: &str) -> Result<Self, String> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match (word, rest) {
            ("all", "") => Ok(Self::All),
            ("address", "") => Ok(Self::Address),
            ("method", "") => Ok(Self::Method),
            ("route", "") => Ok(Self::Route),
            ("path", "") => Ok(Self::Path(1)),
            ("path", number) => match number.parse() {
                Ok(segments @ 1..=MAX_SEGMENTS) => Ok(Self::Path(segments)),
                _ => Err(format!("`{number}` is not a number of segments from 1 to {MAX_SEGMENTS}")),
            },
            ("header", name) => header_name(name).map(Self::Header),
            _ => Err(format!("`{text}` is not a property that distinguishes requests")),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Header(name) => format!("header:{name}"),
            Self::Address => "address".to_owned(),
            Self::Method => "method".to_owned(),
            Self::Route => "route".to_owned(),
            Self::Path(1) => "path".to_owned(),
            Self::Path(segments) => format!("path:{segments}"),
        }
    }
}

pub(crate) fn header_name(name: &str) -> Result<String, String> {
    // The characters `|` and `&` are excluded, because they separate the alternatives and the combined facts of a key rule.
    if !is_name(name) || name.contains(['|', '&']) {
        return Err(format!("`{name}` is not a valid header name"));
    }
    Ok(name.to_ascii_lowercase())
}

impl TextField for KeyRule {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let alternative = |text: &str| text.split('&').map(|fact| Fact::read(fact.trim())).collect();
        self.0 = text.split('|').map(alternative).collect::<Result<_, String>>()?;
        Ok(())
    }

    fn show(&self) -> String {
        self.0.iter().map(|facts| joined(facts)).collect::<Vec<_>>().join("|")
    }

    fn accepted(&self) -> &'static str {
        "`all`, `address`, `method`, `path` (its first segment), `path:N` (its first N segments), `route` \
         (the whole path, with all ids alike) or `header:NAME`; pairs joined by `&`, such as `header:authorization&path`; alternatives joined by \
         `|`, such as `header:authorization|address`, and the first alternative that the request has is used"
    }
}

/// FNV-1a hash with 128 bits (draft-eastlake-fnv).
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Result<KeyRule, String> {
        let mut rule = KeyRule::default();
        rule.read(text).map(|()| rule)
    }

    fn details(method: &str, path: &str, headers: &[(&str, &str)]) -> RequestFields {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let address = Some([192, 0, 2, 7].into());
        RequestFields {
            method: method.into(),
            path: path.into(),
            address,
            headers,
            ..RequestFields::default()
        }
    }

    #[test]
    fn requests_are_distinguished_only_by_the_named_fields() {
        let get = details("GET", "/repos/a/b", &[("authorization", "one")]);
        let post = details("POST", "/repos/c", &[("authorization", "one")]);
        let other = details("GET", "/issues", &[("authorization", "two")]);
        let none = details("GET", "/repos/a", &[]);
        for (text, [post_is, other_is, none_is]) in [
            ("all", [true, true, true]),
            ("method", [false, true, true]),
            ("path", [true, false, true]),
            ("path:2", [false, false, true]),
            ("path:3", [false, false, false]),
            ("address", [true, true, true]),
            ("header:authorization", [true, false, false]),
            ("header:Authorization|address", [true, false, false]),
            ("header:authorization&method", [false, false, false]),
            ("header:x-none", [true, true, true]),
        ] {
            let rule = rule(text).unwrap();
            let of = |details| rule.of(details, Missing::Shared);
            let same = [&post, &other, &none].map(|details| of(details) == of(&get));
            assert_eq!(same, [post_is, other_is, none_is], "{text}");
            assert_eq!(rule.show(), text.to_lowercase());
        }
    }

    #[test]
    fn parts_do_not_run_into_one_another() {
        let rule = rule("path:2&method").unwrap();
        let keys = ["/a/bc", "/ab/c", "/abc", "/abc/"]
            .map(|path| rule.of(&details("GET", path, &[]), Missing::Shared));
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
        assert_eq!(keys[2], keys[3]);
    }

    #[test]
    fn an_empty_header_is_missing_only_where_missing_ones_are_unlimited() {
        let rule = rule("header:x|header:y&path").unwrap();
        for (headers, missing, is_default) in [
            (&[][..], Missing::Shared, true),
            (&[("x", "")], Missing::Shared, false),
            (&[("x", "")], Missing::Unlimited, true),
            (&[("x", "a")], Missing::Unlimited, false),
            (&[("x", ""), ("y", "b")], Missing::Unlimited, false),
        ] {
            let key = rule.of(&details("GET", "/", headers), missing);
            assert_eq!(key == Key::default(), is_default, "{headers:?} {missing:?}");
        }
    }

    #[test]
    fn a_route_is_a_path_with_any_ids() {
        let rule = rule("route").unwrap();
        let of = |path| rule.of(&details("GET", path, &[]), Missing::Shared);
        let one = of("/v1/payment_intents/pi_3Mt");
        assert_eq!(one, of("/v1/payment_intents/pi_9"));
        for path in [
            "/v1/payment_intents",
            "/v2/payment_intents/pi_3",
            "/v1/payment_intents/pi_3/capture",
            "/v1/charges/ch_3",
        ] {
            assert_ne!(one, of(path), "{path}");
        }
    }

    #[test]
    fn a_rule_requests_only_the_fields_it_uses() {
        let wants = |text: &str| {
            let mut wants = FieldSelection::default();
            rule(text).unwrap().want(&mut wants);
            (wants.any, wants.headers.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(wants("all"), (false, vec![]));
        assert_eq!(wants("method"), (true, vec![]));
        assert_eq!(wants("header:B&header:a|address"), (true, vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "everything", "path:0", "path:17", "path:x", "header:", "header:a b", "all:1", "method&"]
        {
            assert!(rule(text).is_err(), "{text}");
        }
    }
}
