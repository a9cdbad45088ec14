//! The HTTP client that sends admin requests to a mockserver and, with the reqwest transport, also the attempts. With one client for both,
//! both reach the server in the same way.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Client;

use super::connecting::Connecting;
use crate::config::TransportError;
use crate::request::AGENT;
use crate::target::Target;
use crate::tls;

/// Creates a client with its own connection pool. Its connections use the local address `from`. If `from` is `None`, the system chooses an
/// address. A connect may take at most `connect_timeout`, in real time.
pub(crate) fn client(
    target: &Target,
    from: Option<IpAddr>,
    connect_timeout: Duration,
    connecting: &Connecting,
) -> Result<Client, TransportError> {
    // Installation fails if a cryptography provider is already installed. The error is ignored, because that provider is used instead.
    drop(rustls::crypto::ring::default_provider().install_default());
    let host = target.requested.host_str().unwrap_or_default().to_owned();
    let mut builder = Client::builder()
        .user_agent(AGENT)
        // The client must not retry, redirect or wait by itself, because the harness counts every attempt.
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        // HTTP/2 is not used, because it would queue streams inside the client, where they are not counted.
        .http1_only()
        .tcp_nodelay(true)
        .local_address(from)
        // Idle connections stay open, up to the maximum number of connections, because a run sends requests in waves. The maximum also
        // applies to connections that a request began to open but then did not need.
        .pool_max_idle_per_host(connecting.most())
        .pool_idle_timeout(Duration::from_secs(90))
        .connect_timeout(connect_timeout)
        .connector_layer(connecting.clone())
        .resolve_to_addrs(&host, target.addresses());
    if target.url().scheme() == "http" {
        // The system's certificates are not read, because they are useless without TLS. Reading them takes megabytes and milliseconds.
        builder = builder.tls_certs_only([]);
    } else {
        let mut config = tls::config(target)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        builder = builder.tls_backend_preconfigured(config);
    }
    builder.build().map_err(|error| TransportError::Client(error.into()))
}
