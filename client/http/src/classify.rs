//! From an HTTP status to what it means for the op.

use tailback::{Failure, Status};

/// Which statuses are rejections, successes and failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classifier {
    /// Counted as a rejection besides 429, 503 and 529: the mock's own reject status.
    pub reject_status: u16,
    /// Whether 412 is a rejection, because attempts are conditional writes.
    pub conditional_writes: bool,
}

impl Default for Classifier {
    fn default() -> Self {
        Self { reject_status: 503, conditional_writes: false }
    }
}

impl Classifier {
    /// What this status means. Redirects are not followed, and nobody switches protocols: both are not what was asked for,
    /// and will be the same the next time.
    pub fn status(&self, code: u16) -> Status {
        match code {
            429 | 503 | 529 => Status::Rejected,
            412 if self.conditional_writes => Status::Rejected,
            code if code == self.reject_status => Status::Rejected,
            500.. => Status::Failed(Failure::Server),
            200..300 => Status::Succeeded,
            _ => Status::Failed(Failure::Fatal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_status_has_its_meaning() {
        let usual = Classifier::default();
        let mock = Classifier { reject_status: 420, conditional_writes: true };
        for (classifier, code, status) in [
            (usual, 200, Status::Succeeded),
            (usual, 204, Status::Succeeded),
            (usual, 101, Status::Failed(Failure::Fatal)),
            (usual, 302, Status::Failed(Failure::Fatal)),
            (usual, 304, Status::Failed(Failure::Fatal)),
            (usual, 429, Status::Rejected),
            (usual, 503, Status::Rejected),
            (usual, 529, Status::Rejected),
            (usual, 500, Status::Failed(Failure::Server)),
            (usual, 404, Status::Failed(Failure::Fatal)),
            (usual, 412, Status::Failed(Failure::Fatal)),
            (usual, 420, Status::Failed(Failure::Fatal)),
            (mock, 412, Status::Rejected),
            (mock, 420, Status::Rejected),
        ] {
            assert_eq!(classifier.status(code), status, "{code}");
        }
    }
}
