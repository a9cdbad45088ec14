//! Where attempts go: a URL, resolved once.

use std::net::{IpAddr, SocketAddr};

use reqwest::Url;
use thiserror::Error;

/// The name that stands for a literal address in requests: the client looks names up faster than it parses
/// addresses (a fifth of the instructions of an attempt), and short ones fastest: it is parsed and hashed for every
/// attempt. The `Host` header still says what was typed.
const STAND_IN: &str = "target";

/// Which servers to trust over TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Accept any certificate.
    pub insecure: bool,
    /// A PEM file of further certificates to trust.
    pub extra_roots_pem: Option<Vec<u8>>,
}

/// A server to send attempts to.
#[derive(Clone, Debug)]
pub struct Target {
    /// As typed.
    typed: Url,
    /// As requested; differs from `typed` in the host when that is a literal address.
    requested: Url,
    addresses: Vec<SocketAddr>,
    trust: Trust,
}

/// What was typed is no target.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Not a URL.
    #[error("`{text}` is no URL; write for example `http://127.0.0.1:8503/`")]
    NoUrl {
        /// As typed.
        text: String,
    },
    /// A URL of something else than HTTP.
    #[error("`{text}` is neither http nor https; write for example `http://127.0.0.1:8503/`")]
    Scheme {
        /// As typed.
        text: String,
    },
    /// A name or password in the URL.
    #[error(
        "the target's URL holds a user name or password, which would end up in results; leave it out and give \
         `-H 'Authorization: …'`"
    )]
    Credentials,
    /// The host's name leads to no address.
    #[error("the host `{host}` of the target could not be resolved; check its spelling and the network")]
    Unresolved {
        /// The name.
        host: String,
        /// What the system said.
        #[source]
        source: Option<std::io::Error>,
    },
}

impl Target {
    /// Reads a URL (`host:port` counts as http) and resolves its host.
    ///
    /// # Errors
    /// When it is no http or https URL, or the host has no address.
    pub fn resolve(text: &str, trust: Trust) -> Result<Self, TargetError> {
        let typed = parse(text)?;
        let host = typed.host_str().unwrap_or_default();
        let port = typed.port_or_known_default().unwrap_or(80);
        // An IPv6 literal comes in brackets.
        let literal: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let addresses: Vec<SocketAddr> = match literal {
            Some(ip) => vec![SocketAddr::new(ip, port)],
            None => std::net::ToSocketAddrs::to_socket_addrs(&(host, port))
                .map_err(|source| TargetError::Unresolved { host: host.to_owned(), source: Some(source) })?
                .collect(),
        };
        if addresses.is_empty() {
            return Err(TargetError::Unresolved { host: host.to_owned(), source: None });
        }
        let mut requested = typed.clone();
        if literal.is_some() && typed.scheme() == "http" {
            // A certificate is checked against the typed host, so https keeps it.
            requested.set_host(Some(STAND_IN)).map_err(|_| TargetError::NoUrl { text: text.to_owned() })?;
        }
        Ok(Self { typed, requested, addresses, trust })
    }

    /// As typed, normalised.
    pub fn url(&self) -> &Url {
        &self.typed
    }

    /// The same server, another path.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Self {
        let mut other = self.clone();
        for url in [&mut other.typed, &mut other.requested] {
            url.set_path(path);
            url.set_query(None);
        }
        other
    }

    /// The addresses that the host resolved to.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub(crate) fn requested(&self) -> &Url {
        &self.requested
    }

    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The `Host` header when it differs from what the client would send by itself.
    pub(crate) fn host_header(&self) -> Option<String> {
        let host = self.typed.host_str()?;
        let typed = self.typed.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        (self.requested.host_str() != self.typed.host_str()).then_some(typed)
    }
}

fn parse(text: &str) -> Result<Url, TargetError> {
    let refuse = || TargetError::NoUrl { text: text.to_owned() };
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&with_scheme).map_err(|_| refuse())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(TargetError::Scheme { text: text.to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TargetError::Credentials);
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(refuse());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<Target, TargetError> {
        Target::resolve(text, Trust::default())
    }

    #[test]
    fn a_literal_address_is_requested_by_name_and_sent_as_typed() {
        for (text, host) in [("http://127.0.0.1:8503/work", "127.0.0.1:8503"), ("[::1]:81", "[::1]:81")] {
            let target = resolve(text).unwrap();
            assert_eq!(target.host_header().as_deref(), Some(host));
            assert_eq!(target.requested().host_str(), Some(STAND_IN));
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
        let error = resolve("http://bob:secret@127.0.0.1/").unwrap_err().to_string();
        assert!(error.contains("Authorization") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn a_name_that_does_not_exist_is_named() {
        let error = resolve("http://no-such-host.invalid/").unwrap_err().to_string();
        assert!(error.contains("no-such-host.invalid"), "{error}");
    }
}
