//! What requests of one kind have in common: made once, so that an attempt only copies it.

use http::header::HeaderValue;
use http::{HeaderMap, Method, Uri};
use reqwest::Url;

use crate::transport::TransportError;

/// How a request names what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By its path; the host is a header. HTTP/1.1.
    Path,
    /// By the whole URI; there is no `Host` header. HTTP/2.
    Whole,
}

/// What requests of one kind have in common.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// The same, as it is sent.
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) has_body: bool,
}

/// A URL as requests name it.
pub(crate) fn named(url: &Url, naming: Naming, host: &HeaderValue) -> Result<Uri, TransportError> {
    let refuse = || TransportError::Path(url.path().to_owned());
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let uri = match naming {
        Naming::Path => path.parse(),
        Naming::Whole => format!("{}://{}{path}", url.scheme(), host.to_str().map_err(|_| refuse())?).parse(),
    };
    uri.map_err(|_| refuse())
}
