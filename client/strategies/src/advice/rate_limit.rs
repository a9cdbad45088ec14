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

use std::time::Duration;

use sfv::{BareItem, Dictionary, Item, List, ListEntry, Parser};

use super::{Advice, MAX_READ};

pub(super) fn rate_limit(text: &str, policies: Option<&str>) -> Option<Advice> {
    let wait = match Parser::new(text).parse() {
        Ok(quotas) => longest_wait(quotas, policies),
        Err(_) => one_quota(&Parser::new(text).parse().ok()?),
    };
    let wait = wait.and_then(|seconds| u64::try_from(seconds).ok());
    Some(wait.map_or(Advice::None, |seconds| Advice::After(Duration::from_secs(seconds).min(MAX_READ))))
}

fn longest_wait(quotas: List, policies: Option<&str>) -> Option<i64> {
    let exhausted = named(quotas).filter(|(_, quota)| integer(quota.params.get("r")) == Some(0));
    exhausted
        .filter_map(|(name, quota)| integer(quota.params.get("t")).or_else(|| window(policies?, &name)))
        .max()
}

/// Returns the time window, in seconds, of the policy named `wanted` in the header `RateLimit-Policy`.
fn window(policies: &str, wanted: &str) -> Option<i64> {
    let policies = Parser::new(policies).parse().ok()?;
    let (_, policy) = named(policies).filter(|(name, _)| name == wanted).last()?;
    integer(policy.params.get("w"))
}

/// Returns the items of a list that are named by a string or token, with their names.
fn named(list: List) -> impl Iterator<Item = (String, Item)> {
    list.into_iter().filter_map(|entry| match entry {
        ListEntry::Item(item) => {
            let string = item.bare_item.as_string().map(sfv::StringRef::as_str);
            let name = string.or_else(|| item.bare_item.as_token().map(sfv::TokenRef::as_str))?.to_owned();
            Some((name, item))
        }
        ListEntry::InnerList(_) => None,
    })
}

/// Returns the seconds until the quota of the older drafts, which have a single one, is reset; `None` if it is not
/// exhausted.
fn one_quota(quota: &Dictionary) -> Option<i64> {
    let member = |key| match quota.get(key)? {
        ListEntry::Item(item) => integer(Some(&item.bare_item)),
        ListEntry::InnerList(_) => None,
    };
    member("reset").filter(|_| member("remaining") == Some(0))
}

fn integer(value: Option<&BareItem>) -> Option<i64> {
    value?.as_integer().map(i64::from)
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
