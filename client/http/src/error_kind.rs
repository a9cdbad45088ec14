//! Maps errors of the HTTP and TLS libraries to kinds of failure, such as a refused connection.

use std::error::Error;
use std::io;
use std::iter::successors;

use loadgen_core::ErrorKind;
use rustls::{AlertDescription, CertificateError};

use crate::tls;

/// OS error numbers for too many open files: in the process (24) and in the whole system (23).
const NO_FILES: [i32; 2] = [24, 23];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Connecting,
    /// The head of the answer had not arrived when the error occurred.
    Asking,
    /// The head of the answer had arrived when the error occurred.
    Answering,
}

/// Classifies an error of reqwest. `answering` is true if the head of the answer had arrived before the error.
pub(crate) fn of_request(error: &reqwest::Error, answering: bool) -> ErrorKind {
    let stage = match () {
        () if error.is_connect() => Stage::Connecting,
        () if answering => Stage::Answering,
        () => Stage::Asking,
    };
    match kind(error, stage) {
        ErrorKind::Other if error.is_timeout() => ErrorKind::Unreachable,
        kind => kind,
    }
}

pub(crate) fn of_stream(error: &h2::Error, stage: Stage) -> ErrorKind {
    match error.get_io() {
        Some(io) => kind(io, stage),
        None if error.is_go_away() && error.is_remote() => ErrorKind::GoAway,
        None if error.is_reset() && error.is_remote() => match stage {
            Stage::Answering => ErrorKind::Truncated,
            _ => ErrorKind::StreamReset,
        },
        // The HTTP/2 library itself reported the error. So the server violated the protocol or uses another one.
        None if error.is_library() => ErrorKind::Unreadable,
        None => kind(error, stage),
    }
}

/// Classifies an error. The chain of its causes is searched for the first error whose kind is recognised.
pub(crate) fn kind(error: &(dyn Error + 'static), stage: Stage) -> ErrorKind {
    match (successors(Some(error), |&cause| cause.source()).find_map(of), stage) {
        (Some(ErrorKind::Closed) | None, Stage::Answering) => ErrorKind::Truncated,
        // If a connection was closed while it was being established, it was closed during the TLS handshake.
        (Some(ErrorKind::Closed), Stage::Connecting) => ErrorKind::Tls,
        (kind, _) => kind.unwrap_or(ErrorKind::Other),
    }
}

fn of(cause: &(dyn Error + 'static)) -> Option<ErrorKind> {
    if let Some(error) = cause.downcast_ref::<rustls::Error>() {
        let is_plain = matches!(error, rustls::Error::InvalidMessage(_));
        return Some(if is_plain { ErrorKind::PlainHttp } else { ErrorKind::Tls });
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        return match () {
            () if error.is_parse_too_large() => Some(ErrorKind::LongHeaders),
            () if error.is_parse() => Some(ErrorKind::Unreadable),
            () if error.is_incomplete_message() || error.is_canceled() || error.is_closed() => {
                // If a known cause, such as a reset, interrupted the message, this cause is the kind of error. Otherwise, the connection
                // was closed.
                error.source().and_then(of).or(Some(ErrorKind::Closed))
            }
            () => None,
        };
    }
    let error = cause.downcast_ref::<io::Error>()?;
    // An I/O error may contain another error, which `source` does not return. So the inner error is examined
    // separately.
    if let Some(wrapped) = error.get_ref()
        && let Some(kind) = of(wrapped)
    {
        return Some(kind);
    }
    if error.raw_os_error().is_some_and(|code| NO_FILES.contains(&code)) {
        return Some(ErrorKind::Exhausted);
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(ErrorKind::Refused),
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
            Some(ErrorKind::Reset)
        }
        io::ErrorKind::UnexpectedEof => Some(ErrorKind::Closed),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable | io::ErrorKind::TimedOut => {
            Some(ErrorKind::Unreachable)
        }
        io::ErrorKind::AddrNotAvailable => Some(ErrorKind::Exhausted),
        _ => None,
    }
}

/// Cause of a failed TLS handshake that the user can fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsProblem {
    /// The certificate of the server is not trusted.
    ServerCertificate,
    /// The server rejected the client certificate or its absence.
    ClientCertificate,
}

impl TlsProblem {
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        match rustls_error(error)? {
            rustls::Error::InvalidCertificate(_) => Some(Self::ServerCertificate),
            rustls::Error::AlertReceived(
                AlertDescription::AccessDenied
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateRequired
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateUnknown
                | AlertDescription::DecryptError
                | AlertDescription::UnknownCA
                | AlertDescription::UnsupportedCertificate,
            ) => Some(Self::ClientCertificate),
            _ => None,
        }
    }
}

/// Describes the problem with the certificate of a server that could not be reached. Returns a text only for problems that the error's own
/// message describes by internal type names. Returns `None` for all other problems.
pub fn refused_certificate(error: &(dyn Error + 'static)) -> Option<&'static str> {
    match rustls_error(error)? {
        authority if tls::is_authority_as_server(authority) => {
            Some("the server's certificate is a certificate authority, but not one given by `--cacert`")
        }
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            Some("the server's certificate is not signed by a trusted authority")
        }
        _ => None,
    }
}

/// Returns the error of the TLS library that caused this error.
pub(crate) fn rustls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    // An I/O error may contain another error, which `source` does not return. The inner error may itself be an I/O
    // error.
    let inner = |&cause: &&'a (dyn Error + 'static)| -> Option<&'a (dyn Error + 'static)> {
        match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => cause.source(),
        }
    };
    successors(Some(error), inner).find_map(|cause| cause.downcast_ref())
}
