//! First limit of the mock server. Keys of the dashboard can change this limit while a run is watched.

use std::time::Duration;

use experiments::servers::target::Server;
use experiments::words_of;
use loadgen_core::Snapshot;
use loadgen_http::MockServer;
use mockserver::core::{Config, Direction, FirstLimit};
use tokio::runtime::Runtime;
use vocabulary::wire::ConfigChange;

pub(super) struct MovedLimit<'a> {
    mock: Option<&'a MockServer>,
    runtime: &'a Runtime,
    config: Option<Config>,
    /// Concurrency cap of the server itself, not of one of its policies. This is the cap in the server's last report, or a cap that was
    /// requested after this report.
    cap: Option<u64>,
    reported_cap: Option<u64>,
    /// Time since the first op arrived. Server limits that follow a schedule depend on this time.
    elapsed: Duration,
    /// True if the user changed the limit. Lower bounds proven for the original server then no longer hold.
    pub(super) is_moved: bool,
}

impl<'a> MovedLimit<'a> {
    pub(super) fn new(server: &'a Server, runtime: &'a Runtime) -> Self {
        let (mock, config) = (server.mock.as_deref(), server.model.clone());
        let cap = config.as_ref().map(|config| u64::from(config.max_busy));
        Self { mock, runtime, config, cap, reported_cap: cap, elapsed: Duration::ZERO, is_moved: false }
    }

    pub(super) fn name(&self) -> Option<String> {
        self.mock.and_then(|_| Some(self.now()?.name))
    }

    pub(super) fn on_snapshot(&mut self, snapshot: &Snapshot) {
        self.elapsed = snapshot.first_arrival.map_or(Duration::ZERO, |first| snapshot.now.since(first));
        let reported = snapshot.server_cap;
        // The server reports a change of the cap in its responses, but only a moment after the change was requested. Until then, the
        // requested cap is used.
        if reported.is_some() && reported != self.reported_cap {
            (self.reported_cap, self.cap) = (reported, reported);
        }
    }

    pub(super) fn move_it(&mut self, way: Direction) -> Option<String> {
        let (mock, before) = (self.mock?, self.now()?);
        let wanted = before.moved(way);
        let name = &before.name;
        if wanted == before {
            return Some(format!("{name} is {before}, its minimum"));
        }
        let change = match wanted.slots() {
            Some(max_busy) => ConfigChange::Cap { max_busy },
            None => ConfigChange::Parameter { set: wanted.setting() },
        };
        let changed = self.runtime.block_on(mock.change(&change));
        Some(match changed {
            Ok(config) => {
                self.config = serde_json::from_value(config).ok().or_else(|| self.config.take());
                self.cap = wanted.slots().or(self.cap);
                self.is_moved = true;
                format!("{name} {before} → {wanted}")
            }
            Err(error) => format!("{name} is still {before}: {}", words_of(&error)),
        })
    }

    fn now(&self) -> Option<FirstLimit> {
        let limit = self.config.as_ref()?.first_limit(self.elapsed)?;
        Some(match self.cap {
            Some(cap) => limit.with_slots(cap),
            None => limit,
        })
    }
}
