//! HTTP method of a client's requests. The retry rules of some clients depend on the method.

use vocabulary::{Choice, ChoiceField as _, choices};

choices! {
    /// HTTP method of a request, as far as retry rules distinguish methods.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Method {
        /// HTTP method GET.
        #[default]
        Get = "get",
        /// HTTP method HEAD.
        Head = "head",
        /// HTTP method PUT.
        Put = "put",
        /// HTTP method DELETE.
        Delete = "delete",
        /// HTTP method OPTIONS.
        Options = "options",
        /// HTTP method TRACE.
        Trace = "trace",
        /// HTTP method POST.
        Post = "post",
        /// HTTP method PATCH.
        Patch = "patch",
        /// HTTP method QUERY (draft-ietf-httpbis-safe-method-w-body).
        Query = "query",
        /// Any other HTTP method.
        Other = "other",
    }
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
        let methods = Method::CHOICES.iter().map(|(_, method)| *method);
        methods.filter(|method| self.contains(*method) && fits(*method)).collect()
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

impl Method {
    /// Parses the name of an HTTP method, in upper or lower case. An unknown name yields `Other`.
    pub fn named(name: &str) -> Self {
        let known = Self::CHOICES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map_or(Self::Other, |(_, method)| *method)
    }

    /// Returns the name of the HTTP method in lower case, or `other` for a method without a variant of its own.
    pub fn name(self) -> &'static str {
        self.word()
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
