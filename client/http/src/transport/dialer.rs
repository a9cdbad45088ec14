//! Opening of connections to a target: TCP, and TLS for https URLs.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use loadgen_core::ErrorKind;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::config::{TransportConfig, TransportError};
use crate::error_kind::{Stage, kind};
use crate::target::Target;
use crate::tls;

/// Opens connections for transports that manage their connections themselves (`hyper`, `http2`). reqwest opens its own connections.
pub(crate) struct Dialer {
    addresses: Vec<SocketAddr>,
    /// Index of the server address to which the last connection was opened. If this address is unreachable, the server's other addresses
    /// are tried.
    good: AtomicUsize,
    /// Local addresses that connections use in turn. If the list is empty, the system chooses.
    local: Arc<[IpAddr]>,
    dialed: AtomicUsize,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    timeout: Duration,
}

impl Dialer {
    /// Creates a dialer for the target of `config`. With TLS, the dialer offers `protocols` to the server (ALPN).
    ///
    /// # Errors
    /// Fails if the certificates to trust cannot be read.
    pub(crate) fn new(config: &TransportConfig, protocols: &[&[u8]]) -> Result<Self, TransportError> {
        Self::to(&config.target, config.local_addresses.clone(), config.timeout, protocols)
    }

    /// Variant of `new` for connections outside a run. Opening a connection may take at most `timeout`, in real time.
    pub(crate) fn to(
        target: &Target,
        local: Arc<[IpAddr]>,
        timeout: Duration,
        protocols: &[&[u8]],
    ) -> Result<Self, TransportError> {
        let tls = match target.url().scheme() {
            "https" => {
                let mut tls: ClientConfig = tls::config(target)?;
                tls.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
                // In a URL, an IPv6 address has brackets. A server name in TLS must not have them, so they are removed.
                let host = target.url().host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
                let name = ServerName::try_from(host);
                let name = name.map_err(|error| TransportError::Client(error.into()))?;
                Some((TlsConnector::from(Arc::new(tls)), name))
            }
            _ => None,
        };
        Ok(Self {
            addresses: target.addresses().to_vec(),
            good: AtomicUsize::new(0),
            local,
            dialed: AtomicUsize::new(0),
            tls,
            timeout,
        })
    }

    pub(crate) async fn dial(&self) -> Result<Stream, ErrorKind> {
        self.open().await.map_err(|(_, kind)| kind)
    }

    /// Opens a connection without sending anything over it.
    ///
    /// # Errors
    /// Fails if the server cannot be reached in time, or if the TLS handshake fails.
    pub(crate) async fn open(&self) -> Result<Stream, (io::Error, ErrorKind)> {
        let connected = tokio::time::timeout(self.timeout, self.connect()).await;
        let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        connected.map_err(|error| {
            let kind = kind(&error, Stage::Connecting);
            (error, kind)
        })
    }

    async fn connect(&self) -> io::Result<Stream> {
        let stream = self.reach().await?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            None => Stream::Plain(stream),
            Some((connector, name)) => Stream::Tls(Box::new(connector.connect(name.clone(), stream).await?)),
        })
    }

    async fn reach(&self) -> io::Result<TcpStream> {
        let first = self.good.load(Relaxed);
        let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for tried in 0..self.addresses.len() {
            let index = (first + tried) % self.addresses.len();
            match self.reach_at(self.addresses[index]).await {
                Ok(stream) => {
                    self.good.store(index, Relaxed);
                    return Ok(stream);
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    async fn reach_at(&self, address: SocketAddr) -> io::Result<TcpStream> {
        if self.local.is_empty() {
            return TcpStream::connect(address).await;
        }
        let of_its_kind = || self.local.iter().filter(|local| local.is_ipv4() == address.is_ipv4());
        let turn = self.dialed.fetch_add(1, Relaxed) % of_its_kind().count().max(1);
        let local = of_its_kind().nth(turn).ok_or(io::ErrorKind::AddrNotAvailable)?;
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.bind(SocketAddr::new(*local, 0))?;
        socket.connect(address).await
    }
}

pub(crate) enum Stream {
    Plain(TcpStream),
    /// Connection with TLS. The stream is boxed, because a TLS session is large and most connections have none.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Returns true if client and server agreed on `protocol` during the TLS handshake (ALPN). Returns true without TLS, because then
    /// nothing is negotiated and both sides must know the protocol in advance.
    pub(crate) fn agreed_on(&self, protocol: &[u8]) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(protocol),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
