//! Replays of logs from a driver and a shell that are always late, and of logs that were tampered with.

use std::net::Ipv4Addr;
use std::time::Duration;

use loadgen_core::{
    ArrivalProcess, AttemptKey, Completion, GivenUp, Input as ClientInput, Output, Refusal, Run, RunConfig,
    RunLog, SentAttempt, ServerSeen, Workload,
};
use loadgen_sim::{ResponseForm, StepClassifiers};
use mockserver_core::{
    Config, Input, Output as ServerOutput, Request, RequestFields, RequestId, Server, ServerEvent, ServerLog,
    Step,
};
use tailback::{Status, StrategySpec};
use vocabulary::{Distribution, Instant, WallTime};

use super::*;

/// Period at which the driver looks at its clock, in milliseconds.
const DRIVER_TICK: u64 = 7;
/// Period at which the shell sends the server's answers, in milliseconds.
const SHELL_TICK: u64 = 5;

fn alike() -> Run {
    client(AIMD, &overload().0)
}

/// Small models of a real driver and a real shell, both late.
struct Late {
    run: Run,
    server: Server,
    /// Attempts in flight by request id, with their sending times.
    waiting: Vec<Option<(SentAttempt, Instant)>>,
    /// Answers in flight from the shell to the driver.
    mailbox: Vec<(Instant, Completion)>,
    now: Instant,
}

impl Late {
    fn run(strategy: &str, config: &RunConfig, server: &Config) -> (RunLog, ServerLog) {
        let mut late = Self {
            run: client(strategy, config),
            server: Server::new(server.clone()),
            waiting: vec![None; 1000],
            mailbox: Vec::new(),
            now: Instant::ORIGIN,
        };
        late.run.record_log();
        late.server.record_log();
        for millis in 0..1_000_000 {
            late.now = Instant::from_millis(millis) + Duration::from_nanos(millis % 1000);
            if millis % SHELL_TICK == 0 {
                late.take_answers();
            }
            if millis % DRIVER_TICK == 0 && late.drive() {
                late.take_answers();
                let log = late.run.take_log().expect("it was recorded");
                return (log, late.server.take_log(late.now).expect("it was recorded"));
            }
        }
        panic!("the run did not end");
    }

    fn take_answers(&mut self) {
        while let ServerOutput::Answer(answer) = self.server.poll(self.now) {
            let Some((launched, sent_at)) = self.waiting[answer.id.0 as usize].take() else { continue };
            let took = Some(answer.at.since(sent_at));
            let understanding = StepClassifiers::new(self.run.rejected_when(), self.server.config());
            let speech = ResponseForm {
                config: self.server.config(),
                answers: None,
                anchor: WallTime::VIRTUAL_START,
                understanding: &understanding,
                reading: &tailback::ResponseParser::default(),
            };
            let mut result = speech.read(&answer, Step::Work);
            result.server = result.server.map(|seen| ServerSeen { took, ..seen });
            let completion = Completion { attempt: launched.attempt, sent_at, result };
            self.mailbox.push((self.now, completion));
        }
    }

    /// Returns true once the run is over.
    fn drive(&mut self) -> bool {
        for (at, completion) in std::mem::take(&mut self.mailbox) {
            self.run.handle_input(at, ClientInput::AttemptEnd(completion));
        }
        loop {
            match self.run.poll_output(self.now) {
                Output::Send(launched) => self.send(launched),
                Output::Cancel(key) => self.cancel(key),
                Output::WaitUntil(_) | Output::Idle => return false,
                Output::Done => return true,
            }
        }
    }

    fn send(&mut self, launched: SentAttempt) {
        // Uses the lowest free id, as a slab does.
        let free = self.waiting.iter().position(Option::is_none).expect("there is room");
        self.waiting[free] = Some((launched, self.now));
        let id = RequestId(u32::try_from(free).expect("a small number"));
        let (op, attempt) = (launched.op, launched.ordinal);
        let request = Request { id, run: None, seed: 1, op, attempt, step: Step::Work };
        // A server that advises retry delays counts retries by address.
        let details = RequestFields {
            method: "GET".into(),
            path: "/".into(),
            address: Some(Ipv4Addr::LOCALHOST.into()),
            headers: Vec::new(),
            fields: Vec::new(),
        };
        let input = Input::Arrive { request, least: launched.min_free, details: Some(details.into()) };
        self.server.handle(self.now, input);
    }

    fn cancel(&mut self, key: AttemptKey) {
        let waits = |waiting: &Option<(SentAttempt, Instant)>| {
            waiting.is_some_and(|(launched, _)| launched.attempt == key)
        };
        if let Some(index) = self.waiting.iter().position(waits) {
            self.waiting[index] = None;
            let id = RequestId(u32::try_from(index).expect("a small number"));
            self.server.handle(self.now, Input::Cancel(id));
        }
    }
}

fn client(strategy: &str, config: &RunConfig) -> Run {
    let spec: StrategySpec = strategy.parse().expect("it is in the registry");
    Run::new(config.clone(), |_| spec.build(config.seed, None), None).expect("it starts")
}

const AIMD: &str = "aimd:initial=4";

/// Forty ops, a third more than the server can serve, and lost messages, so that attempts time out.
fn overload() -> (RunConfig, Config) {
    let arrivals = ArrivalProcess::Poisson { rate_per_s: 40.0 };
    let workload = Workload { arrivals, ops: Some(40), duration: None };
    let config = RunConfig { workload, clients: 2, timeout: Duration::from_secs(1), ..RunConfig::default() };
    let server = Config {
        max_busy: 3,
        service_time: "exp(100ms)".parse().expect("it is a distribution"),
        reject_time: Distribution::millis(22),
        network_delay: Distribution::millis(31),
        retry_after: Some(Duration::from_millis(80)),
        loss: 0.03,
        ..Config::default()
    };
    (config, server)
}

fn logged() -> (RunLog, ServerLog, Run) {
    let (config, server) = overload();
    let (client_log, server_log) = Late::run(AIMD, &config, &server);
    (client_log, server_log, client(AIMD, &config))
}

#[test]
fn a_late_driver_and_shell_decide_as_in_virtual_time() {
    let (config, server) = overload();
    for strategy in [
        AIMD,
        "fixed-window:window=5",
        "full-jitter:base=20ms,cap=1s",
        "ethernet:threshold=2,cost=10ms+constant:delay=40ms",
        "full-jitter:base=20ms,cap=1s+hedging:delay=60ms,copies=2+retry-budget:max=20,ask=failure",
    ] {
        let (client_log, server_log) = Late::run(strategy, &config, &server);
        let replayed = replay_client(&client_log, client(strategy, &config))
            .unwrap_or_else(|error| panic!("{strategy}: {error}"));
        assert_eq!(replayed.measurements().ops.unfinished(), 0);
        replay_server(&server_log).unwrap_or_else(|error| panic!("{strategy}: {error}"));
        replay_between(&client_log, &server_log, &alike())
            .unwrap_or_else(|error| panic!("{strategy}: {error}"));
        let cancels = client_log.outputs.iter().filter(|output| matches!(output, Output::Cancel(_))).count();
        let rejected = client_log.samples.iter().filter(|sample| sample.status == Status::Rejected).count();
        assert!(cancels > 0, "{strategy}: no attempt was too late");
        assert!(rejected > 5 || strategy.starts_with("ethernet"), "{strategy}: {rejected} rejected");
    }
}

/// A strategy whose budget refuses launches.
const SHEDDING: &str = "full-jitter:base=200ms,cap=400ms+retry-budget:max=4,on-empty=back-off";

/// Returns the client's log of an overload with deadlines, and its configuration.
fn hurried() -> (RunLog, RunConfig) {
    let (config, server) = overload();
    // The server advises a second, after which some retries are still in time.
    let config = RunConfig { deadline: Some(Duration::from_millis(1300)), ..config };
    let (log, server_log) = Late::run(SHEDDING, &config, &server);
    replay_server(&server_log).expect("nothing was changed");
    replay_between(&log, &server_log, &alike()).expect("nothing was changed");
    (log, config)
}

#[test]
fn lost_or_moved_sheds_and_give_ups_are_detected() {
    let (log, config) = hurried();
    replay_client(&log, client(SHEDDING, &config)).expect("nothing was changed");
    let sheds = log.refusals.iter().filter(|refusal| matches!(refusal, Refusal::Shed { .. })).count();
    let late = |refusal: &&Refusal| matches!(refusal, Refusal::GivenUp { why: GivenUp::Deadline, .. });
    let late = log.refusals.iter().filter(late).count();
    assert!(sheds > 3 && late > 0, "{sheds} launches shed, {late} deadlines missed");
    for index in 0..log.refusals.len() {
        let mut lost = log.clone();
        lost.refusals.remove(index);
        let error = replay_client(&lost, client(SHEDDING, &config)).expect_err("a decision was lost");
        assert_eq!(error.what, "launch or op given up");
        let mut moved = log.clone();
        let (Refusal::Shed { at, .. } | Refusal::GivenUp { at, .. }) = &mut moved.refusals[index];
        *at = *at + Duration::from_nanos(1);
        replay_client(&moved, client(SHEDDING, &config)).expect_err("a decision was moved");
    }
    let sooner = RunConfig { deadline: Some(Duration::from_millis(100)), ..config };
    replay_client(&log, client(SHEDDING, &sooner)).expect_err("the deadline is another");
}

/// Returns the indices of inputs that ended an attempt which the run still waited for.
fn that_count(log: &RunLog) -> Vec<usize> {
    let ended =
        |at: Instant, serial| log.samples.iter().any(|sample| sample.serial == serial && sample.ended == at);
    let counts = |input: &(Instant, ClientInput)| match input {
        (at, ClientInput::AttemptEnd(completion)) => ended(*at, completion.attempt.serial),
        _ => true,
    };
    let indices: Vec<usize> = (0..log.inputs.len()).filter(|index| counts(&log.inputs[*index])).collect();
    assert!(indices.len() > 40);
    indices
}

#[test]
fn an_input_of_the_client_that_is_lost_or_moved_is_noticed() {
    let (log, _, _) = logged();
    let (config, _) = overload();
    for index in that_count(&log) {
        let mut lost = log.clone();
        lost.inputs.remove(index);
        replay_client(&lost, client(AIMD, &config)).expect_err("an input was lost");
        for moved_by in [Duration::from_nanos(1), Duration::from_millis(40)] {
            let mut moved = log.clone();
            moved.inputs[index].0 = moved.inputs[index].0 + moved_by;
            replay_client(&moved, client(AIMD, &config)).expect_err("an input was moved");
        }
    }
}

#[test]
fn an_answer_that_is_swapped_with_another_is_noticed() {
    let (client_log, server_log, _) = logged();
    let (config, _) = overload();
    let mut swaps = 0;
    for pair in that_count(&client_log).windows(2) {
        let mut swapped = client_log.clone();
        let [first, second] = [pair[0], pair[1]];
        let (ClientInput::AttemptEnd(mut one), ClientInput::AttemptEnd(mut other)) =
            (swapped.inputs[first].1, swapped.inputs[second].1)
        else {
            continue;
        };
        if one.result.outcome == other.result.outcome {
            continue;
        }
        std::mem::swap(&mut one.result.outcome, &mut other.result.outcome);
        swapped.inputs[first].1 = ClientInput::AttemptEnd(one);
        swapped.inputs[second].1 = ClientInput::AttemptEnd(other);
        replay_client(&swapped, client(AIMD, &config)).expect_err("the client hears another outcome");
        replay_between(&swapped, &server_log, &alike()).expect_err("the server said something else");
        swaps += 1;
    }
    assert!(swaps > 5, "{swaps}");
    let answers: Vec<usize> = (0..server_log.events.len())
        .filter(|index| matches!(server_log.events[*index], ServerEvent::Answer(_)))
        .collect();
    for pair in answers.windows(2) {
        let mut swapped = server_log.clone();
        swapped.events.swap(pair[0], pair[1]);
        replay_server(&swapped).expect_err("answers come in another order");
    }
}

#[test]
fn a_request_lost_or_moved_in_flight_is_detected() {
    let (client_log, log, _) = logged();
    let answered = |id: RequestId, from: usize| {
        let own = log.events[from + 1..].iter().find_map(|event| match event {
            ServerEvent::Answer(answer) if answer.id == id => Some(true),
            ServerEvent::Input(_, Input::Cancel(gone)) if *gone == id => Some(false),
            _ => None,
        });
        own.unwrap_or(false)
    };
    let mut requests = 0;
    for index in 0..log.events.len() {
        let ServerEvent::Input(_, Input::Arrive { request, .. }) = &log.events[index] else { continue };
        if !answered(request.id, index) {
            continue;
        }
        requests += 1;
        let mut lost = log.clone();
        lost.events.remove(index);
        replay_server(&lost).expect_err("a request was lost");
        replay_between(&client_log, &lost, &alike()).expect_err("a request was lost");
        let mut moved = log.clone();
        if let ServerEvent::Input(at, _) = &mut moved.events[index] {
            *at = *at + Duration::from_nanos(1);
        }
        replay_server(&moved).expect_err("a request was moved");
        let mut changed = log.clone();
        if let ServerEvent::Input(_, Input::Arrive { request, .. }) = &mut changed.events[index] {
            request.op += 1000;
        }
        replay_between(&client_log, &changed, &alike()).expect_err("a request was of another op");
    }
    assert!(requests > 40, "{requests}");
}

#[test]
fn a_changed_strategy_or_server_parameter_is_detected() {
    let (client_log, server_log, run) = logged();
    replay_client(&client_log, run).expect("nothing was changed");
    let (config, server) = overload();
    for strategy in ["aimd:initial=5", "aimd:initial=4,beta=0.8", "aimd:initial=4+constant:delay=90ms"] {
        let error = replay_client(&client_log, client(strategy, &config)).expect_err(strategy);
        assert!(error.to_string().contains(" should be "), "{error}");
    }
    let other = RunConfig { seed: config.seed + 1, ..config.clone() };
    replay_client(&client_log, client(AIMD, &other)).expect_err("the seed is another");
    for changed in [
        Config { max_busy: 4, ..server.clone() },
        Config { reject_time: Distribution::millis(23), ..server.clone() },
        Config { rejects_occupy: false, ..server.clone() },
        Config { return_delay: Distribution::millis(1), ..server.clone() },
        Config { retry_after: None, ..server.clone() },
    ] {
        let log = ServerLog { config: changed, ..server_log.clone() };
        replay_server(&log).expect_err("the server is another");
    }
    let status = Config { reject_status: 418, ..server };
    replay_between(&client_log, &ServerLog { config: status, ..server_log.clone() }, &alike())
        .expect_err("the status is another");
    let mut unadvised = server_log;
    for event in &mut unadvised.events {
        if let ServerEvent::Answer(answer) = event {
            answer.advice = None;
        }
    }
    replay_between(&client_log, &unadvised, &alike()).expect_err("the advice is another");
}
