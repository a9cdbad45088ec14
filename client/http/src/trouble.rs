//! From an error of the HTTP client to the kind of trouble it means.

use std::error::Error;
use std::io;

use loadgen_core::ErrorKind;
use rustls::CertificateError;

use crate::trust;

/// Too many open files: the process's limit, and the system's.
const NO_FILES: [i32; 2] = [24, 23];

/// What went wrong when no answer came; with `answering` its head was there already.
pub(crate) fn kind(error: &reqwest::Error, answering: bool) -> ErrorKind {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(kind) = of(cause) {
            return match kind {
                ErrorKind::Closed if answering => ErrorKind::Truncated,
                // A handshake that ends in the middle.
                ErrorKind::Closed if error.is_connect() => ErrorKind::Tls,
                kind => kind,
            };
        }
        next = cause.source();
    }
    match () {
        () if error.is_timeout() => ErrorKind::Unreachable,
        () if answering => ErrorKind::Truncated,
        () => ErrorKind::Other,
    }
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
                // A reset in the middle of a message is a reset.
                error.source().and_then(of).or(Some(ErrorKind::Closed))
            }
            () => None,
        };
    }
    let error = cause.downcast_ref::<io::Error>()?;
    // What an I/O error wraps is not among its sources.
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

/// Whether the other side spoke TLS, although no connection came of it.
pub(crate) fn is_tls_alert(error: &reqwest::Error) -> bool {
    matches!(rustls_error(error), Some(rustls::Error::AlertReceived(_)))
}

/// Whether it is TLS itself that found something wrong.
pub(crate) fn is_tls(error: &reqwest::Error) -> bool {
    rustls_error(error).is_some()
}

/// What is wrong with the certificate, where the library's own words are names of its types.
pub(crate) fn refused_certificate(error: &reqwest::Error) -> Option<&'static str> {
    match rustls_error(error)? {
        authority if trust::is_authority_as_server(authority) => {
            Some("its certificate calls itself an authority, and is not one that was named")
        }
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            Some("nobody who is trusted has signed its certificate")
        }
        _ => None,
    }
}

fn rustls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        // What an I/O error wraps is not among its sources, and may be one itself.
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => cause.source(),
        };
    }
    None
}
