//! Why a connection ends without an answer to the request that came on it, or with half of one.

/// The connection ends without a whole answer.
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
}
