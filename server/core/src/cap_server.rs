//! A server that is nothing but a cap: what [`Server`](crate::Server) does where nothing else is configured, for a third of the work.
//!
//! Simulations spend their time here: most experiments are about a plain cap. Every request of the whole server pays for what it may meet
//! (stages, schedules, faults, losses, runs that are counted apart, another configuration tomorrow); here is what is left without. The
//! rules are those of [`Server`](crate::Server), in the same order, and its tests hold the two against each other.

mod counts;
mod delay;
mod exchange;
mod place;

use std::collections::VecDeque;
use std::time::Duration;

use vocabulary::wire::ServerStats;
use vocabulary::{Instant, Purpose};

use crate::caps::Caps;
use crate::config::Config;
use crate::request::{RequestId, Step, Verdict, service_time};
use crate::timeline::Timeline;

use counts::Counts;
use delay::Delay;
use place::Place;

pub use exchange::{CapAnswer, CapRequest};

/// A plain cap with its network legs. Requests bring a token, which their answers give back.
#[derive(Debug)]
pub struct CapServer<T> {
    /// Keys the draws of all requests.
    seed: u64,
    /// Slots before any of `caps`.
    max_busy: u32,
    /// Slots from later instants on, if there are others.
    caps: Option<Caps>,
    rejects_occupy: bool,
    service_time: Delay,
    reject_time: Delay,
    network_delay: Delay,
    return_delay: Delay,
    /// What rejections advise.
    retry_after: Option<Duration>,
    /// By request id.
    places: Vec<Place<T>>,
    busy: u32,
    in_service: u32,
    /// The version of the one object that conditional writes change.
    version: u64,
    /// Things scheduled so far: what breaks ties, and by what a request knows its own.
    scheduled: u64,
    /// Requests on their way to admission.
    coming: Timeline<RequestId>,
    /// Ends of service; apart from ends of rejections, so that constant times keep both in order.
    services: Timeline<RequestId>,
    rejections: Timeline<RequestId>,
    /// Answers on their way to the client.
    going: Timeline<CapAnswer<T>>,
    /// Answers that were due when a request came.
    waiting: VecDeque<CapAnswer<T>>,
    /// Nothing happens before this; [`Instant::FAR_FUTURE`] if nothing does.
    next_at: Instant,
    counts: Counts,
}

impl Config {
    /// Whether a [`CapServer`] does everything that it says.
    fn is_nothing_but_a_cap(&self) -> bool {
        // A cap that changes is met by whoever comes then.
        self.answers.is_empty() && self.beyond_a_plain_cap().iter().all(|key| *key == "caps")
    }
}

impl<T: Copy> CapServer<T> {
    /// A server without requests, whose draws this seed keys; `None` where the configuration asks for more than a plain cap. It should
    /// have passed [`Config::validate`].
    pub fn new(config: &Config, seed: u64) -> Option<Self> {
        config.is_nothing_but_a_cap().then(|| Self {
            seed,
            max_busy: config.max_busy,
            caps: Some(config.caps.clone()).filter(|caps| !caps.is_empty()),
            rejects_occupy: config.rejects_occupy,
            service_time: Delay::new(config.service_time),
            reject_time: Delay::new(config.reject_time),
            network_delay: Delay::new(config.network_delay),
            return_delay: Delay::new(config.return_delay),
            retry_after: config.retry_after,
            places: Vec::new(),
            busy: 0,
            in_service: 0,
            version: 0,
            scheduled: 0,
            coming: Timeline::default(),
            services: Timeline::default(),
            rejections: Timeline::default(),
            going: Timeline::default(),
            waiting: VecDeque::new(),
            next_at: Instant::FAR_FUTURE,
            counts: Counts::default(),
        })
    }

    /// What an answer with this verdict advises.
    pub fn advice(&self, verdict: Verdict) -> Option<Duration> {
        match verdict {
            Verdict::Rejected | Verdict::Conflict => self.retry_after,
            Verdict::Accepted | Verdict::Deferred | Verdict::Failed => None,
        }
    }

    /// A request comes.
    #[expect(clippy::inline_always, reason = "35 of 2490 instructions an attempt, with `end`, by callgrind")]
    #[inline(always)]
    pub fn arrive(&mut self, now: Instant, request: CapRequest, token: T) {
        self.catch_up(now);
        let index = request.id.0 as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, Place::free(token));
        }
        let order = self.order();
        self.places[index] = Place::coming(order, request, token);
        let seed = self.seed;
        match self.network_delay.nanos(|delay| request.keyed(seed).network_delay(delay)) {
            0 => self.admit_at_once(now, request.id),
            delay => {
                self.coming.push(later(now, delay), order, request.id);
                self.next_at = self.next_at.min(self.coming.next().0);
            }
        }
    }

    /// A request comes that is to start only if so much is free at this very instant: else it is answered at once with
    /// [`Verdict::Deferred`], holds nothing and is counted nowhere.
    pub fn arrive_if_free(&mut self, now: Instant, request: CapRequest, least: u32, token: T) {
        self.catch_up(now);
        let cap = self.slots(now);
        if cap.saturating_sub(self.busy) >= least {
            return self.arrive(now, request, token);
        }
        let (busy, version, verdict) = (self.busy, self.version, Verdict::Deferred);
        self.waiting.push_back(CapAnswer { request, token, verdict, at: now, busy, cap, version });
    }

    /// What the request brought that has this id, if one is under way.
    pub fn token(&self, id: RequestId) -> Option<T> {
        self.places.get(id.0 as usize).filter(|place| !place.is_free()).map(|place| place.token)
    }

    /// The client of this request is gone: what it held is free.
    pub fn cancel(&mut self, now: Instant, id: RequestId) {
        self.catch_up(now);
        let Some(place) = self.places.get_mut(id.0 as usize).filter(|place| !place.is_free()) else {
            self.waiting.retain(|answer| answer.request.id != id);
            return;
        };
        if let Some(verdict) = place.verdict {
            let since = place.since;
            place.vacate();
            let (_, held_nanos) = self.release(now, since, verdict);
            self.counts.on_waste(held_nanos);
        } else {
            place.vacate();
        }
        self.forget_stale();
    }

    /// When something is due next: an answer that waits to be taken, or an event; [`Instant::FAR_FUTURE`] if nothing is.
    #[inline]
    pub fn next_at(&self) -> Instant {
        if self.waiting.is_empty() {
            return self.next_at;
        }
        self.waiting.front().map_or(self.next_at, |answer| answer.at)
    }

    /// The next answer that is due by `until`, and nothing that is due after it: everything before has been processed, each at its own
    /// instant.
    #[expect(
        clippy::inline_always,
        reason = "75 of 3400 instructions an attempt, with those that it calls, by callgrind"
    )]
    #[inline(always)]
    pub fn next_answer(&mut self, until: Instant) -> Option<CapAnswer<T>> {
        if !self.waiting.is_empty() {
            return self.waiting.pop_front();
        }
        while self.next_at <= until && self.next_at != Instant::FAR_FUTURE {
            let answer = self.step(self.next_at);
            self.next_at = self.next();
            if answer.is_some() {
                return answer;
            }
        }
        None
    }

    /// What was counted by now.
    pub fn stats(&mut self, now: Instant) -> ServerStats {
        self.catch_up(now);
        self.counts.stats(self.busy)
    }

    /// Processes everything that is due by `now`, each at its own instant: mostly nothing.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if self.next_at <= now {
            self.process(now);
        }
    }

    /// The same where something is due.
    #[cold]
    fn process(&mut self, now: Instant) {
        while self.next_at <= now && self.next_at != Instant::FAR_FUTURE {
            let answer = self.step(self.next_at);
            self.waiting.extend(answer);
            self.next_at = self.next();
        }
    }

    /// Processes one thing that is due at `at`; what ends comes first.
    #[expect(clippy::inline_always, reason = "a part of `next_answer`")]
    #[inline(always)]
    fn step(&mut self, at: Instant) -> Option<CapAnswer<T>> {
        let (service, rejection) = (self.services.next(), self.rejections.next());
        if service.0.min(rejection.0) == at {
            let ends = if rejection < service { &mut self.rejections } else { &mut self.services };
            let ((_, order), id) = ends.pop()?;
            self.end(at, id, order)
        } else if self.coming.next().0 == at {
            let ((_, order), id) = self.coming.pop()?;
            if self.places[id.0 as usize].order == order { self.admit(at, id) } else { None }
        } else {
            let ((_, order), answer) = self.going.pop()?;
            let place = &mut self.places[answer.request.id.0 as usize];
            (place.order == order).then(|| {
                place.vacate();
                CapAnswer { at, ..answer }
            })
        }
    }

    /// When the next thing happens; [`Instant::FAR_FUTURE`] if nothing does.
    #[inline]
    fn next(&self) -> Instant {
        let ends = self.services.next().0.min(self.rejections.next().0);
        ends.min(self.coming.next().0).min(self.going.next().0)
    }

    /// A request reaches admission with its arrival.
    #[inline(never)]
    fn admit_at_once(&mut self, now: Instant, id: RequestId) {
        let answer = self.admit(now, id);
        self.waiting.extend(answer);
        self.next_at = self.next();
    }

    /// A request reaches admission. What takes no time is answered at once.
    #[expect(clippy::inline_always, reason = "a part of `next_answer`")]
    #[inline(always)]
    fn admit(&mut self, at: Instant, id: RequestId) -> Option<CapAnswer<T>> {
        let request = self.places[id.0 as usize].request(id);
        let verdict = match request.step {
            _ if self.busy >= self.slots(at) => Verdict::Rejected,
            Step::Write { if_match } if if_match != self.version => Verdict::Conflict,
            Step::Write { .. } => {
                self.version += 1;
                Verdict::Accepted
            }
            Step::Work | Step::Read => Verdict::Accepted,
        };
        let accepted = verdict == Verdict::Accepted;
        let seed = self.seed;
        let takes = if accepted {
            self.service_time.nanos(|time| service_time(time, seed, request.op))
        } else {
            self.reject_time.nanos(|time| request.keyed(seed).sample(time, Purpose::RejectTime))
        };
        let is_at_once = takes == 0;
        // What takes no time was in service, too, if only for that moment.
        let occupying = u32::from(accepted || (self.rejects_occupy && !is_at_once));
        let (busy, in_service) = (self.busy + occupying, self.in_service + u32::from(accepted));
        self.counts.on_admission(request.step, verdict, busy, in_service);
        if is_at_once {
            return self.answer(at, id, verdict, busy);
        }
        (self.busy, self.in_service) = (busy, in_service);
        let order = self.order();
        let place = &mut self.places[id.0 as usize];
        (place.order, place.since, place.verdict) = (order, at, Some(verdict));
        let ends = if accepted { &mut self.services } else { &mut self.rejections };
        ends.push(later(at, takes), order, id);
        None
    }

    /// Service or a rejection ends.
    #[expect(clippy::inline_always, reason = "a part of `next_answer`")]
    #[inline(always)]
    fn end(&mut self, at: Instant, id: RequestId, order: u64) -> Option<CapAnswer<T>> {
        let Place { order: current, since, verdict, .. } = self.places[id.0 as usize];
        let verdict = verdict.filter(|_| current == order)?;
        let (busy, held_nanos) = self.release(at, since, verdict);
        match verdict {
            Verdict::Accepted => self.counts.on_service(held_nanos),
            _ => self.counts.on_waste(held_nanos),
        }
        self.answer(at, id, verdict, busy)
    }

    /// What a request held is free; what was busy until then, and for how many nanoseconds it held a slot.
    #[inline]
    fn release(&mut self, at: Instant, since: Instant, verdict: Verdict) -> (u32, u64) {
        let busy = self.busy;
        let accepted = verdict == Verdict::Accepted;
        let occupies = accepted || self.rejects_occupy;
        self.busy -= u32::from(occupies);
        self.in_service -= u32::from(accepted);
        (busy, if occupies { at.as_nanos().saturating_sub(since.as_nanos()) } else { 0 })
    }

    /// A request is done with: its answer goes out.
    #[expect(clippy::inline_always, reason = "a part of `next_answer`")]
    #[inline(always)]
    fn answer(&mut self, at: Instant, id: RequestId, verdict: Verdict, busy: u32) -> Option<CapAnswer<T>> {
        let (cap, version, seed) = (self.slots(at), self.version, self.seed);
        let place = &mut self.places[id.0 as usize];
        let (request, token) = (place.request(id), place.token);
        match self.return_delay.nanos(|delay| request.keyed(seed).return_delay(delay)) {
            0 => {
                place.vacate();
                // Made in each arm anew: one for both would be written to memory, to be copied from there at once.
                Some(CapAnswer { request, token, verdict, at, busy, cap, version })
            }
            delay => {
                let answer = CapAnswer { request, token, verdict, at, busy, cap, version };
                self.send_back(later(at, delay), &answer);
                None
            }
        }
    }

    /// An answer is on its way.
    #[inline(never)]
    fn send_back(&mut self, at: Instant, answer: &CapAnswer<T>) {
        let order = self.order();
        let place = &mut self.places[answer.request.id.0 as usize];
        (place.order, place.verdict) = (order, None);
        self.going.push(at, order, *answer);
    }

    /// Slots at this instant.
    #[inline]
    fn slots(&self, at: Instant) -> u32 {
        self.caps.as_ref().and_then(|caps| caps.at(at)).unwrap_or(self.max_busy)
    }

    /// Larger than everything scheduled before.
    #[inline]
    fn order(&mut self) -> u64 {
        self.scheduled += 1;
        self.scheduled
    }

    /// Drops what cancelled requests left when it is the most.
    fn forget_stale(&mut self) {
        let places = &self.places;
        let alive = |id: RequestId, order| places[id.0 as usize].order == order;
        let most = 2 * places.len();
        for timeline in [&mut self.coming, &mut self.services, &mut self.rejections] {
            if timeline.len() > most {
                timeline.retain(|(_, order), id| alive(*id, order));
            }
        }
        if self.going.len() > most {
            self.going.retain(|(_, order), answer| alive(answer.request.id, order));
        }
        self.next_at = self.next();
    }
}

/// So many nanoseconds later.
#[inline]
fn later(at: Instant, nanos: u64) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_add(nanos))
}

#[cfg(test)]
mod tests;
