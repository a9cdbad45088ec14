//! Result of a try of an op.

use vocabulary::grpc;

/// Result of a try of an op. A try is usually one attempt. A launch that was shed or deferred is also a try, although
/// no attempt was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The server did the requested work.
    Succeeded,
    /// The server throttled the attempt (429, 503 …).
    Rejected,
    /// The attempt failed: it had no usable answer.
    Failed(Failure),
    /// A budget rejected the launch, so nothing was sent.
    Shed,
    /// The server had too little free capacity to start the attempt, so the attempt was not made (carrier sense).
    Deferred,
    /// The client withdrew the attempt.
    Cancelled,
}

impl Status {
    /// Returns the usual meaning of an HTTP status and, for gRPC, of the header `grpc-status`. The statuses 429, 503 and 529 are
    /// rejections, 2xx are successes, other 5xx are failures of the server, and all others are fatal failures. gRPC reports errors in
    /// answers with status 200: `UNAVAILABLE` and `RESOURCE_EXHAUSTED` are rejections. `CANCELLED`, `UNKNOWN`, `DEADLINE_EXCEEDED`,
    /// `ABORTED`, `INTERNAL` and `DATA_LOSS` are failures of the server (gRPC, `statuscodes.md`).
    pub fn from_http(code: u16, grpc_status: Option<&str>) -> Self {
        match (code, grpc_status.map(grpc::number)) {
            (200..=299, None | Some(0)) => Self::Succeeded,
            (429 | 503 | 529, _) | (200..=299, Some(8 | 14)) => Self::Rejected,
            (500.., _) | (200..=299, Some(1 | 2 | 4 | 10 | 13 | 15)) => Self::Failed(Failure::Server),
            _ => Self::Failed(Failure::Fatal),
        }
    }

    /// Returns whether the result suggests that the server or the network is overloaded. Rejections and retriable
    /// failures suggest this.
    pub const fn is_congestion(self) -> bool {
        match self {
            Self::Rejected => true,
            Self::Failed(failure) => failure.is_retriable(),
            Self::Succeeded | Self::Shed | Self::Deferred | Self::Cancelled => false,
        }
    }
}

/// Reason why an attempt had no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The attempt took longer than its timeout.
    Timeout,
    /// The connection could not be made or was reset, or the answer was not valid HTTP.
    Transport,
    /// The server answered with a 5xx status that is not a rejection.
    Server,
    /// The server gave an answer that no retry would change (most 4xx).
    Fatal,
}

impl Failure {
    /// Returns whether another attempt may succeed after a failure of this kind.
    pub const fn is_retriable(self) -> bool {
        !matches!(self, Self::Fatal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_and_grpc_statuses_have_their_usual_meaning() {
        let failed = Status::Failed;
        for (code, grpc, status) in [
            (200, None, Status::Succeeded),
            (204, Some("0"), Status::Succeeded),
            (429, None, Status::Rejected),
            (503, Some("0"), Status::Rejected),
            (529, None, Status::Rejected),
            (500, None, failed(Failure::Server)),
            (599, None, failed(Failure::Server)),
            (304, None, failed(Failure::Fatal)),
            (404, None, failed(Failure::Fatal)),
            (200, Some("14"), Status::Rejected),
            (200, Some("13"), failed(Failure::Server)),
            (200, Some("5"), failed(Failure::Fatal)),
            (200, Some("garbage"), failed(Failure::Server)),
        ] {
            assert_eq!(Status::from_http(code, grpc), status, "{code} {grpc:?}");
        }
    }
}
