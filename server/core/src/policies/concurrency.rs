//! Concurrency limit per key. Requests above the limit may wait in a queue.
//!
//! Source of the cap: the article "Improve on exponential backoff" (Sync Musings), called seed 000 in this project. Sources of the queue:
//! `HAProxy`'s `maxconn` with `timeout queue`, and the priority levels of Kubernetes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use vocabulary::{Instant, choices, parameters};

use crate::policies::{
    Capacity, Common, Decision, Key, Limit, Meaningless, PLACES_CHARGE_NOTHING, PolicyConfig, StagePolicy,
    StageRequest, Waited, downcast,
};
use crate::{LimitStatus, MAX_SLOTS, RequestId, ServiceModel};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Concurrency = "concurrency" {
        /// Maximum number of places that the requests of one key may occupy at the same time. A request occupies as many places as it costs,
        /// usually one. The value `u32::MAX` means that the server's own setting `max_busy` is the maximum.
        pub(crate) cap: u32 = u32::MAX,
            "maximum number of requests in service at once; `unlimited` uses the server's max-busy",
            1..=u32::MAX;
        pub(crate) queue: u32 = 0, "maximum number of requests that wait in the queue", 0..=MAX_SLOTS;
        pub(crate) queue_timeout: Duration = Duration::from_secs(5),
            "maximum wait in the queue before a rejection";
        pub(crate) order: choice Order = Order::Fifo,
            "which waiting request is served first: the first that arrived (`fifo`), or the last (`lifo`)";
    }
    summary = "limits concurrent requests; further ones wait in a queue, if there is one, or are rejected";
    rule = "a request is accepted while fewer than `cap` requests are in service; cap=unlimited means the \
        server's max-busy. Otherwise, it waits if fewer than `queue` requests are waiting, for at most \
        `queue-timeout`; after that, or if the queue is full, it is rejected. With rejects-occupy, a \
        rejection holds a place for its reject time";
    source = "scenario sync-musings; HAProxy's `maxconn` and `timeout queue`; priority levels of Kubernetes";
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Order {
        Fifo = "fifo",
        Lifo = "lifo",
    }
}

impl PolicyConfig for Concurrency {
    fn limit(&self) -> Option<Limit> {
        Some(Limit::new("cap"))
    }

    fn gate(&self, _common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Box::new(Places { config: self.clone(), ..Places::default() }))
    }
}

#[derive(Debug, Default)]
struct Places {
    config: Concurrency,
    /// State of the default key. Fast path: most servers do not distinguish clients and use only this key, so the separate field saves a
    /// map look-up.
    all: KeySlots,
    /// States of all keys except the default key. A key that has neither busy places nor queued requests has no entry.
    keys: BTreeMap<Key, KeySlots>,
    /// Queued requests, ordered by the instant of their timeout and then by arrival.
    timeouts: BTreeMap<(Instant, u64), (RequestId, Key)>,
    arrivals: u64,
    /// Requests that have left the queue and hold a place, but have not yet been passed on to the next stage. Each has the instant at which
    /// it left the queue. The requests are in the order of these instants.
    called: VecDeque<(Instant, RequestId)>,
}

#[derive(Debug, Default)]
struct KeySlots {
    busy: u64,
    queue: VecDeque<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: RequestId,
    cost: u64,
    timeout: (Instant, u64),
}

impl Places {
    fn cap(&self, at: Instant, service: &ServiceModel) -> u64 {
        u64::from(if self.config.cap == u32::MAX { service.slots(at) } else { self.config.cap })
    }

    fn place(&self, key: Key) -> Option<&KeySlots> {
        if key == Key::default() { Some(&self.all) } else { self.keys.get(&key) }
    }

    fn place_mut(&mut self, key: Key) -> Option<&mut KeySlots> {
        if key == Key::default() { Some(&mut self.all) } else { self.keys.get_mut(&key) }
    }

    fn place_of(&mut self, key: Key) -> &mut KeySlots {
        if key == Key::default() { &mut self.all } else { self.keys.entry(key).or_default() }
    }

    /// Admits queued requests of a key as long as enough places are free. Then removes the key's entry if the key has neither busy places
    /// nor queued requests.
    fn settle(&mut self, at: Instant, key: Key, cap: u64) {
        let Self { config, all, keys, timeouts, called, .. } = self;
        let place = if key == Key::default() { Some(all) } else { keys.get_mut(&key) };
        let Some(place) = place else { return };
        loop {
            let next = match config.order {
                Order::Fifo => place.queue.front(),
                Order::Lifo => place.queue.back(),
            };
            let Some(Waiting { id, cost, timeout }) = next.copied() else { break };
            if place.busy + cost > cap {
                break;
            }
            match config.order {
                Order::Fifo => place.queue.pop_front(),
                Order::Lifo => place.queue.pop_back(),
            };
            place.busy += cost;
            timeouts.remove(&timeout);
            called.push_back((at, id));
        }
        if key != Key::default() && place.busy == 0 && place.queue.is_empty() {
            keys.remove(&key);
        }
    }

    fn drop_out(&mut self, key: Key, id: RequestId) -> Option<Waiting> {
        let queue = &mut self.place_mut(key)?.queue;
        let index = queue.iter().position(|waiting| waiting.id == id)?;
        queue.remove(index)
    }
}

impl StagePolicy for Places {
    fn reconfigure(&mut self, at: Instant, other: Box<dyn StagePolicy>, service: &ServiceModel) {
        let Some(Self { config, .. }) = downcast(other) else { return };
        // A new `queue_timeout` applies only to requests that are queued from now on.
        self.config = config;
        self.call(at, service);
    }

    fn call(&mut self, at: Instant, service: &ServiceModel) {
        let cap = self.cap(at, service);
        let awaited: BTreeSet<Key> = self.timeouts.values().map(|(_, key)| *key).collect();
        for key in awaited {
            self.settle(at, key, cap);
        }
    }

    fn has_queue(&self) -> bool {
        self.config.queue > 0 || self.is_awaited() || !self.called.is_empty()
    }

    fn is_awaited(&self) -> bool {
        !self.timeouts.is_empty()
    }

    fn ask(&mut self, at: Instant, asked: &StageRequest<'_>, service: &ServiceModel) -> Decision {
        let (cap, cost) = (self.cap(at, service), u64::from(asked.cost));
        if cost > cap {
            return Decision::Reject(None);
        }
        if !self.timeouts.is_empty() {
            // Queued requests may fit now, because the concurrency cap may have been raised since the last call. They are admitted first.
            self.settle(at, asked.key, cap);
        }
        let (busy, waiting) = self.place(asked.key).map_or((0, 0), |place| (place.busy, place.queue.len()));
        // With LIFO order, the newest request is served first. The new request may therefore pass although older requests are queued. The
        // newest of the queued requests does not fit at present.
        let is_first = waiting == 0 || self.config.order == Order::Lifo;
        if is_first && busy + cost <= cap {
            return Decision::Pass;
        }
        if waiting >= self.config.queue as usize {
            // The advised wait is unknown, because it cannot be predicted when a place becomes free.
            return Decision::Reject(None);
        }
        let (id, timeout) = (asked.request.id, (at + self.config.queue_timeout, self.arrivals));
        self.arrivals += 1;
        self.place_of(asked.key).queue.push_back(Waiting { id, cost, timeout });
        self.timeouts.insert(timeout, (id, asked.key));
        Decision::Queue
    }

    fn charge(&mut self, _at: Instant, asked: &StageRequest<'_>) {
        self.place_of(asked.key).busy += u64::from(asked.cost);
    }

    fn ended(&mut self, at: Instant, asked: &StageRequest<'_>, service: &ServiceModel) {
        if let Some(place) = self.place_mut(asked.key) {
            place.busy = place.busy.saturating_sub(u64::from(asked.cost));
        }
        if asked.key != Key::default() || self.is_awaited() {
            self.settle(at, asked.key, self.cap(at, service));
        }
    }

    fn withdraw(&mut self, at: Instant, asked: &StageRequest<'_>, service: &ServiceModel) {
        let id = asked.request.id;
        if let Some(waiting) = self.drop_out(asked.key, id) {
            self.timeouts.remove(&waiting.timeout);
        } else if let Some(index) = self.called.iter().position(|(_, called)| *called == id) {
            self.called.remove(index);
            self.ended(at, asked, service);
            return;
        }
        self.settle(at, asked.key, self.cap(at, service));
    }

    fn next(&self) -> Option<Instant> {
        let called = self.called.front().map(|(at, _)| *at);
        called.or_else(|| self.timeouts.first_key_value().map(|((at, _), _)| *at))
    }

    fn advance(&mut self, at: Instant, service: &ServiceModel) -> Option<Waited> {
        if let Some((_, id)) = self.called.pop_front() {
            return Some(Waited { id, passes: true });
        }
        let entry = self.timeouts.first_entry().filter(|entry| entry.key().0 <= at)?;
        let (id, key) = entry.remove();
        self.drop_out(key, id);
        // Requests behind the removed request may fit now, because they may need fewer places.
        self.settle(at, key, self.cap(at, service));
        Some(Waited { id, passes: false })
    }

    fn holds_slots(&self) -> bool {
        true
    }

    fn meaningless(&self) -> Option<Meaningless> {
        Some(PLACES_CHARGE_NOTHING)
    }

    fn capacity(&self) -> Capacity {
        if self.config.cap == u32::MAX { Capacity::Slots } else { Capacity::Own(self.config.cap) }
    }

    fn limit_status(&mut self, at: Instant, key: Key, service: &ServiceModel) -> Option<LimitStatus> {
        let cap = self.cap(at, service);
        let busy = self.place(key).map_or(0, |place| place.busy);
        Some(LimitStatus {
            limit: cap,
            remaining: cap.saturating_sub(busy),
            reset: Duration::ZERO,
            window: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::{Distribution, TextField as _};

    use super::*;
    use crate::config::Config;
    use crate::policies::Missing;
    use crate::policies::key::KeyRule;
    use crate::request::{Request, Step};
    use crate::request_fields::RequestFields;

    const fn request(id: u32) -> Request {
        Request { id: RequestId(id), run: None, seed: 1, op: id as u64, attempt: 1, step: Step::Work }
    }

    static REQUESTS: [Request; 6] = [request(0), request(1), request(2), request(3), request(4), request(5)];

    /// A key other than the default, so that its entry is dropped when nothing is left of it.
    fn key() -> Key {
        let mut rule = KeyRule::default();
        rule.read("method").unwrap();
        rule.of(&RequestFields { method: "GET".into(), ..RequestFields::default() }, Missing::Shared)
    }

    fn asked(id: u32, cost: u32) -> StageRequest<'static> {
        StageRequest { request: &REQUESTS[id as usize], key: key(), cost }
    }

    fn service() -> ServiceModel {
        Config { max_busy: 2, service_time: Distribution::ZERO, ..Config::default() }.service_model()
    }

    fn places(order: Order) -> Places {
        let queue_timeout = Duration::from_secs(1);
        let config = Concurrency { queue: 2, queue_timeout, order, ..Concurrency::default() };
        Places { config, ..Places::default() }
    }

    fn come(places: &mut Places, at_ms: u64, id: u32) -> Decision {
        let (at, asked) = (Instant::from_millis(at_ms), asked(id, 1));
        let ruling = places.ask(at, &asked, &service());
        if ruling == Decision::Pass {
            places.charge(at, &asked);
        }
        ruling
    }

    #[test]
    fn a_freed_slot_goes_to_the_next_request_in_queue_order() {
        for (order, next) in [(Order::Fifo, 2), (Order::Lifo, 3)] {
            let mut places = places(order);
            let rulings = [0, 1, 2, 3, 4].map(|id| come(&mut places, 0, id));
            assert_eq!(rulings[..2], [Decision::Pass; 2]);
            assert_eq!(rulings[2..], [Decision::Queue, Decision::Queue, Decision::Reject(None)]);
            let at = Instant::from_millis(300);
            places.ended(at, &asked(0, 1), &service());
            assert_eq!(come(&mut places, 300, 5), Decision::Queue, "a later request finds the slot taken");
            assert_eq!(places.next(), Some(at));
            assert_eq!(places.advance(at, &service()), Some(Waited { id: RequestId(next), passes: true }));
            assert_eq!(places.advance(at, &service()), None);
            assert_eq!(places.next(), Some(Instant::from_millis(1000)));
        }
    }

    #[test]
    fn queued_requests_time_out_and_cancelled_ones_stop_waiting() {
        let mut places = places(Order::Fifo);
        for id in 0..4 {
            come(&mut places, u64::from(id), id);
        }
        places.withdraw(Instant::from_millis(4), &asked(2, 1), &service());
        assert_eq!(places.next(), Some(Instant::from_millis(1003)));
        let at = Instant::from_millis(1003);
        assert_eq!(places.advance(at, &service()), Some(Waited { id: RequestId(3), passes: false }));
        assert_eq!((places.next(), places.timeouts.len()), (None, 0));
        for id in [0, 1] {
            places.ended(at, &asked(id, 1), &service());
        }
        assert!(places.keys.is_empty(), "nothing is left of a key for which nothing is busy");
    }

    #[test]
    fn nobody_waits_beside_places_for_one_that_waits_no_more() {
        let cap_of_10 = Concurrency { cap: 10, queue: 10, ..places(Order::Fifo).config };
        let mut places = Places { config: cap_of_10, ..Places::default() };
        let at = Instant::ORIGIN;
        assert_eq!(places.ask(at, &asked(0, 6), &service()), Decision::Pass);
        places.charge(at, &asked(0, 6));
        assert_eq!(places.ask(at, &asked(1, 6), &service()), Decision::Queue);
        assert_eq!(places.ask(Instant::from_millis(1), &asked(2, 1), &service()), Decision::Queue);
        let at = Instant::from_millis(1000);
        assert_eq!(places.advance(at, &service()), Some(Waited { id: RequestId(1), passes: false }));
        assert_eq!(places.next(), Some(at));
        assert_eq!(places.advance(at, &service()), Some(Waited { id: RequestId(2), passes: true }));
        for (id, cost) in [(0, 6), (2, 1)] {
            places.ended(at, &asked(id, cost), &service());
        }
        assert!(places.keys.is_empty());
    }

    #[test]
    fn in_lifo_order_a_fitting_newcomer_passes_at_once() {
        let cap_of_10 = Concurrency { cap: 10, queue: 10, ..places(Order::Lifo).config };
        let mut places = Places { config: cap_of_10, ..Places::default() };
        let at = Instant::ORIGIN;
        places.charge(at, &asked(0, 6));
        assert_eq!(places.ask(at, &asked(1, 6), &service()), Decision::Queue);
        assert_eq!(places.ask(at, &asked(2, 1), &service()), Decision::Pass);
    }

    #[test]
    fn what_costs_more_takes_more_places() {
        let mut places = places(Order::Fifo);
        let at = Instant::ORIGIN;
        assert_eq!(places.ask(at, &asked(0, 3), &service()), Decision::Reject(None), "never");
        assert_eq!(places.ask(at, &asked(1, 2), &service()), Decision::Pass);
        places.charge(at, &asked(1, 2));
        assert_eq!(places.ask(at, &asked(2, 2), &service()), Decision::Queue);
        assert_eq!(
            places.limit_status(at, key(), &service()).map(|limit_status| limit_status.remaining),
            Some(0)
        );
        places.ended(at, &asked(1, 2), &service());
        assert_eq!(places.advance(at, &service()), Some(Waited { id: RequestId(2), passes: true }));
    }
}
