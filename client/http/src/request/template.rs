//! Templates of requests: the parts that all requests of one kind share. They are built once, so that an attempt only copies
//! them.

use http::header::HeaderValue;
use http::{HeaderMap, Method, Uri};
use reqwest::Url;

use crate::transport::TransportError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Only the path, for HTTP/1.1, where the `Host` header contains the host.
    Path,
    /// Requests contain the complete URI, because HTTP/2 requests have no `Host` header.
    Whole,
}

#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) has_body: bool,
}

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
