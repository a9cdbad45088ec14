//! HTTP method of a client's requests. The retry rules of some clients depend on the method.

/// HTTP method of a request, as far as retry rules distinguish methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// HTTP method GET.
    #[default]
    Get,
    /// HTTP method HEAD.
    Head,
    /// HTTP method PUT.
    Put,
    /// HTTP method DELETE.
    Delete,
    /// HTTP method OPTIONS.
    Options,
    /// HTTP method TRACE.
    Trace,
    /// HTTP method POST.
    Post,
    /// HTTP method PATCH.
    Patch,
    /// HTTP method QUERY (draft-ietf-httpbis-safe-method-w-body).
    Query,
    /// Any other HTTP method.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Methods(u16);

impl Methods {
    pub(crate) const ALL: Self = Self(u16::MAX);

    pub(crate) const fn only(method: Method) -> Self {
        Self(1 << method as u16)
    }

    pub(crate) const fn contains(self, method: Method) -> bool {
        self.0 & Self::only(method).0 != 0
    }

    pub(crate) fn filter(self, fits: impl Fn(Method) -> bool) -> Self {
        let others = NAMES.map(|(_, method)| method).into_iter().chain([Method::Other]);
        others.filter(|method| self.contains(*method) && fits(*method)).collect()
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Method> for Methods {
    fn from_iter<I: IntoIterator<Item = Method>>(methods: I) -> Self {
        Self(methods.into_iter().fold(0, |all, method| all | Self::only(method).0))
    }
}

const NAMES: [(&str, Method); 9] = [
    ("get", Method::Get),
    ("head", Method::Head),
    ("put", Method::Put),
    ("delete", Method::Delete),
    ("options", Method::Options),
    ("trace", Method::Trace),
    ("post", Method::Post),
    ("patch", Method::Patch),
    ("query", Method::Query),
];

impl Method {
    /// Parses the name of an HTTP method, in upper or lower case. An unknown name yields `Other`.
    pub fn named(name: &str) -> Self {
        let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map_or(Self::Other, |(_, method)| *method)
    }

    /// Returns the name of the HTTP method in lower case, or `other` for a method without a variant of its own.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, method)| *method == self).map_or("other", |(name, _)| name)
    }

    /// Returns whether the HTTP method is idempotent: sending the request twice has the same effect as sending it once
    /// (RFC 9110, section 9.2.2).
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Post | Self::Patch | Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names_and_are_idempotent_or_not() {
        for (name, method, idempotent) in
            [("GET", Method::Get, true), ("post", Method::Post, false), ("QUERY", Method::Query, true)]
        {
            assert_eq!((Method::named(name), method.is_idempotent()), (method, idempotent), "{name}");
            assert!(method.name().eq_ignore_ascii_case(name));
        }
        assert_eq!(Method::named("BREW"), Method::Other);
    }
}
