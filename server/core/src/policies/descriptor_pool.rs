//! A service that shares a pool of file descriptors with its submitters, and crashes when no descriptors are left.
//!
//! Source: Thain and Livny, "The Ethernet Approach to Grid Computing", HPDC 2003, sections 4 and 5 (called seed 003 in this project). A
//! submitter is the process that sends one request. It holds descriptors from its start. After its startup, it connects to the service,
//! which needs further descriptors for the connection. The service serves one connection at a time, and becomes slower the more submitters
//! are in progress. If a new connection finds too few descriptors, the service crashes. All connections then fail, and the service is
//! available again after a while.

use std::collections::VecDeque;
use std::time::Duration;

use vocabulary::{Instant, Purpose, draws, nanos, parameters, unit};

use crate::policies::{Admission, Arrived, Capacity, Load, PolicyConfig, Released};
use crate::request::store;
use crate::timeline::{Event, Timeline};
use crate::{Request, RequestId, ServerDecision, ServiceModel};

parameters! {
    /// Parameters of the descriptor pool. The default values are fitted to the results in the paper by Thain and Livny.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct PoolConfig = "descriptor-pool" {
        descriptors: u32 = 7600, "total number of file descriptors", 1..=1_000_000_000;
        per_process: u32 = 19, "number of descriptors that each submitter in flight holds", 0..=1_000_000;
        per_connection: u32 = 11,
            "number of further descriptors that a submitter's connection takes", 0..=1_000_000;
        service_rate: f64 = 2.75,
            "number of jobs served per second when no other submitter is in flight", 1e-6..=1e6;
        slowdown: f64 = 858.0, "number of submitters in flight at which the service time doubles", 1.0..=1e9;
        startup: Duration = Duration::from_secs(1), "startup time of a submitter when no other is in flight";
        startup_slope: Duration = Duration::from_millis(100),
            "time that each submitter in flight adds to the startup time of a new one";
        restart: Duration = Duration::from_secs(15), "time from a crash until the service is available again";
        failed_start: Duration = Duration::from_secs(1),
            "time after which a submitter that found too few descriptors fails";
    }
    summary = "requests share a pool of file descriptors; when none is left, the service crashes";
    rule = "each request has a submitter process. It takes `per-process` descriptors; if fewer are free, it \
        fails after `failed-start`. Its startup takes `startup` + `startup-slope` * n, times a random factor \
        from 0.5 to 1.5, where n is the number of submitters in flight. Then it connects, which takes \
        `per-connection` more descriptors. The service serves one connection at a time, for (1 + n / \
        `slowdown`) / `service-rate`. If too few descriptors are free for a connection, the service crashes: \
        all connections fail, and it is available again after `restart`";
    source = "Thain and Livny, The Ethernet Approach to Grid Computing, HPDC 2003 (scenario ethernet)";
}

impl PolicyConfig for PoolConfig {
    fn build(&self) -> Option<Box<dyn Admission>> {
        Some(Box::new(DescriptorPool { config: self.clone(), ..DescriptorPool::default() }))
    }

    fn mean_service(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64(1.0 / self.service_rate))
    }

    fn startup(&self) -> Duration {
        self.startup
    }
}

#[derive(Debug, Default)]
struct DescriptorPool {
    config: PoolConfig,
    in_use: u32,
    /// Number of submitters that hold descriptors.
    under_way: u32,
    /// Connected requests, in the order in which they connected. The first one is in service while the server is up.
    connected: VecDeque<RequestId>,
    down: bool,
    crashes: u64,
    /// Next event of each request, by request id, and the end of a restart ([`UP`]).
    events: Timeline,
    scheduled: u32,
    /// State of each request, by request id. `None` if no request with this id is in progress.
    holders: Vec<Option<Holder>>,
    done: VecDeque<Released>,
    done_at: Instant,
}

/// Item of the event at which a crashed server is up again.
const UP: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Holder {
    stage: Stage,
    since: Instant,
    /// Number of the pending event of this request. Events with other numbers are ignored: they belong to earlier requests with the same
    /// id, or a crash has invalidated them.
    order: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The submitter found too few descriptors, and will fail soon.
    Failing,
    Starting,
    Connected,
}

impl Admission for DescriptorPool {
    fn arrive(&mut self, at: Instant, request: &Request, _service: &ServiceModel) -> Arrived {
        let luck = 0.5 + unit(&mut draws(request.seed, Purpose::Startup, request.op, request.attempt));
        let (stage, takes) = if self.unused() < self.config.per_process {
            (Stage::Failing, self.config.failed_start)
        } else {
            self.in_use += self.config.per_process;
            self.under_way += 1;
            (Stage::Starting, self.config.startup + self.config.startup_slope * self.under_way)
        };
        let holder = Holder { stage, since: at, order: self.scheduled };
        store(&mut self.holders, request.id.0 as usize, Some(holder));
        self.schedule(at + nanos(takes.as_nanos() as f64 * luck), request.id.0);
        Arrived::Open
    }

    fn cancel(&mut self, at: Instant, id: RequestId, _service: &ServiceModel) -> Option<Released> {
        self.done.retain(|released| released.id != id);
        let served = self.connected.front() == Some(&id);
        let released = self.release(at, id, ServerDecision::Rejected)?;
        self.connected.retain(|connected| *connected != id);
        if served {
            self.serve_next(at);
        }
        Some(released)
    }

    fn advance(&mut self, _seed: u64, _service: &ServiceModel) -> Option<Released> {
        if self.done.is_empty() && self.events.first() != Event::NEVER {
            let event = self.events.first();
            self.events.pop();
            self.done_at = event.at();
            if event.item() == UP {
                self.down = false;
            } else if let Some(holder) =
                self.holders[event.item() as usize].filter(|holder| holder.order == event.order())
            {
                self.happens(event.at(), RequestId(event.item()), holder.stage);
            }
        }
        self.done.pop_front()
    }

    fn load(&self) -> Load {
        let next = if self.done.is_empty() { self.events.first().at() } else { self.done_at };
        let in_service = u32::try_from(self.connected.len()).unwrap_or(u32::MAX);
        Load { busy: self.in_use, in_service, next }
    }

    fn capacity(&self) -> Capacity {
        Capacity::Own(self.config.descriptors)
    }

    fn take_crashes(&mut self) -> u64 {
        std::mem::take(&mut self.crashes)
    }
}

impl DescriptorPool {
    fn unused(&self) -> u32 {
        self.config.descriptors - self.in_use
    }

    fn schedule(&mut self, at: Instant, item: u32) {
        self.events.push(Event::new(at, self.scheduled, item));
        self.scheduled = self.scheduled.wrapping_add(1);
    }

    fn happens(&mut self, at: Instant, id: RequestId, stage: Stage) {
        match stage {
            Stage::Failing => self.finish(at, id, ServerDecision::Rejected),
            Stage::Starting if self.down => self.finish(at, id, ServerDecision::Rejected),
            Stage::Starting if self.unused() < self.config.per_connection => {
                self.finish(at, id, ServerDecision::Rejected);
                self.crash(at);
            }
            Stage::Starting => {
                self.in_use += self.config.per_connection;
                if let Some(holder) = &mut self.holders[id.0 as usize] {
                    holder.stage = Stage::Connected;
                }
                self.connected.push_back(id);
                if self.connected.len() == 1 {
                    self.serve_next(at);
                }
            }
            Stage::Connected => {
                self.finish(at, id, ServerDecision::Accepted);
                self.connected.pop_front();
                self.serve_next(at);
            }
        }
    }

    fn serve_next(&mut self, at: Instant) {
        let Some(id) = self.connected.front().copied() else { return };
        let seconds = (1.0 + f64::from(self.under_way) / self.config.slowdown) / self.config.service_rate;
        if let Some(holder) = &mut self.holders[id.0 as usize] {
            holder.order = self.scheduled;
        }
        self.schedule(at + nanos(seconds * 1e9), id.0);
    }

    fn crash(&mut self, at: Instant) {
        self.down = true;
        self.crashes += 1;
        for id in std::mem::take(&mut self.connected) {
            self.finish(at, id, ServerDecision::Rejected);
        }
        self.schedule(at + self.config.restart, UP);
    }

    fn finish(&mut self, at: Instant, id: RequestId, verdict: ServerDecision) {
        if let Some(released) = self.release(at, id, verdict) {
            self.done.push_back(released);
        }
    }

    fn release(&mut self, at: Instant, id: RequestId, verdict: ServerDecision) -> Option<Released> {
        let holder = self.holders.get_mut(id.0 as usize)?.take()?;
        let busy = self.in_use;
        if holder.stage != Stage::Failing {
            self.in_use -= self.config.per_process;
            self.under_way -= 1;
        }
        if holder.stage == Stage::Connected {
            self.in_use -= self.config.per_connection;
        }
        Some(Released { held: at.since(holder.since), ..Released::at_once(id, verdict, busy) })
    }
}
