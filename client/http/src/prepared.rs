//! What attempts send: everything that does not differ between them is made once, whichever transport carries it.

use http::header::{
    ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, IF_MATCH, USER_AGENT,
};
use http::{HeaderMap, Method, Uri};
use loadgen_core::{Launched, OperationKind};
use reqwest::Url;
use vocabulary::wire;

use crate::asked::Asked;
use crate::transport::{RunHeaders, TransportConfig, TransportError};

/// Who sends: operators of servers want to know whom to ask.
pub(crate) const AGENT: &str = concat!("tailback-loadgen/", env!("CARGO_PKG_VERSION"));

// Parsed once, not per attempt.
const OWN: [HeaderName; 3] = [
    HeaderName::from_static(wire::OP),
    HeaderName::from_static(wire::ATTEMPT),
    HeaderName::from_static(wire::CLIENT),
];
const LEAST_FREE: HeaderName = HeaderName::from_static(wire::LEAST_FREE);

/// How a request names what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By its path; the host is a header. HTTP/1.1.
    Path,
    /// By the whole URI; there is no `Host` header. HTTP/2.
    Whole,
}

/// What the attempts of a run send.
#[derive(Debug)]
pub(crate) struct Prepared {
    plain: Template,
    /// Headers of the read before a conditional write, if attempts are such pairs; the template is that of the write.
    read: Option<HeaderMap>,
    /// What differs by op, if anything does: kinds of requests instead of the plain one, and API keys.
    asked: Option<Asked>,
    body: bytes::Bytes,
    run: Option<RunHeaders>,
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

/// One request of an attempt.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The only one.
    Only,
    /// The read before a conditional write.
    Read,
    /// The write, under the condition that the object still has this tag.
    Write(HeaderValue),
}

/// A request, ready to be sent.
pub(crate) struct Rendered<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a Url,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: bytes::Bytes,
}

impl Prepared {
    /// All that attempts of this run have in common.
    ///
    /// # Errors
    /// When HTTP does not allow a header, or a kind's method or path.
    pub(crate) fn new(config: &TransportConfig, naming: Naming) -> Result<Self, TransportError> {
        let mut headers = HeaderMap::new();
        if config.run.is_some() {
            // These come first: every attempt has its own.
            for name in OWN {
                headers.insert(name, HeaderValue::from_static("0"));
            }
        }
        headers.extend(config.request.headers.clone());
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        let host = HeaderValue::from_str(&config.target.authority()).map_err(TransportError::Host)?;
        let host = headers.entry(HOST).or_insert(host).clone();
        if naming == Naming::Whole {
            headers.remove(HOST);
        }
        if let Some(run) = config.run {
            let id = HeaderValue::from_str(&format!("{:016x}", run.run)).map_err(TransportError::Host)?;
            headers.insert(HeaderName::from_static(wire::RUN), id);
            headers.insert(HeaderName::from_static(wire::SEED), HeaderValue::from(run.seed));
        }
        let plain = Template {
            method: config.request.method.clone(),
            uri: named(config.target.requested(), naming, &host)?,
            url: config.target.requested().clone(),
            headers,
            has_body: true,
        };
        let is_mock = config.run.is_some();
        let name = |url: &Url| named(url, naming, &host);
        let asked = Asked::new(&config.requests, config.seed, &plain, is_mock, &name)?;
        let body = config.request.body.clone();
        let prepared = Self { plain, read: None, asked, body, run: config.run };
        Ok(match config.kind {
            OperationKind::Request => prepared,
            OperationKind::ReadModifyWrite => prepared.reading_first(),
        })
    }

    /// The same for read-modify-writes.
    ///
    /// A read-modify-write is a GET and then at once a PUT with the GET's entity tag as `If-Match`, whatever method was
    /// given; the body goes with the PUT. The tag means nothing here: it is sent back as it came.
    fn reading_first(mut self) -> Self {
        self.plain.method = Method::PUT;
        self.plain.headers.remove(IF_MATCH);
        let mut headers = self.plain.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
        if self.run.is_some() {
            let read = HeaderValue::from_static(wire::STEP_READ);
            headers.insert(HeaderName::from_static(wire::STEP), read);
        }
        self.read = Some(headers);
        self
    }

    /// Whether attempts are a read and a conditional write.
    pub(crate) fn reads_first(&self) -> bool {
        self.read.is_some()
    }

    /// The request of plain ops: what a question that is no work is asked like.
    pub(crate) fn plain(&self) -> &Template {
        &self.plain
    }

    /// One request of an attempt.
    pub(crate) fn render(&self, attempt: &Launched, step: &Step) -> Rendered<'_> {
        let kind = self.asked.as_ref().and_then(|asked| asked.kind_of(attempt.op));
        let template = kind.unwrap_or(&self.plain);
        let (method, common, has_body) = match (step, &self.read) {
            (Step::Read, Some(read)) => (&Method::GET, read, false),
            _ => (&template.method, &template.headers, template.has_body),
        };
        // A copy of a map is much cheaper than a map built anew, and its first values are found without their names.
        let mut headers = common.clone();
        if self.run.is_some() {
            let own = [attempt.op, attempt.ordinal.into(), attempt.client.into()];
            for (value, own) in headers.values_mut().zip(own) {
                *value = number(own);
            }
            // The first request of an attempt says what must be free for it to start; only a mockserver understands that.
            if attempt.least_free > 0 && !matches!(step, Step::Write(_)) {
                headers.insert(LEAST_FREE, HeaderValue::from(attempt.least_free));
            }
        }
        if let Step::Write(tag) = step {
            headers.insert(IF_MATCH, tag.clone());
        }
        if let Some(asked) = &self.asked {
            asked.authorize(attempt.op, &mut headers);
        }
        let body = if has_body { self.body.clone() } else { bytes::Bytes::new() };
        Rendered { method: method.clone(), url: &template.url, uri: &template.uri, headers, body }
    }
}

/// A number as the value of a header. Most are small, and need no memory then.
fn number(number: u64) -> HeaderValue {
    const SMALL: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let small = usize::try_from(number).ok().and_then(|number| SMALL.get(number));
    small.map_or_else(|| HeaderValue::from(number), |text| HeaderValue::from_static(text))
}

/// A URL as requests name it.
fn named(url: &Url, naming: Naming, host: &HeaderValue) -> Result<Uri, TransportError> {
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
