//! Maps errors of the HTTP and TLS libraries to kinds of failure, such as a refused connection.

use std::error::Error;
use std::io;

use loadgen_core::ErrorKind;
use rustls::CertificateError;

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
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(kind) = of(cause) {
            return match (kind, stage) {
                (ErrorKind::Closed, Stage::Answering) => ErrorKind::Truncated,
                // If a connection was closed while it was being established, it was closed during the TLS handshake.
                (ErrorKind::Closed, Stage::Connecting) => ErrorKind::Tls,
                _ => kind,
            };
        }
        next = cause.source();
    }
    if stage == Stage::Answering { ErrorKind::Truncated } else { ErrorKind::Other }
}

fn of(cause: &(dyn Error + 'static)) -> Option<ErrorKind> {
    if let Some(error) = cause.downcast_ref::<rustls::Error>() {
        return Some(tls(error));
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

fn tls(error: &rustls::Error) -> ErrorKind {
    match error {
        rustls::Error::InvalidMessage(_) => ErrorKind::PlainHttp,
        _ => ErrorKind::Tls,
    }
}

/// Returns true if the server sent a TLS alert. An alert shows that the server uses TLS, although no TLS connection was established.
pub(crate) fn is_tls_alert(error: &reqwest::Error) -> bool {
    matches!(rustls_error(error), Some(rustls::Error::AlertReceived(_)))
}

pub(crate) fn is_tls(error: &reqwest::Error) -> bool {
    rustls_error(error).is_some()
}

pub(crate) fn refused_certificate(error: &(dyn Error + 'static)) -> Option<&'static str> {
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

fn rustls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next: Option<&'a (dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        // An I/O error may contain another error, which `source` does not return. The inner error may itself be an I/O
        // error.
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => cause.source(),
        };
    }
    None
}
