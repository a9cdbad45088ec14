//! Request templates for each kind of request and each API key. They are built once, so that an attempt only copies them.

pub(crate) mod prepared;
pub(crate) mod template;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Uri};
use loadgen_core::{Mix, RequestKind, Requests, authorization};
use reqwest::Url;
use vocabulary::wire;

use crate::request::template::Template;
use crate::transport::TransportError;

#[derive(Clone, Debug)]
pub(crate) struct RequestTemplates {
    requests: Requests,
    seed: u64,
    kinds: Vec<Template>,
    keys: Option<Keys>,
}

/// `Authorization` values of all API keys, concatenated; each has 18 bytes.
#[derive(Clone, Debug)]
struct Keys {
    text: Bytes,
    each: usize,
}

impl RequestTemplates {
    /// Creates templates for the requests of a workload in which requests differ between ops. Returns `None` if all ops have the same
    /// request. `plain` is the part of the request that all ops share. `name` converts a URL to the form that it has in a request. Costs of
    /// requests are sent only to a mockserver.
    pub(crate) fn new(
        requests: &Requests,
        seed: u64,
        plain: &Template,
        is_mock: bool,
        name: &dyn Fn(&Url) -> Result<Uri, TransportError>,
    ) -> Result<Option<Self>, TransportError> {
        if requests.are_alike() {
            return Ok(None);
        }
        let kinds = requests.mix.iter().flat_map(Mix::kinds);
        let kinds = kinds.map(|kind| template(kind, plain, is_mock, name));
        let keys = requests.api_keys.map(|keys| Keys::new(keys.get()));
        let kinds = kinds.collect::<Result<_, _>>()?;
        Ok(Some(Self { requests: requests.clone(), seed, kinds, keys }))
    }

    pub(crate) fn kind_of(&self, op: u64) -> Option<&Template> {
        let mix = self.requests.mix.as_ref()?;
        self.kinds.get(mix.kind_of(self.seed, op))
    }

    pub(crate) fn kinds_mut(&mut self) -> impl Iterator<Item = &mut Template> {
        self.kinds.iter_mut()
    }

    pub(crate) fn authorization(&self, op: u64) -> Option<HeaderValue> {
        let number = self.requests.api_key_of(self.seed, op)?;
        HeaderValue::from_maybe_shared(self.keys.as_ref()?.of(number)).ok()
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
    let has_body = kind.has_body();
    if !has_body {
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
    }
    for (name, cost) in [(wire::COST, kind.cost), (wire::USED, kind.used)] {
        if let Some(cost) = cost.filter(|_| is_mock) {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(cost));
        }
    }
    let url = url_of(&plain.url, &kind.path);
    let uri = name(&url).map_err(|_| refuse())?;
    Ok(Template { method, url, uri, headers, has_body })
}

/// Returns the URL for a kind of request. The kind's path is appended to the target's own path, and the target's query is kept.
fn url_of(target: &Url, path: &str) -> Url {
    let mut url = target.clone();
    url.set_path(&format!("{}{path}", target.path().trim_end_matches('/')));
    url
}

impl Keys {
    fn new(count: u32) -> Self {
        let text: String = (0..count).map(authorization).collect();
        Self { each: authorization(0).len(), text: text.into() }
    }

    fn of(&self, number: u32) -> Bytes {
        let from = number as usize * self.each;
        self.text.slice(from..from + self.each)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

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
        Template { method: Method::GET, uri: path(&url).unwrap(), url, headers, has_body: true }
    }

    #[expect(clippy::unnecessary_wraps, reason = "other ways to name a URL may fail")]
    fn path(url: &Url) -> Result<Uri, TransportError> {
        Ok(url.path().parse().unwrap())
    }

    #[test]
    fn a_path_comes_behind_that_of_the_target_whose_query_stays() {
        for (target, path, url) in [
            ("http://h", "/repos", "http://h/repos"),
            ("http://h:8/", "/", "http://h:8/"),
            ("http://h/api/v1", "/repos", "http://h/api/v1/repos"),
            ("http://h/api/?version=2", "/repos", "http://h/api/repos?version=2"),
            ("http://h", "//a/%20;", "http://h//a/%20;"),
        ] {
            assert_eq!(url_of(&target.parse().unwrap(), path).as_str(), url, "{target} {path}");
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
            assert_eq!((header(get, "content-type"), get.has_body), (None, false));
            assert_eq!((header(post, "content-type").as_deref(), post.has_body), (Some("text/plain"), true));
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
