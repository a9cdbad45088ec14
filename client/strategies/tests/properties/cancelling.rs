//! Properties of a dispatcher with every strategy, if callers cancel their ops anywhere, and take back attempts before they are sent.

use std::time::Duration;

use proptest::prelude::*;
use tailback::{
    AttemptKey, Dispatcher, Host, Instant, Op, OpKey, OracleSchedule, Outcome, Output, Settings, Status,
    StrategySpec,
};

use crate::specs;

#[derive(Clone, Debug)]
enum Step {
    Arrive(u8),
    /// End of an attempt with this status.
    End(u8, Status),
    Cancel(u8),
    /// Taking back of an attempt that was admitted but not sent.
    Unsend(u8),
    /// Time passes. Events that fall due are processed at their own instants.
    Advance(Duration),
}

fn step() -> impl Strategy<Value = Step> {
    let status = prop_oneof![
        3 => Just(Status::Succeeded),
        3 => Just(Status::Rejected),
        1 => Just(Status::Failed(tailback::Failure::Timeout)),
        1 => Just(Status::Failed(tailback::Failure::Transport)),
        1 => Just(Status::Failed(tailback::Failure::Fatal)),
    ];
    prop_oneof![
        3 => (1..9_u8).prop_map(Step::Arrive),
        4 => (any::<u8>(), status).prop_map(|(pick, status)| Step::End(pick, status)),
        4 => any::<u8>().prop_map(Step::Cancel),
        1 => any::<u8>().prop_map(Step::Unsend),
        3 => (0..2000_u64).prop_map(|millis| Step::Advance(Duration::from_millis(millis))),
    ]
}

/// Observer that keeps the ops that have not ended.
#[derive(Default)]
struct Open {
    ops: Vec<OpKey>,
}

impl Open {
    fn end(&mut self, slot: u32, op: u32) {
        let before = self.ops.len();
        self.ops.retain(|key| *key != OpKey { slot, op });
        assert_eq!(self.ops.len() + 1, before, "op {op} ended twice, or never arrived");
    }
}

impl Host for Open {
    type Op = ();
    type Attempt = ();
    type Note = ();

    fn on_stored(&mut self, slot: u32, op: &Op<()>) {
        self.ops.push(OpKey { slot, op: op.id });
    }

    fn on_done(&mut self, _at: Instant, slot: u32, op: &Op<()>, _note: Option<&()>) {
        self.end(slot, op.id);
    }

    fn on_given_up(&mut self, _at: Instant, slot: u32, op: &Op<()>, _why: tailback::GiveUp) {
        self.end(slot, op.id);
    }
}

struct Client {
    dispatcher: Dispatcher<Open>,
    open: Open,
    now: Instant,
    next_op: u32,
    flying: Vec<(AttemptKey, OpKey)>,
}

impl Client {
    /// Op numbers start just below the largest one, and wrap.
    fn new(spec: &str, seed: u64) -> Self {
        let spec: StrategySpec = spec.parse().unwrap_or_else(|error| panic!("{spec}: {error}"));
        let oracle = OracleSchedule::new(|_, from| from);
        let strategy = spec.build(seed, Some(oracle)).expect("it has all it needs");
        Self {
            dispatcher: Dispatcher::new([strategy], Settings::default()),
            open: Open::default(),
            now: Instant::ORIGIN,
            next_op: u32::MAX - 3,
            flying: Vec::new(),
        }
    }

    fn take(&mut self, step: &Step) {
        let now = self.now;
        match *step {
            Step::Arrive(count) => (0..count).for_each(|_| self.arrive()),
            Step::End(pick, status) => {
                if let Some((attempt, _)) = pick_of(&mut self.flying, pick) {
                    self.dispatcher.ended(&mut self.open, now, attempt, now, &Outcome::plain(status), &());
                }
            }
            Step::Cancel(pick) => {
                if let Some(key) = pick_of(&mut self.open.ops, pick) {
                    self.cancel(key);
                }
            }
            Step::Unsend(pick) => {
                if let Some((attempt, _)) = pick_of(&mut self.flying, pick) {
                    self.dispatcher.unsend(&mut self.open, now, attempt);
                }
            }
            Step::Advance(time) => self.advance(now + time),
        }
        self.collect();
    }

    fn arrive(&mut self) {
        let op = self.next_op;
        self.next_op = op.wrapping_add(1);
        self.dispatcher.arrive(&mut self.open, self.now, op, None, ()).expect("the queue has no limit");
    }

    /// Returns the window that the strategy reports.
    fn window(&self) -> Option<f64> {
        self.dispatcher.strategies().next().and_then(|strategy| strategy.gauges().window)
    }

    fn cancel(&mut self, key: OpKey) {
        let attempt = self.flying.iter().find(|(_, op)| *op == key).map(|(attempt, _)| *attempt);
        self.dispatcher.cancel(&mut self.open, self.now, key, attempt);
    }

    fn advance(&mut self, until: Instant) {
        for _ in 0..10_000 {
            let Some((at, due)) = self.dispatcher.next_due().filter(|(at, _)| *at <= until) else { break };
            self.dispatcher.fire(&mut self.open, at, (at, due));
            self.collect();
        }
        self.now = until;
    }

    fn collect(&mut self) {
        while let Some(output) = self.dispatcher.take_output() {
            match output {
                Output::Send(launch) => self.flying.push((launch.attempt, launch.op)),
                Output::Cancel(key) => self.flying.retain(|(attempt, _)| *attempt != key),
            }
        }
        assert_eq!(self.dispatcher.in_flight(), self.flying.len());
        assert_eq!(self.dispatcher.unfinished(), self.open.ops.len());
    }
}

fn pick_of<T>(list: &mut Vec<T>, pick: u8) -> Option<T> {
    (!list.is_empty()).then(|| list.remove(usize::from(pick) % list.len()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, ..ProptestConfig::default() })]

    /// After all ops have been cancelled nothing is left of them, and the strategy serves the next ops as if they had never been.
    #[test]
    fn cancelled_ops_leave_nothing_behind(
        spec in prop::sample::select(specs::all()),
        seed: u64,
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut client = Client::new(&spec, seed);
        for step in &steps {
            client.take(step);
        }
        while let Some(key) = client.open.ops.first().copied() {
            let window = client.window();
            client.open.ops.remove(0);
            client.cancel(key);
            client.collect();
            prop_assert_eq!(client.window(), window, "{}: a cancellation counts as a success or failure", spec);
        }
        prop_assert_eq!(client.dispatcher.in_flight(), 0);
        // The entries of cancelled ops leave the queues, at the latest when their backoffs are over.
        client.advance(client.now + Duration::from_hours(100));
        prop_assert!(client.dispatcher.is_empty(), "{spec}: {:?}", client.dispatcher);
        for _ in 0..20 {
            client.arrive();
        }
        client.collect();
        for _ in 0..20_000 {
            while !client.flying.is_empty() {
                client.take(&Step::End(0, Status::Succeeded));
            }
            if client.open.ops.is_empty() {
                break;
            }
            let Some((at, _)) = client.dispatcher.next_due() else { break };
            client.advance(at);
        }
        prop_assert!(
            client.open.ops.is_empty() || specs::may_starve(&spec),
            "{spec}: {} of 20 ops never end",
            client.open.ops.len()
        );
    }
}
