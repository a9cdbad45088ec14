//! The HTTP client that attempts and questions to a mockserver go through, so that both meet the server in the same way.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Client;

use crate::connecting::Connecting;
use crate::prepared::AGENT;
use crate::target::Target;
use crate::transport::TransportError;
use crate::trust;

/// A client with its own pool of connections, which come from this address, or whichever the system chooses. Connects may take no longer than `connect_timeout`, in real time.
pub(crate) fn client(
    target: &Target,
    from: Option<IpAddr>,
    connect_timeout: Duration,
    connecting: &Connecting,
) -> Result<Client, TransportError> {
    // Another thread may have been first; then its provider serves.
    drop(rustls::crypto::ring::default_provider().install_default());
    let host = target.requested().host_str().unwrap_or_default().to_owned();
    let mut builder = Client::builder()
        .user_agent(AGENT)
        // Attempts are counted: nobody else may retry, redirect or wait.
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        // HTTP/2 would queue streams inside the client where nobody counts them.
        .http1_only()
        .tcp_nodelay(true)
        .local_address(from)
        // Every connection that was opened stays open, because a run sends in waves; but one that a request began to open and
        // then did without must not be one too many.
        .pool_max_idle_per_host(connecting.most())
        .pool_idle_timeout(Duration::from_secs(90))
        .connect_timeout(connect_timeout)
        .connector_layer(connecting.clone())
        .resolve_to_addrs(&host, target.addresses());
    if target.url().scheme() == "http" {
        // Reading the system's certificates costs megabytes and milliseconds, for nothing.
        builder = builder.tls_certs_only([]);
    } else {
        let mut config = trust::config(target.trust())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        builder = builder.tls_backend_preconfigured(config);
    }
    builder.build().map_err(|error| TransportError::Client(error.into()))
}
