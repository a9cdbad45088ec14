//! Request templates for each kind of request and each API key. They are built once, so that an attempt only copies them.

use std::num::NonZero;

use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, IF_MATCH,
    USER_AGENT,
};
use http::{HeaderMap, Method, Request, Uri};
use loadgen_core::{Mix, OperationKind, RequestKind, Requests, SentAttempt, authorization};
use reqwest::Url;

use crate::config::{RunHeaders, TransportConfig, TransportError};

#[derive(Clone, Debug)]
struct RequestTemplates {
    requests: Requests,
    seed: u64,
    kinds: Vec<Template>,
    /// `Authorization` values of all API keys, concatenated; each has `key_length` bytes.
    keys: Bytes,
    key_length: usize,
}

impl RequestTemplates {
    /// Creates templates for the requests of a workload in which requests differ between ops. Returns `None` if all ops have the same
    /// request. `plain` is the part of the request that all ops share. `name` converts a URL to the form that it has in a request. Costs of
    /// requests are sent only to a mockserver.
    fn new(
        requests: &Requests,
        seed: u64,
        plain: &Template,
        is_mock: bool,
        name: &dyn Fn(&Url) -> Result<Uri, TransportError>,
    ) -> Result<Option<Self>, TransportError> {
        if requests.are_alike() {
            return Ok(None);
        }
        let kinds = requests.mix.iter().flat_map(Mix::kinds).enumerate();
        let kinds = kinds.map(|(number, kind)| {
            let template = template(kind, plain, is_mock, name)?;
            let own = requests.bodies.get(&number).map(|body| Bytes::copy_from_slice(body));
            Ok(Template { body: own.unwrap_or(template.body), ..template })
        });
        let keys: String = (0..requests.api_keys.map_or(0, NonZero::get)).map(authorization).collect();
        let (keys, key_length) = (keys.into(), authorization(0).len());
        let kinds = kinds.collect::<Result<_, _>>()?;
        Ok(Some(Self { requests: requests.clone(), seed, kinds, keys, key_length }))
    }

    fn kind_of(&self, op: u64) -> Option<&Template> {
        let mix = self.requests.mix.as_ref()?;
        self.kinds.get(mix.kind_of(self.seed, op))
    }

    fn authorization(&self, op: u64) -> Option<HeaderValue> {
        let from = self.requests.api_key_of(self.seed, op)? as usize * self.key_length;
        HeaderValue::from_maybe_shared(self.keys.slice(from..from + self.key_length)).ok()
    }
}

fn template(
    kind: &RequestKind,
    plain: &Template,
    is_mock: bool,
    name: &dyn Fn(&Url) -> Result<Uri, TransportError>,
) -> Result<Template, TransportError> {
    let refuse = || TransportError::Kind(kind.to_string());
    let method = Method::from_bytes(kind.method.as_bytes()).map_err(|_| refuse())?;
    let mut headers = plain.headers.clone();
    let body = if kind.has_body() { plain.body.clone() } else { Bytes::new() };
    if !kind.has_body() {
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
    }
    for (name, cost) in [(wire::COST, kind.cost), (wire::USED, kind.used)] {
        if let Some(cost) = cost.filter(|_| is_mock) {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(cost));
        }
    }
    let url = url_of(&plain.url, &kind.path, kind.query.as_deref());
    let uri = name(&url).map_err(|_| refuse())?;
    Ok(Template { method, url, uri, headers, body })
}

/// Returns the URL for a kind of request. The kind's path and query are appended to those of the target.
fn url_of(target: &Url, path: &str, query: Option<&str>) -> Url {
    let mut url = target.clone();
    url.set_path(&format!("{}{path}", target.path().trim_end_matches('/')));
    if let Some(query) = query {
        let query = target.query().map_or_else(|| query.to_owned(), |own| format!("{own}&{query}"));
        url.set_query(Some(&query));
    }
    url
}

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
    pub method: Method,
    pub url: &'a Url,
    pub uri: &'a Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Rendered<'_> {
    /// Returns the request with a body that `with` makes of its bytes.
    pub(crate) fn request<B>(self, with: impl FnOnce(Bytes) -> B) -> Request<B> {
        let mut request = Request::new(with(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers;
        request
    }
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
        if !config.keep_alive {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(run) = config.run {
            let id = HeaderValue::from_str(&format!("{:016x}", run.run)).map_err(TransportError::Host)?;
            headers.insert(HeaderName::from_static(wire::RUN), id);
            headers.insert(HeaderName::from_static(wire::SEED), HeaderValue::from(run.seed));
        }
        let plain = Template {
            method: config.request.method.clone(),
            uri: named(&config.target.requested, naming, &host)?,
            url: config.target.requested.clone(),
            headers,
            body: config.request.body.clone(),
        };
        let is_mock = config.run.is_some();
        let name = |url: &Url| named(url, naming, &host);
        let asked = RequestTemplates::new(&config.requests, config.seed, &plain, is_mock, &name)?;
        let mut prepared = Self { plain, read: None, asked, run: config.run };
        if config.kind == OperationKind::ReadModifyWrite {
            prepared.read_first();
        }
        prepared.declare_empty_bodies();
        Ok(prepared)
    }

    /// Replaces the templates by templates for read-modify-writes.
    ///
    /// A read-modify-write is a GET that is immediately followed by a PUT, regardless of the configured method. Only the PUT has the body.
    /// It sends the GET's entity tag in the header `If-Match`, exactly as received, because entity tags are opaque.
    fn read_first(&mut self) {
        self.plain.method = Method::PUT;
        self.plain.headers.remove(IF_MATCH);
        let mut read = Template { method: Method::GET, body: Bytes::new(), ..self.plain.clone() };
        read.headers.remove(CONTENT_TYPE);
        read.headers.remove(CONTENT_LENGTH);
        if self.run.is_some() {
            let is_read = HeaderValue::from_static(wire::STEP_READ);
            read.headers.insert(HeaderName::from_static(wire::STEP), is_read);
        }
        self.read = Some(read);
    }

    /// Adds `Content-Length: 0` to requests without a body, if requests with their method usually have one (RFC 9110, section 8.6).
    fn declare_empty_bodies(&mut self) {
        const WITHOUT_BODY: [Method; 4] = [Method::GET, Method::HEAD, Method::DELETE, Method::CONNECT];
        let Self { plain, read, asked, .. } = self;
        let kinds = asked.iter_mut().flat_map(|asked| &mut asked.kinds);
        for template in std::iter::once(plain).chain(read).chain(kinds) {
            if template.body.is_empty() && !WITHOUT_BODY.contains(&template.method) {
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

    pub(crate) fn render(&self, attempt: &SentAttempt, step: &Step) -> Rendered<'_> {
        let kind = || self.asked.as_ref().and_then(|asked| asked.kind_of(attempt.op));
        let template = match (step, &self.read) {
            (Step::Read, Some(read)) => read,
            _ => kind().unwrap_or(&self.plain),
        };
        // Fast path: copies the template's header map, which is much cheaper than building a new one. The headers that differ between
        // attempts come first in the map, so they are found without comparing names.
        let mut headers = template.headers.clone();
        if self.run.is_some() {
            let own = [attempt.op, attempt.ordinal.into(), attempt.client.into()];
            for (value, own) in headers.values_mut().zip(own) {
                *value = number(own);
            }
        }
        // With carrier sense, the first request of an attempt includes the minimum number of free slots with which the server
        // may start it. Only a mockserver supports this header.
        if self.run.is_some() && attempt.min_free > 0 && !matches!(step, Step::Write(_)) {
            headers.append(MIN_FREE, attempt.min_free.into());
        }
        if let Step::Write(tag) = step {
            headers.append(IF_MATCH, tag.clone());
        }
        if let Some(key) = self.asked.as_ref().and_then(|asked| asked.authorization(attempt.op)) {
            headers.append(AUTHORIZATION, key);
        }
        let Template { method, url, uri, body, .. } = template;
        Rendered { method: method.clone(), url, uri, headers, body: body.clone() }
    }
}

/// Converts a number to a header value. Fast path: most numbers have a single digit, whose value needs no allocation.
fn number(number: u64) -> HeaderValue {
    const SMALL: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let small = usize::try_from(number).ok().and_then(|number| SMALL.get(number));
    small.map_or_else(|| HeaderValue::from(number), |text| HeaderValue::from_static(text))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Only the path, for HTTP/1.1, where the `Host` header contains the host.
    Path,
    /// Requests contain the complete URI, because HTTP/2 requests have no `Host` header.
    Whole,
}

/// Template of requests: the parts that all requests of one kind share. They are built once, so that an attempt only copies
/// them.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub method: Method,
    pub url: Url,
    pub uri: Uri,
    pub headers: HeaderMap,
    /// Body of the request; empty if its method has none.
    pub body: Bytes,
}

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

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn asked(mix: &str, api_keys: u32, target: &str, is_mock: bool) -> RequestTemplates {
        let mix = Some(mix).filter(|mix| !mix.is_empty()).map(|mix| mix.parse().unwrap());
        let requests = Requests { mix, api_keys: NonZero::new(api_keys), ..Requests::default() };
        let common: HeaderMap =
            [(CONTENT_TYPE, HeaderValue::from_static("text/plain"))].into_iter().collect();
        RequestTemplates::new(&requests, 1, &plain(target, common), is_mock, &path).unwrap().unwrap()
    }

    fn plain(target: &str, headers: HeaderMap) -> Template {
        let url: Url = target.parse().unwrap();
        Template { method: Method::GET, uri: path(&url).unwrap(), url, headers, body: "text".into() }
    }

    #[expect(clippy::unnecessary_wraps, reason = "other ways to name a URL may fail")]
    fn path(url: &Url) -> Result<Uri, TransportError> {
        Ok(url.path().parse().unwrap())
    }

    #[test]
    fn a_path_comes_behind_that_of_the_target_whose_query_stays() {
        for (target, path, query, url) in [
            ("http://h", "/repos", None, "http://h/repos"),
            ("http://h:8/", "/", None, "http://h:8/"),
            ("http://h/api/v1", "/repos", Some("x=1"), "http://h/api/v1/repos?x=1"),
            ("http://h/api/?version=2", "/repos", None, "http://h/api/repos?version=2"),
            ("http://h/api/?version=2", "/repos", Some("x=1&y"), "http://h/api/repos?version=2&x=1&y"),
            ("http://h", "//a/%20;", None, "http://h//a/%20;"),
        ] {
            assert_eq!(url_of(&target.parse().unwrap(), path, query).as_str(), url, "{target} {path}");
        }
    }

    #[test]
    fn paths_that_a_mix_accepts_are_sent_as_they_are_written() {
        let path = "/Az09-._~!$&'()*+,=:@%zz/%2F";
        let asked = asked(&format!("GET {path}"), 0, "http://h/", true);
        assert_eq!(asked.kind_of(0).unwrap().url.path(), path);
    }

    #[test]
    fn only_a_mockserver_gets_costs_and_only_bodies_a_content_type() {
        let header = |kind: &Template, name: &str| Some(kind.headers.get(name)?.to_str().unwrap().to_owned());
        for is_mock in [true, false] {
            let asked = asked("GET /a cost=5 used=2; POST /b", 0, "http://h/", is_mock);
            let [get, post] = &asked.kinds[..] else { panic!("two kinds") };
            let mock_only = |words: &str| is_mock.then(|| words.to_owned());
            assert_eq!(
                [header(get, "x-tailback-cost"), header(get, "x-tailback-used")],
                [mock_only("5"), mock_only("2")]
            );
            assert_eq!([header(post, "x-tailback-cost"), header(post, "x-tailback-used")], [None, None]);
            assert_eq!((header(get, "content-type"), &get.body[..]), (None, &b""[..]));
            assert_eq!(
                (header(post, "content-type").as_deref(), &post.body[..]),
                (Some("text/plain"), &b"text"[..])
            );
        }
    }

    #[test]
    fn every_op_has_the_key_that_is_drawn_for_it() {
        let asked = asked("", 1000, "http://h/", true);
        for op in 0..100 {
            let drawn = authorization(asked.requests.api_key_of(1, op).unwrap());
            assert_eq!(asked.authorization(op).unwrap().to_str().unwrap(), drawn);
        }
        assert!(asked.kind_of(0).is_none());
    }

    #[test]
    fn ops_that_are_alike_need_nothing_of_it() {
        let alike =
            RequestTemplates::new(&Requests::default(), 1, &plain("http://h", HeaderMap::new()), true, &path);
        assert!(alike.unwrap().is_none());
    }
}
