//! Prepared requests: the parts that all attempts share are built once, in a form that every transport can use.

use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, IF_MATCH, USER_AGENT,
};
use http::{HeaderMap, Method, Uri};
use loadgen_core::{OperationKind, SentAttempt};
use reqwest::Url;
use vocabulary::wire;

use crate::request::RequestTemplates;
use crate::request::template::{Naming, Template, named};
use crate::transport::{RunHeaders, TransportConfig, TransportError};

/// User agent, which lets operators of servers identify the sender.
pub(crate) const AGENT: &str = concat!("tailback-loadgen/", env!("CARGO_PKG_VERSION"));

/// Headers whose values differ between the attempts of a run. They come first in each template. Their names are constants, so that the
/// names are not parsed for every attempt.
const OWN: [HeaderName; 3] = [
    HeaderName::from_static(wire::OP),
    HeaderName::from_static(wire::ATTEMPT),
    HeaderName::from_static(wire::CLIENT),
];
const MIN_FREE: HeaderName = HeaderName::from_static(wire::MIN_FREE);

#[derive(Debug)]
pub(crate) struct Prepared {
    plain: Template,
    /// Template of the read request that precedes each conditional write; `None` if ops have no read request. If ops have one, `plain` is
    /// the template of the write.
    read: Option<Template>,
    /// Templates for workloads in which requests differ between ops, in the kind of request or in the API key. The template of an op's
    /// request kind replaces `plain`. `None` if all ops have the same request.
    asked: Option<RequestTemplates>,
    body: bytes::Bytes,
    run: Option<RunHeaders>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Only,
    Read,
    /// Conditional write. The server performs it only if the object still has this entity tag.
    Write(HeaderValue),
}

pub(crate) struct Rendered<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a Url,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: bytes::Bytes,
}

impl Prepared {
    /// Builds the parts that all attempts of a run share.
    ///
    /// # Errors
    /// Fails if a header, or the method or path of a kind of request, is not valid in HTTP.
    pub(crate) fn new(config: &TransportConfig, naming: Naming) -> Result<Self, TransportError> {
        let mut headers = HeaderMap::new();
        if config.run.is_some() {
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
        let asked = RequestTemplates::new(&config.requests, config.seed, &plain, is_mock, &name)?;
        let body = config.request.body.clone();
        let mut prepared = Self { plain, read: None, asked, body, run: config.run };
        if config.kind == OperationKind::ReadModifyWrite {
            prepared = prepared.reading_first();
        }
        prepared.declare_empty_bodies();
        Ok(prepared)
    }

    /// Replaces the templates by templates for read-modify-writes.
    ///
    /// A read-modify-write is a GET that is immediately followed by a PUT, regardless of the configured method. Only the PUT has the body.
    /// It sends the GET's entity tag in the header `If-Match`, exactly as received, because entity tags are opaque.
    fn reading_first(mut self) -> Self {
        self.plain.method = Method::PUT;
        self.plain.headers.remove(IF_MATCH);
        let mut read = Template { method: Method::GET, has_body: false, ..self.plain.clone() };
        read.headers.remove(CONTENT_TYPE);
        read.headers.remove(CONTENT_LENGTH);
        if self.run.is_some() {
            let is_read = HeaderValue::from_static(wire::STEP_READ);
            read.headers.insert(HeaderName::from_static(wire::STEP), is_read);
        }
        self.read = Some(read);
        self
    }

    /// Adds `Content-Length: 0` to requests without a body, if requests with their method usually have one (RFC 9110, section 8.6).
    fn declare_empty_bodies(&mut self) {
        const WITHOUT_BODY: [Method; 4] = [Method::GET, Method::HEAD, Method::DELETE, Method::CONNECT];
        let Self { plain, read, asked, body, .. } = self;
        let kinds = asked.iter_mut().flat_map(RequestTemplates::kinds_mut);
        for template in std::iter::once(plain).chain(read).chain(kinds) {
            let has_body = template.has_body && !body.is_empty();
            if !has_body && !WITHOUT_BODY.contains(&template.method) {
                template.headers.entry(CONTENT_LENGTH).or_insert(HeaderValue::from_static("0"));
            }
        }
    }

    pub(crate) fn reads_first(&self) -> bool {
        self.read.is_some()
    }

    /// Returns the request template of ops without a request kind. The templates of admin requests are derived from this template, too.
    pub(crate) fn plain(&self) -> &Template {
        &self.plain
    }

    fn template(&self, attempt: &SentAttempt, step: &Step) -> &Template {
        let kind = || self.asked.as_ref().and_then(|asked| asked.kind_of(attempt.op));
        match (step, &self.read) {
            (Step::Read, Some(read)) => read,
            _ => kind().unwrap_or(&self.plain),
        }
    }

    fn body_of(&self, template: &Template) -> &bytes::Bytes {
        static NONE: bytes::Bytes = bytes::Bytes::new();
        if template.has_body { &self.body } else { &NONE }
    }

    /// Returns the headers of one request that its template does not contain, because their values differ between requests.
    fn own_headers(
        &self,
        attempt: &SentAttempt,
        step: &Step,
    ) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        // With carrier sense, the first request of an attempt includes the minimum number of free slots with which the server
        // may start it. Only a mockserver supports this header.
        let looks = self.run.is_some() && attempt.min_free > 0 && !matches!(step, Step::Write(_));
        let min_free = looks.then(|| (MIN_FREE, HeaderValue::from(attempt.min_free)));
        let tag = if let Step::Write(tag) = step { Some((IF_MATCH, tag.clone())) } else { None };
        let key = self.asked.as_ref().and_then(|asked| asked.authorization(attempt.op));
        min_free.into_iter().chain(tag).chain(key.map(|key| (AUTHORIZATION, key)))
    }

    /// Returns the three numbers that identify an attempt to a mockserver, in the order of the headers [`OWN`]. `None` for other servers.
    fn own_numbers(&self, attempt: &SentAttempt) -> Option<[u64; 3]> {
        self.run.map(|_| [attempt.op, attempt.ordinal.into(), attempt.client.into()])
    }

    pub(crate) fn render(&self, attempt: &SentAttempt, step: &Step) -> Rendered<'_> {
        let template = self.template(attempt, step);
        // Fast path: copies the template's header map, which is much cheaper than building a new one. The headers that differ between
        // attempts come first in the map, so they are found without comparing names.
        let mut headers = template.headers.clone();
        if let Some(own) = self.own_numbers(attempt) {
            for (value, own) in headers.values_mut().zip(own) {
                *value = number(own);
            }
        }
        headers.extend(self.own_headers(attempt, step));
        let (method, body) = (&template.method, self.body_of(template).clone());
        Rendered { method: method.clone(), url: &template.url, uri: &template.uri, headers, body }
    }
}

/// Converts a number to a header value. Fast path: most numbers have a single digit, whose value needs no allocation.
fn number(number: u64) -> HeaderValue {
    const SMALL: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let small = usize::try_from(number).ok().and_then(|number| SMALL.get(number));
    small.map_or_else(|| HeaderValue::from(number), |text| HeaderValue::from_static(text))
}
