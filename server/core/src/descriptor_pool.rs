//! Admission to a service that shares a pool of descriptors with those who submit to it, and breaks down when it
//! finds none left.
//!
//! Source: seed 003; Thain and Livny, "The Ethernet Approach to Grid Computing", HPDC 2003, sections 4 and 5. A
//! submitter holds descriptors from its start; once it has started it connects, which takes some more at the service.
//! One connection is served at a time, slower the more submitters are under way. A connection that finds too few
//! descriptors crashes the service: all connections fail, and it is back after a while.

use std::collections::VecDeque;
use std::time::Duration;

use vocabulary::{Instant, Purpose, draws, nanos, unit};

use crate::admission::{Arrived, Released};
use crate::policy::PoolConfig;
use crate::request::{Request, RequestId, Verdict};
use crate::timeline::Timeline;

/// Descriptors, who holds them, and whether the service is up.
#[derive(Debug)]
pub(crate) struct DescriptorPool {
    config: PoolConfig,
    in_use: u32,
    /// Submitters that hold descriptors.
    under_way: u32,
    /// Connections, in order; the first is served while the service is up.
    connected: VecDeque<RequestId>,
    down: bool,
    crashes: u64,
    events: Timeline<Event>,
    scheduled: u64,
    /// By request id; `None` when it holds nothing and waits for nothing.
    holders: Vec<Option<Holder>>,
    done: VecDeque<Released>,
    done_at: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// Something that one request waits for.
    Of(RequestId),
    /// The service is back.
    Up,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    stage: Stage,
    since: Instant,
    /// Which event is its own: ids are used again, and a crash voids what was to come.
    order: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No descriptors for it; it will notice.
    Failing,
    Starting,
    Connected,
}

impl DescriptorPool {
    pub(crate) fn new(config: PoolConfig) -> Self {
        Self {
            config,
            in_use: 0,
            under_way: 0,
            connected: VecDeque::new(),
            down: false,
            crashes: 0,
            events: Timeline::default(),
            scheduled: 0,
            holders: Vec::new(),
            done: VecDeque::new(),
            done_at: Instant::ORIGIN,
        }
    }

    /// A submitter starts, or cannot for want of descriptors.
    pub(crate) fn arrive(&mut self, at: Instant, request: &Request) -> Arrived {
        let luck = 0.5 + unit(&mut draws(request.seed, Purpose::Startup, request.op, request.attempt));
        let (stage, takes) = if self.free() < self.config.per_process {
            (Stage::Failing, self.config.failed_start)
        } else {
            self.in_use += self.config.per_process;
            self.under_way += 1;
            (Stage::Starting, self.config.startup + self.config.startup_slope * self.under_way)
        };
        let index = request.id.0 as usize;
        if self.holders.len() <= index {
            self.holders.resize(index + 1, None);
        }
        self.holders[index] = Some(Holder { stage, since: at, order: self.scheduled });
        self.schedule(at + nanos(takes.as_nanos() as f64 * luck), Event::Of(request.id));
        Arrived::Open
    }

    pub(crate) fn cancel(&mut self, at: Instant, id: RequestId) -> Option<Released> {
        self.done.retain(|released| released.id != id);
        let served = self.connected.front() == Some(&id);
        let released = self.release(at, id, Verdict::Rejected)?;
        self.connected.retain(|connected| *connected != id);
        if served {
            self.serve_next(at);
        }
        Some(released)
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        if self.done.is_empty() { self.events.next().map(|(at, _)| at) } else { Some(self.done_at) }
    }

    pub(crate) fn advance(&mut self) -> Option<Released> {
        if self.done.is_empty()
            && let Some(((at, order), event)) = self.events.pop()
        {
            self.done_at = at;
            match event {
                Event::Up => self.down = false,
                Event::Of(id) => {
                    let holder = self.holders[id.0 as usize].filter(|holder| holder.order == order);
                    if let Some(holder) = holder {
                        self.happens(at, id, holder.stage);
                    }
                }
            }
        }
        self.done.pop_front()
    }

    pub(crate) fn in_use(&self) -> u32 {
        self.in_use
    }

    pub(crate) fn connected(&self) -> u32 {
        u32::try_from(self.connected.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn descriptors(&self) -> u32 {
        self.config.descriptors
    }

    pub(crate) fn take_crashes(&mut self) -> u64 {
        std::mem::take(&mut self.crashes)
    }

    fn free(&self) -> u32 {
        self.config.descriptors - self.in_use
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.push(at, self.scheduled, event);
        self.scheduled += 1;
    }

    /// What a request waited for has come.
    fn happens(&mut self, at: Instant, id: RequestId, stage: Stage) {
        match stage {
            Stage::Failing => self.finish(at, id, Verdict::Rejected),
            Stage::Starting if self.down => self.finish(at, id, Verdict::Rejected),
            Stage::Starting if self.free() < self.config.per_connection => {
                self.finish(at, id, Verdict::Rejected);
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
                self.finish(at, id, Verdict::Accepted);
                self.connected.pop_front();
                self.serve_next(at);
            }
        }
    }

    /// The service takes up its first connection.
    fn serve_next(&mut self, at: Instant) {
        let Some(id) = self.connected.front().copied() else { return };
        let seconds = (1.0 + f64::from(self.under_way) / self.config.slowdown) / self.config.service_rate;
        if let Some(holder) = &mut self.holders[id.0 as usize] {
            holder.order = self.scheduled;
        }
        self.schedule(at + nanos(seconds * 1e9), Event::Of(id));
    }

    fn crash(&mut self, at: Instant) {
        self.down = true;
        self.crashes += 1;
        for id in std::mem::take(&mut self.connected) {
            self.finish(at, id, Verdict::Rejected);
        }
        self.schedule(at + self.config.restart, Event::Up);
    }

    fn finish(&mut self, at: Instant, id: RequestId, verdict: Verdict) {
        if let Some(released) = self.release(at, id, verdict) {
            self.done.push_back(released);
        }
    }

    /// Gives back what a request holds.
    fn release(&mut self, at: Instant, id: RequestId, verdict: Verdict) -> Option<Released> {
        let holder = self.holders.get_mut(id.0 as usize)?.take()?;
        let busy = self.in_use;
        if holder.stage != Stage::Failing {
            self.in_use -= self.config.per_process;
            self.under_way -= 1;
        }
        if holder.stage == Stage::Connected {
            self.in_use -= self.config.per_connection;
        }
        Some(Released {
            id,
            verdict,
            held: Duration::from_nanos(at.as_nanos() - holder.since.as_nanos()),
            busy,
        })
    }
}
