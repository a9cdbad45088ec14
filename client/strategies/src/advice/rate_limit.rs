//! `RateLimit` and `RateLimit-Policy`: structured fields with the remaining requests of each quota and its time to
//! reset.
//!
//! Source: IETF, draft-ietf-httpapi-ratelimit-headers. `"burst";r=0;t=5` in `RateLimit` means that the quota `burst`
//! has 0 requests remaining (`r`) for the next 5 s (`t`). If `t` is missing, the time is the window (`w`) in
//! `RateLimit-Policy`: `"burst";q=100;w=60`. Servers that follow drafts before the eighth send a dictionary instead:
//! `limit=100, remaining=0, reset=5`.
//!
//! A quota with remaining requests gives no advice. If several quotas are exhausted, the client waits for the longest
//! of their times.

use std::convert::Infallible;
use std::time::Duration;

use sfv::visitor::{
    DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ListVisitor, ParameterVisitor,
};
use sfv::{BareItemFromInput, KeyRef, Parser};

use super::{Advice, MAX_READ, Quota};

pub(super) fn rate_limit(text: &str, policies: Option<&str>) -> Option<Advice> {
    let mut longest = None;
    let is_list = each_quota(text, ["r", "t"], &mut |name, [left, wait]| {
        if left == Some(0) {
            longest = longest.max(wait.or_else(|| of_policy(policies?, name, "w")));
        }
    });
    let wait = if is_list {
        longest
    } else {
        let OneQuota { remaining, reset, .. } = one_quota(text).ok()?;
        reset.filter(|_| remaining == Some(0))
    };
    let wait = wait.and_then(|seconds| u64::try_from(seconds).ok());
    Some(wait.map_or(Advice::None, |seconds| Advice::After(Duration::from_secs(seconds).min(MAX_READ))))
}

/// Parses the quota with the fewest remaining requests. The header `RateLimit-Policy` states the limits (`q`).
pub(super) fn quota(text: &str, policies: Option<&str>) -> Option<Quota> {
    let mut scarcest = None;
    let is_list = each_quota(text, ["r", "t"], &mut |name, [left, wait]| {
        let limit = policies.and_then(|policies| of_policy(policies, name, "q"));
        scarcest = Quota::scarcer(scarcest, stated(limit, left, wait));
    });
    if is_list {
        return scarcest;
    }
    let OneQuota { limit, remaining, reset } = one_quota(text).ok()?;
    stated(limit, remaining, reset)
}

fn stated(limit: Option<i64>, remaining: Option<i64>, reset_s: Option<i64>) -> Option<Quota> {
    let [limit, remaining] = [limit?, remaining?].map(u64::try_from);
    let reset = reset_s.map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0)));
    Some(Quota::new(limit.ok()?, remaining.ok()?, reset, true))
}

/// Returns the parameter `key` of the policy named `wanted` in the header `RateLimit-Policy`: the time window `w` in seconds, or the number
/// of requests `q`.
fn of_policy(policies: &str, wanted: &str, key: &'static str) -> Option<i64> {
    let mut value = None;
    each_quota(policies, [key, "pk"], &mut |name, [stated, _]| {
        if name == wanted {
            value = stated;
        }
    });
    value
}

fn each_quota(text: &str, keys: [&'static str; 2], found: Found<'_>) -> bool {
    Parser::new(text).parse_list_with_visitor(Items { keys, found }).is_ok()
}

/// Parses a `RateLimit` header of the older drafts, which have a single quota.
fn one_quota(text: &str) -> Result<OneQuota, sfv::Error> {
    Parser::new(text).parse_dictionary_with_visitor(OneQuota::default())
}

type Found<'a> = &'a mut dyn FnMut(&str, [Option<i64>; 2]);

struct Items<'a> {
    keys: [&'static str; 2],
    found: Found<'a>,
}

impl<'de> ListVisitor<'de> for Items<'_> {
    type Out = ();
    type Error = Infallible;

    fn entry(&mut self) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(Items { keys: self.keys, found: &mut *self.found })
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl<'de> EntryVisitor<'de> for Items<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for Items<'_> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(
        self,
        name: BareItemFromInput<'de>,
    ) -> Result<impl ParameterVisitor<'de, Out = ()>, Infallible> {
        Ok(Item { name, values: [None; 2], of: self })
    }
}

struct Item<'de, 'a> {
    name: BareItemFromInput<'de>,
    values: [Option<i64>; 2],
    of: Items<'a>,
}

impl<'de> ParameterVisitor<'de> for Item<'de, '_> {
    type Out = ();
    type Error = Infallible;

    fn parameter(&mut self, key: &'de KeyRef, value: BareItemFromInput<'de>) -> Result<(), Infallible> {
        for (wanted, there) in self.of.keys.iter().zip(&mut self.values) {
            if key.as_str() == *wanted {
                *there = value.as_integer().map(i64::from);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Infallible> {
        let string = self.name.as_string().map(sfv::StringRef::as_str);
        if let Some(name) = string.or_else(|| self.name.as_token().map(sfv::TokenRef::as_str)) {
            (self.of.found)(name, self.values);
        }
        Ok(())
    }
}

#[derive(Default)]
struct OneQuota {
    limit: Option<i64>,
    remaining: Option<i64>,
    reset: Option<i64>,
}

impl<'de> DictionaryVisitor<'de> for OneQuota {
    type Out = Self;
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(match key.as_str() {
            "limit" => Some(Number(&mut self.limit)),
            "remaining" => Some(Number(&mut self.remaining)),
            "reset" => Some(Number(&mut self.reset)),
            _ => None,
        })
    }

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

struct Number<'a>(&'a mut Option<i64>);

impl<'de> EntryVisitor<'de> for Number<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(|value: BareItemFromInput<'de>| {
            *self.0 = value.as_integer().map(i64::from);
            Ok::<_, Infallible>(Ignored)
        })
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        Ok(Ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn after(seconds: u64) -> Advice {
        Advice::After(Duration::from_secs(seconds))
    }

    #[test]
    fn a_quota_that_is_used_up_advises_to_wait() {
        for (text, read) in [
            (r#""default";r=50;t=30"#, Some(Advice::None)),
            (r#""default";r=0;t=30"#, Some(after(30))),
            (r#""minute";r=0;t=30, "day";r=0;t=3600, "hour";r=1;t=9999"#, Some(after(3600))),
            ("default;r=0;t=30", Some(after(30))),
            (r#""default";r=0;t=0"#, Some(after(0))),
            (r#""default";r=0"#, Some(Advice::None)),
            (r#""default";t=30"#, Some(Advice::None)),
            (r#""default";r=0;t=-3"#, Some(Advice::None)),
            (r#""default";r=0;t=1;t=2"#, Some(after(2))),
            (r#""default";r=0;t=999999999999999"#, Some(Advice::After(MAX_READ))),
            (r#"("a" "b");r=0;t=3"#, Some(Advice::None)),
            ("", Some(Advice::None)),
        ] {
            assert_eq!(rate_limit(text, None), read, "{text}");
        }
    }

    #[test]
    fn the_window_of_the_policy_replaces_a_missing_reset() {
        let policies = r#""burst";q=100;w=60, "daily";q=1000;w=86400"#;
        assert_eq!(rate_limit(r#""burst";r=0"#, Some(policies)), Some(after(60)));
        assert_eq!(rate_limit(r#""burst";r=0;t=5"#, Some(policies)), Some(after(5)));
        assert_eq!(rate_limit(r#""other";r=0"#, Some(policies)), Some(Advice::None));
        assert_eq!(rate_limit(r#""burst";r=0"#, Some("nonsense=")), Some(Advice::None));
    }

    #[test]
    fn older_drafts_wrote_a_dictionary() {
        assert_eq!(rate_limit("limit=100, remaining=0, reset=5", None), Some(after(5)));
        assert_eq!(rate_limit("limit=100, remaining=7, reset=5", None), Some(Advice::None));
        assert_eq!(rate_limit("reset=5", None), Some(Advice::None));
    }

    #[test]
    fn nothing_else_is_read() {
        for text in [r#""default";r=0;t=30,"#, r#""default"#, "soon;;", r#""default";r=0;t"=1"#] {
            assert_eq!(rate_limit(text, None), None, "{text}");
        }
    }
}
