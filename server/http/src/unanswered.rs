//! Why a request gets no answer, or half of one.

/// The connection, or over HTTP/2 the stream, ends without a whole answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// Nobody waits for it any more.
    #[error("the client is gone")]
    Gone,
    /// A fault wants it so.
    #[error("a fault ends the connection here")]
    Fault,
    /// A script wants it so.
    #[error("a script closes the connection here")]
    Scripted,
    /// A fault or a script wants it so. The machinery finds in the source with which code the stream is reset.
    #[error("the stream is reset on purpose")]
    Reset(#[source] h2::Error),
}

impl Unanswered {
    /// A stream's end with this code.
    pub(crate) fn reset(code: h2::Reason) -> Self {
        Self::Reset(code.into())
    }
}
