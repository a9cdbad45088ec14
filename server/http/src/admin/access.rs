//! Access to the admin endpoints. Programs on this machine have access, and clients with the token.
//!
//! Web pages from other servers have no access. A browser on this machine sends requests from loopback, too, and any page that it shows can
//! cause such requests. Two headers, which pages cannot change, identify requests of such pages. `Origin` names the server of the page, in
//! every request that could change something. `Host` names the server that the browser believes it is talking to.
//!
//! If the name of a page was later resolved to this machine (DNS rebinding), `Host` contains that name. A program that intends to reach
//! this machine sends an address in `Host`.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use axum::http::{Uri, Version};

use wire::Refusal;

use crate::admin::token::AdminToken;

const SEND_IT: &str = "send `Authorization: Bearer TOKEN` (loadgen: `--admin-token`)";

#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// Token that gives access to clients on other hosts. `None` means that they have no access.
    pub(crate) token: Option<AdminToken>,
}

impl Access {
    pub(crate) fn check(
        &self,
        peer: IpAddr,
        version: Version,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        own_origin(headers)?;
        if self.token.as_ref().is_some_and(|token| {
            only(headers, &AUTHORIZATION).is_ok_and(|value| value.is_some_and(|value| token.is_in(value)))
        }) {
            return Ok(());
        }
        if peer.to_canonical().is_loopback() {
            let advice = format!("start the server with `--admin-remote TOKEN` and {SEND_IT}");
            return own_host(version, uri, headers, &[], &advice);
        }
        Err(Refusal::new(match self.token {
            Some(_) => format!(
                "the endpoints under /_mock/ and /metrics answer other hosts only with the token of \
                 `--admin-remote`; {SEND_IT}"
            ),
            None => format!(
                "the endpoints under /_mock/ and /metrics answer only programs on the server's own machine; \
                 start the server with `--admin-remote TOKEN` and {SEND_IT}"
            ),
        }))
    }
}

/// Refuses requests of web pages from other servers, for an endpoint that only programs on this machine can reach. `names` are accepted as
/// `Host`, besides addresses and `localhost`. `advice` says how to add a name.
///
/// # Errors
/// Fails if a web page of another server may have sent the request.
pub fn refuse_other_sites(
    version: Version,
    uri: &Uri,
    headers: &HeaderMap,
    names: &[String],
    advice: &str,
) -> Result<(), Refusal> {
    own_origin(headers)?;
    own_host(version, uri, headers, names, advice)
}

/// Refuses requests of pages from another origin (RFC 6454). If a page is from this server itself, `Origin` and `Host` name the same
/// server.
fn own_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    let refuse = |origin: &[u8]| {
        Refusal::new(format!(
            "this endpoint refuses requests from web pages (the header `Origin` names `{}`); send the request \
             without `Origin`",
            String::from_utf8_lossy(origin)
        ))
    };
    match only(headers, &ORIGIN) {
        Ok(None) => Ok(()),
        Ok(Some(origin)) => {
            let authority = [&b"http://"[..], b"https://"].iter().find_map(|scheme| {
                let (start, authority) = origin.split_at_checked(scheme.len())?;
                start.eq_ignore_ascii_case(scheme).then_some(authority)
            });
            match (authority, only(headers, &HOST)) {
                (Some(authority), Ok(Some(host))) if authority.eq_ignore_ascii_case(host) => Ok(()),
                _ => Err(refuse(origin)),
            }
        }
        Err(first) => Err(refuse(first)),
    }
}

/// Refuses requests whose `Host` is a name. Only addresses, `localhost` and `names` are accepted, because any other name may have been
/// resolved to this machine by an attacker.
fn own_host(
    version: Version,
    uri: &Uri,
    headers: &HeaderMap,
    names: &[String],
    advice: &str,
) -> Result<(), Refusal> {
    let check = |host: &[u8]| {
        if is_own(host, names) {
            return Ok(());
        }
        let host = String::from_utf8_lossy(host).into_owned();
        let error = format!(
            "the header `Host` names `{host}`, which other sites could control; use the server's IP address \
             or `localhost`, or {advice}"
        );
        Err(Refusal { error, host: Some(host) })
    };
    // RFC 9112, section 3.2.2: the authority of the request target takes precedence over `Host`. This server requires both to be valid.
    uri.authority().map_or(Ok(()), |authority| check(authority.as_str().as_bytes()))?;
    match only(headers, &HOST) {
        Ok(Some(host)) => check(host),
        // `Host` is optional in HTTP/1.0. Requests without it are accepted, because no browser uses HTTP/1.0.
        Ok(None) if version < Version::HTTP_11 => Ok(()),
        Ok(None) => Err(Refusal::new(
            "the request has no header `Host`; send one with the server's IP address or `localhost`",
        )),
        Err(_) => Err(Refusal::new("the request has more than one header `Host`; send only one")),
    }
}

fn is_own(host: &[u8], names: &[String]) -> bool {
    let Ok(text) = std::str::from_utf8(host) else { return false };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        let port_follows = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        return port_follows && address.parse::<Ipv6Addr>().is_ok();
    }
    let (name, port) = text.split_once(':').unwrap_or((text, ""));
    let is_named = || names.iter().any(|own| own.eq_ignore_ascii_case(name));
    let is_address = || name.parse::<std::net::Ipv4Addr>().is_ok();
    is_port(port) && (name.eq_ignore_ascii_case("localhost") || is_named() || is_address())
}

/// Returns the value of a header, or `None` if it is missing. If the header occurs more than once, returns its first value as an error.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a [u8]>, &'a [u8]> {
    let mut values = headers.get_all(name).iter().map(axum::http::HeaderValue::as_bytes);
    match (values.next(), values.next()) {
        (Some(first), Some(_)) => Err(first),
        (value, _) => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const LOOPBACK: &str = "127.0.0.1";
    const REMOTE: &str = "192.0.2.7";

    struct AdminRequest<'a> {
        peer: &'a str,
        version: Version,
        uri: &'a str,
        headers: &'a [(&'static str, &'static str)],
    }

    fn is_let_in(access: &Access, asked: &AdminRequest<'_>) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in asked.headers {
            headers.append(*name, HeaderValue::from_static(value));
        }
        access
            .check(asked.peer.parse().unwrap(), asked.version, &asked.uri.parse().unwrap(), &headers)
            .is_ok()
    }

    fn from_loopback(headers: &[(&'static str, &'static str)]) -> bool {
        let asked = AdminRequest { peer: LOOPBACK, version: Version::HTTP_11, uri: "/_mock/stats", headers };
        is_let_in(&Access::default(), &asked)
    }

    #[test]
    fn a_host_must_be_an_address_or_localhost() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:8503",
            "192.0.2.1:80",
            "localhost",
            "LocalHost:1",
            "[::1]",
            "[::1]:8503",
            "127.0.0.1:",
        ] {
            assert!(from_loopback(&[("host", host)]), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8503",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil@127.0.0.1",
            "127.0.0.1@evil.example",
            "127.0.0.1:80@evil",
            "localhost:evil",
            "[::1",
            "[::1]evil",
            "[::1]:evil",
            "::1",
            "[evil]",
            "127.0.0.1, evil.example",
            "127.0.0.1 ",
            "localhost/",
        ] {
            assert!(!from_loopback(&[("host", host)]), "{host}");
        }
        assert!(!from_loopback(&[]));
        assert!(!from_loopback(&[("host", "127.0.0.1"), ("host", "evil.example")]));
        assert!(!from_loopback(&[("host", "127.0.0.1"), ("host", "127.0.0.1")]));
    }

    #[test]
    fn the_host_of_an_absolute_form_counts_too() {
        let asked = |uri, version, headers| {
            is_let_in(&Access::default(), &AdminRequest { peer: LOOPBACK, version, uri, headers })
        };
        let own = &[("host", "127.0.0.1:8503")][..];
        assert!(asked("http://localhost:8503/_mock/stats", Version::HTTP_11, own));
        assert!(!asked("http://evil.example/_mock/stats", Version::HTTP_11, own));
        assert!(!asked("http://127.0.0.1/_mock/stats", Version::HTTP_11, &[("host", "evil.example")]));
        assert!(asked("/_mock/stats", Version::HTTP_10, &[]));
        assert!(!asked("http://evil.example/_mock/stats", Version::HTTP_10, &[]));
        assert!(!asked("/_mock/stats", Version::HTTP_10, &[("host", "evil.example")]));
    }

    #[test]
    fn a_page_of_another_origin_gets_nothing() {
        for (origin, host, expected) in [
            ("http://127.0.0.1:8503", "127.0.0.1:8503", true),
            ("HTTP://LOCALHOST:8503", "localhost:8503", true),
            ("http://127.0.0.1:3000", "127.0.0.1:8503", false),
            ("http://evil.example", "127.0.0.1:8503", false),
            ("http://evil.example", "evil.example", false),
            ("null", "127.0.0.1:8503", false),
            ("", "127.0.0.1:8503", false),
            ("file://", "", false),
            ("http://", "", false),
        ] {
            assert_eq!(from_loopback(&[("host", host), ("origin", origin)]), expected, "{origin} {host}");
        }
        let own = ("origin", "http://127.0.0.1");
        assert!(!from_loopback(&[("host", "127.0.0.1"), own, ("origin", "http://evil.example")]));
    }

    #[test]
    fn a_further_name_is_accepted_as_host_and_as_origin() {
        let names = ["judge.test".to_owned()];
        let accepts = |host, origin| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static(host));
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            refuse_other_sites(Version::HTTP_11, &Uri::from_static("/"), &headers, &names, "").is_ok()
        };
        assert!(accepts("Judge.Test:80", "http://judge.test:80"));
        assert!(!accepts("judge.test", "http://evil.example"));
        assert!(!accepts("judge.test.evil.example", "http://judge.test.evil.example"));
    }

    #[test]
    fn other_hosts_need_the_token_and_with_it_any_name_will_do() {
        let access = Access { token: Some(AdminToken::typed("--flag", "s3cret").unwrap()) };
        let named = ("host", "mock.example:8503");
        let right = ("authorization", "Bearer s3cret");
        for (peer, headers, expected) in [
            (REMOTE, &[("host", "192.0.2.1")][..], false),
            (REMOTE, &[named], false),
            (REMOTE, &[named, right], true),
            (REMOTE, &[named, ("authorization", "Bearer wrong")], false),
            (REMOTE, &[named, right, ("authorization", "Bearer wrong")], false),
            (REMOTE, &[named, right, ("origin", "http://evil.example")], false),
            (LOOPBACK, &[named], false),
            (LOOPBACK, &[named, right], true),
            (LOOPBACK, &[("host", "localhost")], true),
            ("::ffff:127.0.0.1", &[("host", "localhost")], true),
            ("::ffff:192.0.2.7", &[("host", "localhost")], false),
        ] {
            let asked = AdminRequest { peer, version: Version::HTTP_11, uri: "/_mock/stats", headers };
            assert_eq!(is_let_in(&access, &asked), expected, "{peer} {headers:?}");
        }
        let asked = AdminRequest {
            peer: REMOTE,
            version: Version::HTTP_11,
            uri: "/metrics",
            headers: &[named, right],
        };
        assert!(!is_let_in(&Access::default(), &asked));
    }
}
