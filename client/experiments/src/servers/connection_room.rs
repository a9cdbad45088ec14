//! Computation of the number of connections that the limit on open files allows. Warnings are created if this number is small.

use loadgen_core::{ArrivalProcess, Workload};
use mockserver::core::Config;

use crate::servers::target::{Kind, Server};
use results::Warning;
use results::numbers::thousands;

/// Number of files that an experiment opens in addition to connections to the server: timers, runtimes, administrative connections and
/// outputs.
const OPENED_LATER: u64 = 16;

/// Assumed number of files that the program already has open, used if the system does not report the number.
const USUALLY_OPEN: u64 = 48;

/// Assumed number of concurrent connections of a client whose server is unknown.
const USUALLY_WANTED: u64 = 128;

/// Number of connections that the program can have open at once. If a run needs more, some attempts must wait in the client for a file
/// descriptor. Such a wait would change the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionRoom {
    pub most: usize,
    limit: Option<u64>,
    /// Number of open files that the program needs for everything except connections.
    others: u64,
    /// Number of files that one connection opens in this process. An embedded server runs in the same process, so each connection opens 2
    /// files, one for each end. With any other server, it opens 1.
    ends: u64,
}

impl ConnectionRoom {
    /// Computes the number of connections that the limit on open files allows. If `limit` is `None`, open files are not limited. With an
    /// embedded server, both ends of each connection count towards the limit.
    pub fn within(limit: Option<u64>, server: &Server) -> Self {
        let open = std::fs::read_dir("/proc/self/fd").map_or(USUALLY_OPEN, |files| files.count() as u64);
        let ends = if server.kind == Kind::Embedded { 2 } else { 1 };
        Self::new(limit, open + OPENED_LATER, ends)
    }

    fn new(limit: Option<u64>, others: u64, ends: u64) -> Self {
        let room = limit.map(|limit| limit.saturating_sub(others) / ends);
        let most = room.map_or(usize::MAX, |room| usize::try_from(room).unwrap_or(usize::MAX).max(1));
        Self { most, limit, others, ends }
    }

    pub fn warning_before(&self, workload: &Workload, model: Option<&Config>) -> Option<String> {
        let wanted = match workload.arrivals {
            ArrivalProcess::Closed { in_flight } => u64::from(in_flight),
            _ => USUALLY_WANTED.max(model.map_or(0, |model| 2 * u64::from(model.max_busy))),
        };
        let wanted = workload.ops.map_or(wanted, |ops| ops.min(wanted));
        (wanted > self.most as u64).then(|| {
            format!(
                "the limit of {} open files allows {} connections, and this run may use {} at once, so further attempts wait in the client; run `ulimit -n {}` first, or use `--simulate`",
                thousands(self.limit.unwrap_or_default()),
                thousands(self.most as u64),
                thousands(wanted),
                self.files_for(wanted)
            )
        })
    }

    /// Returns a warning if more attempts were in flight (`in_flight`) than connections are possible. Each attempt uses a connection of its
    /// own, so some attempts had to wait. The number of opened connections would not show these waits, because faults may have closed most
    /// connections.
    pub fn warning_after(&self, in_flight: u64) -> Option<Warning> {
        (in_flight > self.most as u64).then(|| Warning::FewConnections {
            most: self.most as u64,
            open_files: self.limit.unwrap_or_default(),
            in_flight,
            enough_files: self.files_for(in_flight),
        })
    }

    fn files_for(&self, connections: u64) -> u64 {
        (self.others + self.ends * connections).next_multiple_of(64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_loop(ops: u64) -> Workload {
        Workload { ops: Some(ops), ..Workload::default() }
    }

    #[test]
    fn open_files_reduce_the_room_and_an_embedded_server_halves_it() {
        assert_eq!(ConnectionRoom::new(Some(64), 30, 2).most, 17);
        assert_eq!(ConnectionRoom::new(Some(64), 30, 1).most, 34);
        assert_eq!(ConnectionRoom::new(Some(16), 30, 1).most, 1);
        assert_eq!(ConnectionRoom::new(None, 30, 2).most, usize::MAX);
    }

    #[test]
    fn a_warning_about_a_low_limit_names_a_sufficient_one() {
        let room = ConnectionRoom::new(Some(64), 30, 2);
        let words = room.warning_before(&open_loop(2000), Some(&Config::default())).unwrap();
        assert!(words.contains("limit of 64") && words.contains("allows 17 conn"), "{words}");
        assert!(words.contains("`ulimit -n 320`"), "30 + 2 · 128, {words}");
        assert_eq!(room.warning_before(&open_loop(17), None), None);
        let closed = Workload { arrivals: ArrivalProcess::Closed { in_flight: 18 }, ..open_loop(2000) };
        assert!(room.warning_before(&closed, None).is_some());
        assert_eq!(ConnectionRoom::new(Some(1024), 30, 2).warning_before(&open_loop(2000), None), None);
        assert_eq!(room.warning_after(17), None);
        assert!(room.warning_after(80).unwrap().to_string().contains("`ulimit -n 192`"));
    }
}
