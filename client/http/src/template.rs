//! What requests of one kind have in common: made once, so that an attempt only copies it.

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
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
    /// Line and headers as HTTP/1.1 writes them, without what each attempt has of its own and the empty line; nothing where more must be
    /// known of the protocol than how a plain request is written.
    pub(crate) wire: Option<bytes::Bytes>,
}

impl Template {
    /// Line and headers as HTTP/1.1 writes them, see [`Self::wire`]; the first `own` headers are what each attempt has of its
    /// own, and `body` is the length of what is sent with it, in bytes.
    pub(crate) fn written_out(&self, own: usize, body: usize) -> Option<bytes::Bytes> {
        // Answers to these are read in another way, and these headers say how a message is read (RFC 9110, sections 7.6 to 10.1).
        const NOT_PLAIN: [HeaderName; 7] =
            [CONNECTION, CONTENT_LENGTH, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
        if [Method::HEAD, Method::CONNECT].contains(&self.method)
            || NOT_PLAIN.iter().any(|name| self.headers.contains_key(name))
        {
            return None;
        }
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.uri).into_bytes();
        let mut line =
            |name: &[u8], value: &[u8]| out.extend_from_slice(&[name, b": ", value, b"\r\n"].concat());
        for (name, value) in self.headers.iter().skip(own) {
            line(name.as_str().as_bytes(), value.as_bytes());
        }
        let body = if self.has_body { body } else { 0 };
        // A request without a body says so if its method usually has one (RFC 9110, section 8.6).
        if body > 0 || ![Method::GET, Method::DELETE].contains(&self.method) {
            line(b"content-length", body.to_string().as_bytes());
        }
        Some(out.into())
    }
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
