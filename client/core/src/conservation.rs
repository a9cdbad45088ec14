//! Accounting check of a run: its ops and attempts add up, and the server received what the client sent.

use wire::ServerCounts;

use crate::measure::{AttemptCounts, Measurements};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conservation {
    pub mismatches: Vec<Mismatch>,
    pub server_compared: bool,
}

/// Description of counts that do not add up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(String);

impl Conservation {
    /// Checks whether the counts of a finished run add up. `held` is the number of unfinished ops. `in_flight` is the
    /// number of attempts that have not ended.
    pub fn check(measured: &Measurements, held: u64, in_flight: u64, server: Option<&ServerCounts>) -> Self {
        let (ops, attempts) = (&measured.ops, &measured.attempts);
        let mut mismatches = Vec::new();
        let mut found = |text: String| mismatches.push(Mismatch(text));
        let total = attempts.total;
        let ended = attempts.succeeded + attempts.rejected + attempts.failed + attempts.cancelled;
        if total != ended + in_flight {
            found(format!(
                "{total} attempts were sent, but {ended} ended (succeeded + rejected + failed + cancelled) and {in_flight} \
                 are in flight"
            ));
        }
        let (arrived, accounted) = (ops.arrived, ops.succeeded + ops.given_up + held);
        if arrived != accounted {
            found(format!(
                "{arrived} ops arrived, but {accounted} are accounted for (succeeded + given up + unfinished)"
            ));
        }
        // Every op that succeeded has exactly one successful attempt.
        if ops.succeeded != attempts.succeeded {
            found(format!("{} ops succeeded with {} successful attempts", ops.succeeded, attempts.succeeded));
        }
        let series = measured.series.totals().total;
        if series != total {
            found(format!("the time series has {series} attempts, but the counters have {total}"));
        }
        if let Some(server) = server {
            mismatches.extend(Self::with_server(attempts, measured.gateway_successes, in_flight, server));
        }
        Self { mismatches, server_compared: server.is_some() }
    }

    /// Compares the client's counts of attempts with the server's counts, and returns the mismatches.
    /// `gateway_successes` is the number of successful answers that came from a gateway instead of the server.
    pub fn with_server(
        attempts: &AttemptCounts,
        gateway_successes: u64,
        in_flight: u64,
        server: &ServerCounts,
    ) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        let mut found = |text: String| mismatches.push(Mismatch(text));
        // It is unknown whether an attempt that an intermediary answered has also reached the server.
        let between = attempts.by_gateway;
        let unsure = attempts.failed + attempts.cancelled + in_flight + between;
        // An attempt that the server failed on purpose cannot be a success at the client.
        if server.failed > unsure {
            found(format!(
                "the server failed {} attempts on purpose, and the client observed at most {unsure} (failed + cancelled + answered by a gateway)",
                server.failed
            ));
        }
        let (received, decided) = (server.received, server.accepted + server.rejected + server.failed);
        if decided > received || received - decided > unsure {
            found(format!(
                "the server received {received} attempts and decided about {decided} (accepted + rejected + failed); at most \
                 {unsure} were left open"
            ));
        }
        // Attempts that the server failed on purpose did reach the server. So they cannot explain why the server
        // received fewer attempts than the client sent.
        let allowed = unsure.saturating_sub(server.failed);
        // For conditional writes, the server received the writes and the rejected reads, because no write follows a
        // rejected read.
        let (sent, received) = (attempts.total, server.received + server.reads_rejected);
        if received > sent || sent - received > allowed {
            found(format!(
                "the client sent {sent} attempts and the server received {received}, including rejected reads; the difference may be 0 to {allowed} (failed + cancelled + answered by a gateway)"
            ));
        }
        let (writes, reads) = (server.received, server.reads.saturating_sub(server.reads_rejected));
        // The comparison is skipped if the server counted no reads. In that case the attempts were plain requests, or
        // conditional writes of a client that already knew the version.
        if server.reads > 0 && writes > reads + between {
            found(format!(
                "the server received {writes} conditional writes after {reads} reads that it served"
            ));
        }
        let (succeeded, accepted) = (attempts.succeeded, server.accepted);
        let at_least = succeeded.saturating_sub(gateway_successes);
        if at_least > accepted || accepted.saturating_sub(succeeded) > allowed {
            found(format!(
                "the client observed {succeeded} successes, but the server accepted {accepted}, of which at most {allowed} were lost"
            ));
        }
        mismatches
    }

    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use tailback::{Failure, Status};
    use vocabulary::Instant;

    use super::*;

    fn two_attempts_one_success() -> Measurements {
        let mut measured = Measurements::default();
        let at = Instant::from_millis(1);
        measured.on_arrival(at, 0);
        for status in [Status::Rejected, Status::Succeeded] {
            measured.on_sent(at, 1, 1);
            measured.on_ended(at, status, Instant::ORIGIN, 0);
        }
        measured.on_success(at, Instant::ORIGIN, 2, 0);
        measured
    }

    fn server(received: u64, accepted: u64) -> ServerCounts {
        let rejected = received.saturating_sub(accepted);
        ServerCounts { received, accepted, rejected, ..ServerCounts::default() }
    }

    #[test]
    fn a_sound_run_holds_with_and_without_a_server() {
        let measured = two_attempts_one_success();
        assert!(Conservation::check(&measured, 0, 0, None).holds());
        assert!(Conservation::check(&measured, 0, 0, Some(&server(2, 1))).holds());
    }

    #[test]
    fn one_attempt_too_many_or_too_few_is_found() {
        let measured = two_attempts_one_success();
        for counts in [server(1, 1), server(3, 1), server(2, 2), server(2, 0)] {
            assert!(!Conservation::check(&measured, 0, 0, Some(&counts)).holds(), "{counts:?}");
        }
        assert!(!Conservation::check(&measured, 1, 0, None).holds());
        let mut lost = measured.clone();
        lost.attempts.rejected -= 1;
        assert!(!Conservation::check(&lost, 0, 0, None).holds());
    }

    #[test]
    fn a_conditional_write_is_received_or_its_read_rejected() {
        let measured = two_attempts_one_success();
        let server = |reads, reads_rejected, received| ServerCounts {
            reads,
            reads_rejected,
            received,
            accepted: 1,
            rejected: received - 1,
            ..ServerCounts::default()
        };
        for counts in [server(2, 0, 2), server(2, 1, 1)] {
            assert!(Conservation::check(&measured, 0, 0, Some(&counts)).holds(), "{counts:?}");
        }
        for counts in [server(2, 0, 1), server(2, 1, 2), server(1, 0, 2)] {
            assert!(!Conservation::check(&measured, 0, 0, Some(&counts)).holds(), "{counts:?}");
        }
    }

    #[test]
    fn a_gateway_answered_attempt_need_not_reach_the_server() {
        let mut measured = two_attempts_one_success();
        measured.attempts.by_gateway = 1;
        for counts in [server(1, 1), server(2, 1)] {
            assert!(Conservation::check(&measured, 0, 0, Some(&counts)).holds(), "{counts:?}");
        }
        for counts in [server(0, 0), server(1, 0), server(3, 1)] {
            assert!(!Conservation::check(&measured, 0, 0, Some(&counts)).holds(), "{counts:?}");
        }
        // The intermediary answered from its cache, although mockservers forbid storing their answers.
        measured.gateway_successes = 1;
        assert!(Conservation::check(&measured, 0, 0, Some(&server(1, 0))).holds());
    }

    #[test]
    fn a_deliberate_failure_accounts_for_one_failed_attempt_only() {
        let mut measured = two_attempts_one_success();
        measured.on_sent(Instant::from_millis(2), 1, 1);
        measured.on_ended(Instant::from_millis(2), Status::Failed(Failure::Transport), Instant::ORIGIN, 0);
        let of = |received, accepted, rejected, failed| {
            let counts = ServerCounts { received, accepted, rejected, failed, ..ServerCounts::default() };
            Conservation::check(&measured, 0, 0, Some(&counts)).holds()
        };
        assert!(of(3, 1, 1, 1), "before its work was done");
        assert!(of(3, 2, 1, 0), "after it");
        assert!(of(2, 1, 1, 0), "on its way");
        assert!(of(3, 1, 1, 0), "nobody knows what became of it");
        assert!(!of(3, 1, 0, 2), "two failed, and the client knows of one");
        assert!(!of(2, 1, 0, 1), "one failed, and another never came");
        assert!(!of(3, 2, 0, 1), "one failed, and another was accepted in vain");
        assert!(!of(2, 1, 1, 1), "one became two things");
    }

    #[test]
    fn what_failed_or_was_cancelled_may_be_missing_at_the_server() {
        let mut measured = two_attempts_one_success();
        measured.on_sent(Instant::from_millis(2), 1, 1);
        measured.on_ended(Instant::from_millis(2), Status::Cancelled, Instant::ORIGIN, 0);
        for received in [2, 3] {
            assert!(Conservation::check(&measured, 0, 0, Some(&server(received, 1))).holds());
        }
        assert!(!Conservation::check(&measured, 0, 0, Some(&server(1, 1))).holds());
    }
}
