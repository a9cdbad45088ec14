//! Target of attempts: a URL whose host is resolved once.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use http::HeaderValue;
use reqwest::Url;
use thiserror::Error;

/// Host name that replaces a literal IP address in requests, because the HTTP client looks up a name faster than it parses an
/// address (a saving of a fifth of the instructions of an attempt). A short name is fastest, because it is parsed and hashed
/// for every attempt. The `Host` header still has the address as given on the command line.
const STAND_IN: &str = "target";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    pub insecure: bool,
    /// A PEM file with certificates that are trusted instead of the system's certificates.
    pub roots_pem: Option<Vec<u8>>,
    pub identity: Option<IdentityPem>,
}

/// Certificate of the client and its private key, as PEM text. Both may be the text of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityPem {
    /// Certificate of the client, followed by those of its issuers.
    pub certificates: Vec<u8>,
    pub key: Vec<u8>,
}

/// Rule that sends connections for one host and port to another address: `HOST:PORT:ADDRESS:PORT`. An empty host or port before the
/// address matches any; an empty address or port after it leaves that of the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    from: (String, Option<u16>),
    to: (String, Option<u16>),
}

impl ConnectTo {
    fn applies(&self, host: &str, port: u16) -> bool {
        let (of_host, of_port) = &self.from;
        (of_host.is_empty() || of_host == host) && of_port.is_none_or(|of_port| of_port == port)
    }
}

impl FromStr for ConnectTo {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "write it as `HOST:PORT:ADDRESS:PORT`, such as `api.example.com:443:127.0.0.1:8443`; each part may be \
                            empty, and an IPv6 address has brackets";
        let mut is_within = false;
        let parts: Vec<&str> = text
            .split(|letter| {
                is_within = letter == '[' || is_within && letter != ']';
                letter == ':' && !is_within
            })
            .collect();
        let [host, port, address, to_port] = parts[..] else { return Err(FORM) };
        // Names are compared in the form of URLs: lower case, and ASCII (punycode).
        let host_name = |text: &str| {
            let url = Url::parse(&format!("http://{text}/")).ok();
            let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
            let is_host = url.as_ref().is_some_and(|url| url.as_str() == format!("http://{host}/"));
            match (text, is_host && !host.contains('*')) {
                ("", _) => Ok(String::new()),
                (_, false) => Err(FORM),
                (_, true) => Ok(host.trim_matches(['[', ']']).to_owned()),
            }
        };
        let number = |port: &str| match port {
            "" => Ok(None),
            port => port.parse().map(|port: NonZero<u16>| Some(port.get())).map_err(|_| FORM),
        };
        Ok(Self { from: (host_name(host)?, number(port)?), to: (host_name(address)?, number(to_port)?) })
    }
}

#[derive(Clone, Debug)]
pub struct Target {
    /// URL as given on the command line.
    typed: Url,
    /// URL as used in requests. It differs from `typed` if the host is an IP address, which is replaced by [`STAND_IN`], or if a
    /// [`ConnectTo`] changes the port.
    pub(crate) requested: Url,
    addresses: Vec<SocketAddr>,
    /// True if a [`ConnectTo`] led to the addresses.
    is_redirected: bool,
    pub(crate) trust: Trust,
    /// Set when the server asks for a client certificate.
    pub(crate) asks_for_certificate: Arc<AtomicBool>,
    /// `Authorization` value for a mockserver's admin endpoints.
    pub(crate) admin: Option<HeaderValue>,
}

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    #[error("`{text}` is no URL; write for example `http://127.0.0.1:8503/`")]
    NoUrl { text: String },
    #[error("`{text}` is neither http nor https; write for example `http://127.0.0.1:8503/`")]
    Scheme { text: String },
    #[error(
        "the target's URL holds a user name or password, which would end up in results; leave it out and give \
         `-H 'Authorization: …'`"
    )]
    Credentials,
    #[error(
        "`--connect-to` cannot redirect `{text}`, because TLS checks its IP address; write a host name in the URL"
    )]
    Literal { text: String },
    #[error("the host `{host}` of {place} could not be resolved; check its spelling and the network")]
    Unresolved {
        host: String,
        place: &'static str,
        #[source]
        source: Option<std::io::Error>,
    },
}

impl Target {
    /// Parses a URL (`host:port` counts as http) and resolves its host, or the address to which the first matching rule leads.
    ///
    /// # Errors
    /// Fails if the text is not an http or https URL, or if no address is found for the host.
    pub fn resolve(text: &str, trust: Trust, rules: &[ConnectTo]) -> Result<Self, TargetError> {
        let typed = parse(text)?;
        // The host of a URL has brackets around an IPv6 address, which are removed before the address is parsed.
        let own_host = typed.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let own_port = typed.port_or_known_default().unwrap_or(80);
        let literal: Option<IpAddr> = own_host.parse().ok();
        let rule = rules.iter().find(|rule| rule.applies(own_host, own_port));
        let has_address = rule.is_some_and(|rule| !rule.to.0.is_empty());
        let place = if has_address { "`--connect-to`" } else { "the target" };
        let (host, port) = match rule {
            Some(_) if literal.is_some() && typed.scheme() == "https" => {
                return Err(TargetError::Literal { text: text.to_owned() });
            }
            Some(ConnectTo { to: (host, port), .. }) => {
                (if host.is_empty() { own_host } else { host }, port.unwrap_or(own_port))
            }
            None => (own_host, own_port),
        };
        let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>().ok() {
            Some(ip) => vec![SocketAddr::new(ip, port)],
            None => std::net::ToSocketAddrs::to_socket_addrs(&(host, port))
                .map_err(|source| TargetError::Unresolved {
                    host: host.to_owned(),
                    place,
                    source: Some(source),
                })?
                .collect(),
        };
        if addresses.is_empty() {
            return Err(TargetError::Unresolved { host: host.to_owned(), place, source: None });
        }
        let mut requested = typed.clone();
        if literal.is_some() && typed.scheme() == "http" {
            // An https URL keeps its host, because the server's certificate is checked against it.
            requested.set_host(Some(STAND_IN)).map_err(|_| TargetError::NoUrl { text: text.to_owned() })?;
        }
        if port != own_port {
            requested.set_port(Some(port)).map_err(|()| TargetError::NoUrl { text: text.to_owned() })?;
        }
        let asks_for_certificate = Arc::default();
        let is_redirected = rule.is_some();
        Ok(Self { typed, requested, addresses, is_redirected, trust, asks_for_certificate, admin: None })
    }

    /// Sets the `Authorization` value for a mockserver's admin endpoints. Servers other than mockservers never receive this value.
    #[must_use]
    pub fn with_admin(self, authorization: Option<HeaderValue>) -> Self {
        Self { admin: authorization, ..self }
    }

    /// Returns the URL as given on the command line, in normalised form.
    pub fn url(&self) -> &Url {
        &self.typed
    }

    /// Returns this target with another path and without a query.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Self {
        let mut other = self.clone();
        for url in [&mut other.typed, &mut other.requested] {
            url.set_path(path);
            url.set_query(None);
        }
        other
    }

    /// Returns the root path of the same host and port with the scheme `to`, where any certificate is accepted. `None` if
    /// the target's scheme is not `from`.
    pub(crate) fn over(&self, from: &str, to: &str) -> Option<Self> {
        let mut other = self.with_path("/").with_admin(None);
        let port = self.requested.port_or_known_default();
        other.typed.set_scheme(to).ok().filter(|()| self.typed.scheme() == from)?;
        other.typed.set_port(port).ok()?;
        other.requested = other.typed.clone();
        other.trust = Trust { insecure: true, ..Trust::default() };
        Some(other)
    }

    /// Returns true if no third party can read the requests: the server is on this machine, or proves its identity over TLS.
    pub fn is_private(&self) -> bool {
        self.is_loopback() || self.typed.scheme() == "https" && !self.trust.insecure
    }

    pub fn asks_for_certificate(&self) -> bool {
        self.asks_for_certificate.load(Relaxed)
    }

    pub fn has_certificate(&self) -> bool {
        self.trust.identity.is_some()
    }

    pub fn is_redirected(&self) -> bool {
        self.is_redirected
    }

    pub fn is_loopback(&self) -> bool {
        self.addresses.iter().all(|address| address.ip().to_canonical().is_loopback())
    }

    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns host and port as given on the command line, for the `Host` header of HTTP/1.1 or the authority of HTTP/2.
    pub(crate) fn authority(&self) -> String {
        let host = self.typed.host_str().unwrap_or_default();
        self.typed.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns the value of the `Host` header; `None` if the HTTP client sets the right value by default.
    pub(crate) fn host_header(&self) -> Option<String> {
        let Self { requested, typed, .. } = self;
        (requested.host_str() != typed.host_str() || requested.port() != typed.port())
            .then(|| self.authority())
    }
}

fn parse(text: &str) -> Result<Url, TargetError> {
    let refuse = || TargetError::NoUrl { text: place(text) };
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&with_scheme).map_err(|_| refuse())?;
    // The user name and password are checked first, because other errors quote the URL, and with it the password.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TargetError::Credentials);
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(TargetError::Scheme { text: place(text) });
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(refuse());
    }
    Ok(url)
}

/// Returns the text without user, password and query, because these may contain secrets.
fn place(text: &str) -> String {
    let place = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    match rest.rsplit_once('@') {
        None => place.to_owned(),
        Some((_, host)) if scheme.is_empty() => format!("…@{host}"),
        Some((_, host)) => format!("{scheme}://…@{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<Target, TargetError> {
        Target::resolve(text, Trust::default(), &[])
    }

    #[test]
    fn a_literal_address_is_requested_by_name_and_sent_as_given() {
        for (text, host) in [("http://127.0.0.1:8503/work", "127.0.0.1:8503"), ("[::1]:81", "[::1]:81")] {
            let target = resolve(text).unwrap();
            assert_eq!(target.host_header().as_deref(), Some(host));
            assert_eq!(target.requested.host_str(), Some(STAND_IN));
            assert_eq!(target.addresses().len(), 1);
        }
        assert_eq!(resolve("https://127.0.0.1").unwrap().host_header(), None);
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in ["", "http://", "ftp://127.0.0.1", "http://[::1", "mailto:me"] {
            let error = resolve(text).unwrap_err().to_string();
            assert!(error.contains("http://127.0.0.1:8503/"), "{text}: {error}");
        }
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        for scheme in ["http", "ftp"] {
            let error = resolve(&format!("{scheme}://bob:secret@127.0.0.1/")).unwrap_err().to_string();
            assert!(error.contains("Authorization") && !error.contains("secret"), "{error}");
        }
        for text in ["http://bob:secret@[::1", "ftp://127.0.0.1/?key=secret", "bob:secret@[::1?secret"] {
            let error = resolve(text).unwrap_err().to_string();
            assert!(error.contains("::1") || error.contains("127.0.0.1/`"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn only_loopback_and_verified_tls_are_private() {
        for (text, private) in [
            ("http://127.0.0.1", true),
            ("http://[::1]", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://192.0.2.1", false),
            ("https://192.0.2.1", true),
        ] {
            assert_eq!(resolve(text).unwrap().is_private(), private, "{text}");
        }
        let trust = Trust { insecure: true, ..Trust::default() };
        assert!(!Target::resolve("https://192.0.2.1", trust, &[]).unwrap().is_private());
    }

    #[test]
    fn a_name_that_does_not_exist_is_named() {
        let error = resolve("http://no-such-host.invalid/").unwrap_err().to_string();
        assert!(error.contains("no-such-host.invalid"), "{error}");
    }
}
