//! Record of the parts of a request (headers, path, body) that the current policy uses. The record is cached outside the state machine's
//! lock.
//!
//! A request that arrives during a change of the configuration may still carry the parts that the previous configuration used.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::request::Parts;
use mockserver_core::{FieldSelection, RequestFields};

#[derive(Debug, Default)]
pub(crate) struct CachedSelection {
    /// Whether the current policy uses any part of a request, such as a header. Fast path: most policies use no part, and no lock is taken
    /// for them.
    any: AtomicBool,
    wants: RwLock<Arc<FieldSelection>>,
}

impl CachedSelection {
    pub(crate) fn new(wants: FieldSelection) -> Self {
        let wanted = Self::default();
        wanted.set(wants);
        wanted
    }

    pub(crate) fn set(&self, wants: FieldSelection) {
        let any = wants.any;
        *self.wants.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(wants);
        self.any.store(any, Ordering::Release);
    }

    pub(crate) fn is_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    pub(crate) fn get(&self) -> Option<Arc<FieldSelection>> {
        if !self.is_any() {
            return None;
        }
        let wants = self.wants.read().unwrap_or_else(PoisonError::into_inner).clone();
        wants.any.then_some(wants)
    }
}

pub(crate) fn body(wants: Option<&FieldSelection>) -> bool {
    wants.is_some_and(|wants| !wants.fields.is_empty())
}

/// Returns the parts of a request that the current policy uses. If a header is repeated, its first value counts. Bytes that are not UTF-8
/// are replaced by the replacement character.
pub(crate) fn details(wants: &FieldSelection, parts: &Parts, peer: IpAddr, body: &[u8]) -> RequestFields {
    let header = |name: &String| {
        let value = String::from_utf8_lossy(parts.headers.get(name)?.as_bytes());
        Some((name.as_str().into(), value.into()))
    };
    RequestFields {
        method: parts.method.as_str().to_ascii_uppercase().into(),
        path: parts.uri.path().into(),
        address: Some(peer.to_canonical()),
        headers: wants.headers.iter().filter_map(header).collect(),
        fields: wants.fields_in(body),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn wants(headers: &[&str]) -> FieldSelection {
        let headers = headers.iter().map(|name| (*name).to_owned()).collect();
        FieldSelection { any: true, headers, fields: ["n".to_owned()].into() }
    }

    #[test]
    fn what_is_wanted_follows_the_configuration() {
        let wanted = CachedSelection::new(FieldSelection::default());
        assert!(wanted.get().is_none());
        wanted.set(wants(&["x-key"]));
        assert_eq!(wanted.get().as_deref(), Some(&wants(&["x-key"])));
        wanted.set(FieldSelection::default());
        assert!(wanted.get().is_none());
    }

    #[test]
    fn only_the_required_details_of_a_request_are_read() {
        let request = Request::post("http://h/repos/7?page=2")
            .header("X-Key", "first")
            .header("x-key", "second")
            .header("x-odd", &b"a\xff"[..])
            .header("x-other", "nobody asked");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let wants = wants(&["x-key", "x-missing", "x-odd"]);
        let said = details(&wants, &parts, "::ffff:192.0.2.1".parse().unwrap(), br#"{"n":7,"m":8}"#);
        assert_eq!((&*said.method, &*said.path), ("POST", "/repos/7"));
        assert_eq!(said.fields, [("n".into(), "7".into())]);
        assert_eq!(said.address, Some("192.0.2.1".parse().unwrap()));
        let headers: Vec<(&str, &str)> =
            said.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(headers, [("x-key", "first"), ("x-odd", "a\u{fffd}")]);
    }

    #[test]
    fn a_body_is_looked_at_only_where_it_is_wanted() {
        assert!(!body(None) && !body(Some(&FieldSelection { any: true, ..FieldSelection::default() })));
        assert!(body(Some(&wants(&[]))));
    }
}
