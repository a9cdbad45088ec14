#!/usr/bin/env python3
"""Writes the test vectors of the limiter `tailback`: inputs of small simulated runs and the state expected after each.

    python3 client/strategies/tests/tailback_vectors.py            # writes the file
    python3 client/strategies/tests/tailback_vectors.py --check    # fails if the stored file differs

The class `Limiter` follows the published pseudo-code of the algorithm line by line and shares no code with the Rust
limiter. A difference between the two is therefore an error in one of them. The rest of this script is a deterministic
event model of one client and one server. It makes its own random numbers, so the file is the same on every machine.
"""

import argparse
import heapq
import math
import pathlib
import sys

FILE = pathlib.Path(__file__).resolve().parent.parent / "src/limiters/tailback/vectors.txt"

MS = 1_000_000
S = 1_000_000_000
HOLD_MAX = 3600 * S
NEVER = 2**64 - 1

HEADER = """\
# Test vectors of the limiter `tailback`. Do not edit; written by
#     python3 client/strategies/tests/tailback_vectors.py
#
# `run NAME initial beta longest-gap hold quota` starts a new limiter. Every other line is an input, `|`, and the state after it:
#     poll  now in-flight
#     sent  now in-flight ready seq                   (in-flight excludes the new attempt, ready includes its op)
#     end   now in-flight ready seq sent-at in-flight-when-sent status        (in-flight includes the ended attempt)
#           [advice WAIT] [quota LIMIT REMAINING RESET whole|fine]            (what the answer states, in nanoseconds)
#     | window top base gap decision
# `top` is the window at the last cut and `base` is the window that the cut left. Instants are in nanoseconds. The gap and
# the longest gap are in seconds. The decision is that of a poll at `now` with the attempts in flight after the input:
# `go`, `event` (wait for an event) or the instant to wait for. `=` repeats the value of the line before.
"""


class Limiter:
    """The pseudo-code. Instants are whole nanoseconds, latencies and gaps are seconds.

    There is one intended difference: `poll` drops the `+ 1e-6` of the blind start. The addition makes a wait end a few
    nanoseconds later and has no effect at the resolution of the clock.
    """

    def __init__(self, initial=20.0, beta=0.95, longest_gap=60.0, hold=True, quota=True):
        self.initial, self.beta, self.longest_gap = initial, beta, longest_gap
        self.hold, self.reads_quota = hold, quota
        # Rules 1 to 4: the hold, and the price of probes.
        self.until, self.last_wait = 0, 0.0
        self.most_accepted = 0
        self.is_rate = False
        self.plateau = self.pause = 0.0
        # Rule 5: what the newest answer with a quota stated.
        self.quota = None
        self.own = self.all = 0.0
        self.w = initial
        self.top = self.base = 0.0
        self.rounds = self.strikes = self.rise = 0.0
        self.starting = self.open = True
        self.next_seq = self.cut_seq = 0
        self.L = self.R = None
        self.D = 0.0
        self.first_sent = None
        self.answered = False
        self.next = 0

    def gap(self):
        if self.L is not None:
            latency = self.L
        elif self.R is not None:
            latency = self.R
        else:
            latency = 0.0
        if self.w >= 1 and not self.is_rate:
            latency = max(latency - self.D, 0.0)
        return min(latency / self.w, self.longest_gap)

    def poll(self, now, flying, seq):
        if flying >= max(self.w, 1):
            if not self.answered and self.first_sent is not None:
                at = self.first_sent + nanoseconds((flying - max(self.w, 1)) / self.initial * 0.2)
                if now < at:
                    return at
            else:
                return "event"
        if now < max(self.next, self.until):
            return max(self.next, self.until)
        admitted = self.admitted_at(seq)
        if now >= admitted:
            return "go"
        if admitted < NEVER:
            return admitted
        return "event" if flying > 0 else "go"

    def on_sent(self, now, seq):
        quota = self.quota
        if quota and seq >= math.floor(quota.credit) and not quota.rate and not quota.assumed and now >= quota.reset_at:
            # The window is over: assume that the next one is as large.
            quota.assumed = True
            quota.credit = seq + max(quota.limit * self.share(), 1)
            quota.remaining, quota.seq = quota.limit, seq - 1
        self.next_seq = seq + 1
        if self.first_sent is None:
            self.first_sent = now
        gap = nanoseconds(self.gap())
        self.next = now if now - self.next > gap else self.next + gap

    def share(self):
        share = self.own / self.all if self.all > 0 else 1
        return share if share <= 0.9 else 1

    def too_short(self):
        """The period passes before answers arrive."""
        latency = self.L if self.L is not None else self.R if self.R is not None else 0.0
        return self.quota.period < 0.3 * latency * S

    def admitted_at(self, seq):
        """The instant from which the quota admits an attempt."""
        quota = self.quota
        if quota is None or self.too_short() or seq + 1 <= quota.credit:
            return 0
        if quota.rate:
            wait = (seq + 1 - quota.credit) / (quota.rate * self.share())
            return quota.at + min(round(wait), HOLD_MAX)
        if quota.assumed:
            return NEVER
        if seq < quota.credit and quota.remaining > 0:
            return quota.at + (quota.reset_at - quota.at) // 8
        return quota.reset_at

    def covers(self, seq, sent_at):
        """Whether the attempt was within this client's share, by what is known now."""
        if self.quota is None or self.too_short() or seq + 1 <= self.quota.credit:
            return True
        return bool(self.quota.rate) and sent_at >= self.admitted_at(seq)

    def on_quota(self, now, seq, status, stated):
        usable = stated is not None and stated[0] >= 5
        if not usable:
            if status == "ok":
                self.quota, self.own, self.all = None, 0.0, 0.0
            return
        limit, remaining, reset, is_whole = stated
        new = Stated(limit, remaining, now, now + min(reset, HOLD_MAX), seq)
        old = self.quota
        if old is None:
            if status == "ok":
                self.quota = new
            return
        if seq <= old.seq:
            return
        rounding = 1.2 * S if is_whole else 0.1 * S
        refilled = remaining > old.remaining and new.reset_at - old.reset_at > rounding and not old.rate
        new_epoch = now >= old.reset_at or limit != old.limit or refilled
        if old.assumed or not new_epoch:
            self.own = 0.98 * self.own + seq - old.seq
            self.all = 0.98 * self.all + old.remaining - remaining + old.rate * (now - old.at)
        if not old.assumed and not new_epoch:
            new.first_seq, new.first_reset_at = old.first_seq, old.first_reset_at
            new.period = max(new.period, old.period)
            used = limit - remaining
            each = max(new.reset_at - now, 0) / used if used else 0
            moved = new.reset_at - new.first_reset_at
            if old.rate or (moved > rounding and moved >= 0.5 * (seq - new.first_seq) * each):
                new.rate = 1 / each if each else old.rate
        new.credit = seq + 1 + remaining * self.share()
        if (old.assumed or not new_epoch) and not new.rate and self.share() == 1:
            if -2 < new.credit - old.credit < max(2, 0.1 * limit):
                new.credit = old.credit
        self.quota = new

    def on_ended(self, now, in_flight, ready, seq, sent_at, in_flight_when_sent, status, advice=None, quota=None):
        age = (now - sent_at) / S
        exhausted = self.reads_quota and quota is not None and quota[1] == 0 and not self.covers(seq, sent_at)
        if self.reads_quota and (status == "ok" or quota is not None):
            self.on_quota(now, seq, status, quota)
        advised = status != "ok" and bool(advice) and self.hold
        if advised:
            wait = min(advice, HOLD_MAX)
            self.until, self.last_wait = max(self.until, now + wait), wait / S
        if status == "timeout" and self.L is not None and age > 2 * (self.L + 4 * self.D):
            return
        # `deferred` means that the attempt was not made, so it is treated like `cancelled`.
        if status in ("cancelled", "fatal", "deferred"):
            return
        if not self.answered:
            self.answered = True
            self.w = max(self.w, in_flight)
        if status == "ok":
            self.on_success(now, age, in_flight, ready, seq, in_flight_when_sent)
        elif not exhausted:
            self.on_congestion(now, age, seq, in_flight_when_sent, advised)

    def on_success(self, now, age, in_flight, ready, seq, in_flight_when_sent):
        self.most_accepted = max(self.most_accepted, in_flight_when_sent)
        mean = age if self.L is None else self.L
        self.D += (abs(age - mean) - self.D) / 16
        self.L = mean + (age - mean) / 16
        if seq >= self.cut_seq:
            self.open = True
        if self.w < self.base:
            if self.open:
                self.w = self.base
                self.next = min(self.next, now + nanoseconds(self.gap()))
            return
        self.strikes = max(0.0, self.strikes - 1 / max(self.w, 1))
        if ready == 0 and in_flight < self.w:
            return
        if now < self.admitted_at(self.next_seq):
            return
        if self.starting:
            self.w = max(self.w, min(self.w + 1, 1.25 * in_flight + 1))
        else:
            round_trip = 1 / max(self.w, 1)
            if self.pause > 0 and self.curve() >= self.plateau:
                self.pause -= round_trip
                to = self.plateau
            else:
                self.rounds += round_trip
                to = min(self.curve(), self.plateau) if self.pause > 0 else self.curve()
            self.w = max(self.w, min(to, self.w + min(self.w, 1)))

    def curve(self):
        x = self.rounds / math.sqrt(max(self.top, 1) / 2) - 1
        return self.top + self.rise * x * x * x

    def on_congestion(self, now, age, seq, in_flight_when_sent, advised):
        if self.R is None:
            self.R = age
        if seq < self.cut_seq:
            return
        cap_like = advised and in_flight_when_sent > self.most_accepted
        if self.open and now < self.until and self.last_wait >= 10 and not cap_like:
            self.open, self.cut_seq = False, self.next_seq
            return
        if not advised and self.open and not self.starting and self.w >= 1:
            self.strikes += 1
            if self.strikes <= 1:
                return
        probed, old_top, sets_top = self.plateau > 0 and self.pause <= 0, self.top, False
        if self.L is None and self.open:
            self.w = self.top = self.base = max(1.0, min(self.w, in_flight_when_sent - 1))
        elif self.L is not None and (self.open or self.starting):
            self.starting, sets_top = False, True
            self.top = min(self.w, in_flight_when_sent)
            self.w = self.base = max(0.001, self.beta * self.top)
        else:
            self.base = min(self.base, max(self.base * self.beta, self.top / 2))
            if advised:
                self.w = min(self.w, (self.R if self.L is None else self.L) / self.last_wait)
            self.w = max(0.001, self.w * self.beta**2)
        self.rise = max(self.top - self.base, 0.05 * self.top)
        if not advised:
            self.plateau = self.pause = 0.0
        elif sets_top:
            self.is_rate = not cap_like
            dear = (probed and abs(self.top - old_top) <= 0.15 * old_top) or (cap_like and self.top >= 2)
            self.plateau = max(self.beta * self.top, 0.001, self.top - 1)
            latency = self.L if self.L is not None else self.R
            self.pause = (30 if dear else 5) * min(self.last_wait, 2) / latency * min(self.w, 1)
        self.most_accepted = 0
        self.strikes = self.rounds = 0.0
        self.open = False
        self.cut_seq = self.next_seq
        if self.w < 1:
            self.next = max(self.next, now + nanoseconds(self.gap()))


class Stated:
    """A quota, as an answer stated it. `rate` is in requests per nanosecond; 0 for a window."""

    def __init__(self, limit, remaining, at, reset_at, seq):
        self.limit, self.remaining, self.at, self.reset_at, self.seq = limit, remaining, at, reset_at, seq
        self.credit = seq + 1 + remaining
        self.first_seq, self.first_reset_at = seq, reset_at
        self.period = reset_at - at
        self.rate, self.assumed = 0, False


def nanoseconds(seconds):
    return round(seconds * S)


class Random:
    """Knuth's 64-bit linear congruential generator. Only its upper 53 bits are used."""

    def __init__(self, seed):
        self.state = seed

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2**53

    def between(self, low, high):
        return low + int(self.unit() * (high - low))


# A server is a function of the sending time and the generator that returns the status and the latency of an attempt. It may also return
# what the answer states, as a dictionary with `advice` and `quota`.


def concurrency_cap(cap, service, way, rejection):
    """`cap` slots, each held for a time drawn from the range `service`. `cap` may be a function of time."""
    busy = []

    def answer(now, random):
        while busy and busy[0] <= now:
            heapq.heappop(busy)
        if len(busy) >= (cap(now) if callable(cap) else cap):
            return "rejected", rejection
        held = random.between(*service)
        heapq.heappush(busy, now + held)
        return "ok", held + way

    return answer


def token_bucket(period, burst, latency, rejection, tokens=None):
    """One token per `period`, at most `burst`. `tokens` is the initial number, a full bucket by default.

    `latency` and `rejection` are ranges.
    """
    state = [burst if tokens is None else tokens, 0]

    def answer(now, random):
        state[0] = min(burst, state[0] + (now - state[1]) / period)
        state[1] = now
        if state[0] < 1:
            return "rejected", random.between(*rejection)
        state[0] -= 1
        return "ok", random.between(*latency)

    return answer


def outage(server, start, end, rejection):
    """Rejects everything from `start` to `end`."""
    return lambda now, random: ("rejected", rejection) if start <= now < end else server(now, random)


def with_faults(server, faults):
    """Gives each status of `faults` to a share of the attempts: status, share, latency range."""

    def answer(now, random):
        draw = random.unit()
        for status, share, latency in faults:
            if draw < share:
                return status, random.between(*latency)
            draw -= share
        return server(now, random)

    return answer


def advising(server, wait):
    """Adds advice to the rejections. `wait` is a function of the sending time, or a constant."""

    def answer(now, random):
        status, latency, *stated = server(now, random)
        if status == "rejected":
            stated = [{**(stated[0] if stated else {}), "advice": wait(now) if callable(wait) else wait}]
        return status, latency, *stated

    return answer


def window(limit, length, latency, states=True, others=None):
    """`limit` requests per window, with advice until its end. `others` is the interval at which other clients use one request."""
    used = {}

    def answer(now, random):
        number = now // length
        taken = used.get(number, 0) + ((now % length) // others if others else 0)
        accepted = taken < limit
        used[number] = used.get(number, 0) + accepted
        reset = -(-(length - now % length) // S) * S
        quota = (limit, max(limit - taken - accepted, 0), reset, True)
        stated = {"quota": quota} if states else {}
        if not accepted:
            stated["advice"] = reset
        return ("ok" if accepted else "rejected"), random.between(*latency), stated

    return answer


def stated_bucket(period, burst, latency):
    """A token bucket whose answers state the tokens, and the time until it is full."""
    state = [burst, 0]

    def answer(now, random):
        state[0] = min(burst, state[0] + (now - state[1]) / period)
        state[1] = now
        accepted = state[0] >= 1
        state[0] -= accepted
        stated = {"quota": (burst, int(state[0]), int((burst - state[0]) * period), False)}
        if not accepted:
            stated["advice"] = int((1 - state[0]) * period) + 1
        return ("ok" if accepted else "rejected"), random.between(*latency), stated

    return answer


def odd_quotas(server):
    """States other quotas now and then, or none: small ones, other limits, and resets in the past or in the far future."""
    odd = [None, None, (3, 1, S, True), (60, 60, 0, True), (60, 3, 90 * 3600 * S, True), (70, 0, 2 * S, False)]

    def answer(now, random):
        status, latency, stated = server(now, random)
        choice = random.between(0, 4 * len(odd))
        if choice < len(odd):
            stated = {**stated, "quota": odd[choice]}
        return status, latency, stated

    return answer


class Run:
    """One client with its ops, its limiter and its server. Ops that were not served return to the queue at once."""

    def __init__(self, name, server, arrivals, max_events, seed, **parameters):
        self.limiter = Limiter(**parameters)
        self.server, self.random, self.max_events = server, Random(seed), max_events
        limiter = self.limiter
        switches = " ".join("on" if switch else "off" for switch in (limiter.hold, limiter.reads_quota))
        self.lines = [f"run {name} {limiter.initial:.12g} {limiter.beta:.12g} {limiter.longest_gap:.12g} {switches}"]
        self.last = [None] * 5
        self.timers = []
        self.added = 0
        self.ready = self.flying = self.seq = 0
        for at in arrivals:
            self.add(at, "arrival")

    def add(self, at, kind, *data):
        heapq.heappush(self.timers, (at, self.added, kind, data))
        self.added += 1

    def note(self, now, text):
        """Records an input and the state after it. Returns the decision."""
        decision = self.limiter.poll(now, self.flying, self.seq)
        limiter = self.limiter
        state = [f"{value:.12g}" for value in (limiter.w, limiter.top, limiter.base, limiter.gap())] + [str(decision)]
        shown = ["=" if new == old else new for new, old in zip(state, self.last)]
        self.last = state
        self.lines.append(f"{text} | {' '.join(shown)}")
        return decision

    def full(self):
        return len(self.lines) > self.max_events

    def run(self):
        wake = None
        while (self.timers or wake is not None) and not self.full():
            if wake is not None and not (self.timers and self.timers[0][0] <= wake):
                now, wake = wake, None
                decision = self.note(now, f"poll {now} {self.flying}")
            else:
                now, _, kind, data = heapq.heappop(self.timers)
                if kind == "arrival":
                    self.ready += 1
                    # Ops that arrive together are one event.
                    if self.timers and self.timers[0][0] == now and self.timers[0][2] == "arrival":
                        continue
                    decision = self.note(now, f"poll {now} {self.flying}")
                else:
                    decision = self.end(now, *data)
            while decision == "go" and self.ready and not self.full():
                decision = self.send(now)
            wake = decision if self.ready and isinstance(decision, int) else None
        return self.lines

    def send(self, now):
        seq, flying = self.seq, self.flying
        self.limiter.on_sent(now, seq)
        status, latency, *stated = self.server(now, self.random)
        self.seq += 1
        self.flying += 1
        self.add(now + latency, "end", seq, now, self.flying, status, stated[0] if stated else {})
        decision = self.note(now, f"sent {now} {flying} {self.ready} {seq}")
        self.ready -= 1
        return decision

    def end(self, now, seq, sent_at, in_flight_when_sent, status, stated):
        flying = self.flying
        self.limiter.on_ended(now, flying, self.ready, seq, sent_at, in_flight_when_sent, status, **stated)
        self.flying -= 1
        text = f"end {now} {flying} {self.ready} {seq} {sent_at} {in_flight_when_sent} {status}"
        if stated.get("advice"):
            text += f" advice {stated['advice']}"
        if stated.get("quota"):
            limit, remaining, reset, is_whole = stated["quota"]
            text += f" quota {limit} {remaining} {reset} {'whole' if is_whole else 'fine'}"
        decision = self.note(now, text)
        if status not in ("ok", "fatal", "cancelled"):
            self.ready += 1
        return decision


def at_once(count):
    return [0] * count


def every(period, count, start=0):
    return [start + place * period for place in range(count)]


def runs():
    """The scenarios."""
    yield Run("cap", concurrency_cap(12, (200 * MS, 300 * MS), 20 * MS, 35 * MS), at_once(400), 400, 1)
    yield Run("steady-cap", concurrency_cap(9, (100 * MS, 100 * MS), 100 * MS, 150 * MS), at_once(400), 330, 2)
    yield Run("bucket", token_bucket(100 * MS, 5, (60 * MS, 90 * MS), (31 * MS, 31 * MS)), at_once(400), 350, 3)
    cap = concurrency_cap(8, (90 * MS, 110 * MS), 10 * MS, 12 * MS)
    yield Run("outage", outage(cap, 1 * S, 5 * S, 12 * MS), at_once(500), 430, 4)
    yield Run("slow-rejections", concurrency_cap(6, (80 * MS, 120 * MS), 5 * MS, 450 * MS), at_once(300), 400, 5)
    random_rejections = with_faults(
        concurrency_cap(60, (100 * MS, 200 * MS), 10 * MS, 10 * MS), [("rejected", 0.03, (8 * MS, 12 * MS))]
    )
    yield Run("random-rejections", random_rejections, at_once(400), 400, 6)
    faults = [
        ("timeout", 0.15, (150 * MS, 700 * MS)),
        ("fatal", 0.04, (50 * MS, 60 * MS)),
        ("cancelled", 0.04, (30 * MS, 400 * MS)),
        ("transport", 0.03, (1 * MS, 5 * MS)),
        ("server", 0.03, (100 * MS, 300 * MS)),
        ("deferred", 0.04, (1 * MS, 2 * MS)),
    ]
    yield Run("faults", with_faults(concurrency_cap(30, (50 * MS, 150 * MS), 5 * MS, 9 * MS), faults), at_once(400), 420, 7)

    def early_timeouts(now, random):
        if now < 250 * MS:
            return "timeout", 300 * MS
        return "ok", random.between(80 * MS, 100 * MS)

    yield Run("timeouts-first", early_timeouts, at_once(200), 280, 8)
    arrivals = every(40 * MS, 80) + every(5 * MS, 60, 4 * S) + every(100 * MS, 30, 5 * S)
    yield Run("app-limited", concurrency_cap(7, (140 * MS, 180 * MS), 10 * MS, 15 * MS), arrivals, 370, 9)
    slow, fast = (token_bucket(period, 1, (70 * MS, 80 * MS), (20 * MS, 20 * MS)) for period in (2 * S, 50 * MS))

    def faster_later(now, random):
        return (slow if now < 20 * S else fast)(now, random)

    yield Run("below-one", faster_later, at_once(100), 300, 10, longest_gap=0.4)
    empty = token_bucket(50 * MS, 4, (40 * MS, 60 * MS), (20 * MS, 60 * MS), tokens=-60)
    yield Run("empty-quota", empty, at_once(200), 280, 11)
    yield Run(
        "cap-steps",
        concurrency_cap(lambda now: (5, 14, 2, 9)[min(now // S, 3)], (60 * MS, 160 * MS), 5 * MS, 11 * MS),
        at_once(300), 430, 12, initial=4.0, beta=0.5, longest_gap=0.5,
    )
    yield Run("blind", concurrency_cap(16, (900 * MS, 1400 * MS), 9 * MS, 700 * MS), at_once(150), 250, 13, initial=5.0, beta=0.8)
    yield Run("one-slot", concurrency_cap(1, (50 * MS, 70 * MS), 5 * MS, 6 * MS), at_once(150), 250, 14, initial=1.5)
    cap = concurrency_cap(10, (200 * MS, 260 * MS), 20 * MS, 30 * MS)
    yield Run("advised-cap", advising(cap, 1 * S), at_once(600), 450, 15)
    bucket = token_bucket(100 * MS, 5, (60 * MS, 90 * MS), (31 * MS, 31 * MS))
    yield Run("advised-rate", advising(bucket, lambda now: S - now % S), at_once(400), 260, 16)
    yield Run("long-advice", advising(bucket, 12 * S), at_once(300), 160, 17)
    yield Run("hold-off", advising(cap, 1 * S), at_once(300), 160, 18, hold=False)
    yield Run("advised-outage", advising(outage(cap, 1 * S, 8 * S, 30 * MS), 500 * MS), at_once(400), 260, 19)
    yield Run("window", window(40, 10 * S, (100 * MS, 180 * MS)), at_once(300), 320, 20)
    yield Run("shared-window", window(60, 5 * S, (100 * MS, 140 * MS), others=250 * MS), at_once(400), 320, 21)
    yield Run("silent-window", window(40, 10 * S, (100 * MS, 180 * MS), states=False), at_once(300), 200, 22)
    yield Run("quota-off", window(40, 10 * S, (100 * MS, 180 * MS)), at_once(200), 160, 23, quota=False)
    yield Run("stated-bucket", stated_bucket(200 * MS, 20, (80 * MS, 120 * MS)), at_once(200), 260, 24)
    yield Run("odd-quotas", odd_quotas(window(60, 5 * S, (100 * MS, 140 * MS))), at_once(400), 400, 25)


def text():
    lines = [line for run in runs() for line in run.run()]
    return HEADER + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the stored file instead of writing it")
    if parser.parse_args().check:
        if not FILE.exists() or FILE.read_text(encoding="utf-8") != text():
            sys.exit(f"{FILE.name} differs from what this script writes; run it without --check")
    else:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
