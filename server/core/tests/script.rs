//! Tests of the scripted policy: its answers, their counts, and settings that do not affect it.

use std::time::Duration;

use mockserver_core::{
    Answer, Config, Fault, Input, Output, Policies, Request, RequestId, Server, ServerDecision, Step,
};
use vocabulary::{Distribution, Instant};

fn config(steps: &str) -> Config {
    Config {
        policy: format!("script:steps={steps}").parse().expect("a policy"),
        network_delay: Distribution::ZERO,
        ..Config::default()
    }
}

fn ask(server: &mut Server, op: u64, attempt: u32) -> Answer {
    let request = Request { id: RequestId(0), run: Some(7), seed: 1, op, attempt, step: Step::Work };
    server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
    match server.poll(Instant::ORIGIN) {
        Output::Answer(answer) => answer,
        other => panic!("a script takes no time: {other:?}"),
    }
}

fn replied(server: &Server, answer: &Answer) -> String {
    let script = server.config().policy.script().expect("it goes by a script");
    answer.reply.and_then(|id| script.reply(id)).expect("it is one of the script").to_string()
}

#[test]
fn request_n_of_an_op_gets_step_n_and_a_2xx_counts_as_accepted() {
    let mut server = Server::new(config("503|close|429 retry-after:2|204"));
    let steps: Vec<(String, ServerDecision)> = (1..=5)
        .map(|attempt| {
            let answer = ask(&mut server, 3, attempt);
            (replied(&server, &answer), answer.verdict)
        })
        .collect();
    let expected = [
        ("503", ServerDecision::Rejected),
        ("close", ServerDecision::Rejected),
        ("429 retry-after:2", ServerDecision::Rejected),
        ("204", ServerDecision::Accepted),
        ("204", ServerDecision::Accepted),
    ];
    assert_eq!(steps, expected.map(|(step, verdict)| (step.to_owned(), verdict)));
    let counts = server.stats(Instant::ORIGIN, Some(7)).counts;
    assert_eq!((counts.received, counts.accepted, counts.rejected), (5, 2, 3));
    assert_eq!(server.busy(), 0);
}

#[test]
fn a_fault_step_is_rejected_or_spoils_an_accepted_answer() {
    for (step, fault) in [("close", Fault::Close), ("reset", Fault::Reset), ("truncate", Fault::Truncate)] {
        let mut server = Server::new(config(&format!("{step}|{step}:after")));
        let [before, after] = [1, 2].map(|attempt| ask(&mut server, 0, attempt));
        assert_eq!((before.fault(), before.verdict), (Some(fault), ServerDecision::Rejected), "{step}");
        assert_eq!((after.fault(), after.verdict), (Some(fault), ServerDecision::Accepted), "{step}");
        let account = server.lifetime(Instant::ORIGIN);
        let counts = account.counts;
        assert_eq!((counts.received, counts.accepted, counts.rejected, counts.failed), (2, 1, 1, 0));
        assert_eq!(account.spoiled, 1, "{step}");
    }
}

#[test]
fn a_hanging_step_closes_the_connection_after_an_hour() {
    let mut server = Server::new(config("hang:after"));
    let request = Request { id: RequestId(0), run: None, seed: 1, op: 0, attempt: 1, step: Step::Work };
    server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
    let closes_at = Instant::ORIGIN + Duration::from_hours(1);
    assert_eq!(server.poll(Instant::ORIGIN), Output::WaitUntil(closes_at));
    let Output::Answer(answer) = server.poll(closes_at) else { panic!("an answer") };
    assert_eq!((answer.fault(), answer.verdict), (Some(Fault::Close), ServerDecision::Accepted));
    assert_eq!(server.lifetime(closes_at).spoiled, 1);
}

#[test]
fn a_slow_answer_and_a_fault_step_add_up() {
    let fault = "slow-headers(2s):100%".parse().expect("faults");
    let mut server = Server::new(Config { fault, ..config("reset:after") });
    let request = Request { id: RequestId(0), run: None, seed: 1, op: 0, attempt: 1, step: Step::Work };
    server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
    let Output::Answer(answer) = server.poll(Instant::from_millis(2_000)) else { panic!("an answer") };
    assert_eq!((answer.at, answer.fault()), (Instant::from_millis(2_000), Some(Fault::Reset)));
    let account = server.lifetime(answer.at);
    assert_eq!((account.spoiled, account.slowed), (1, 1));
}

#[test]
fn steps_do_not_swallow_the_parameter_after_them() {
    for text in ["script:steps=503|200,by=call", "script:steps=503 body::%28|reset:after,by=op"] {
        let policies: Policies = text.parse().expect("a policy");
        assert_eq!(policies.to_string(), text);
        assert_eq!(policies.counts_calls(), text.ends_with("call"));
    }
    let balanced: Policies = "script:steps=503 body:(a,b),by=call".parse().expect("a policy");
    assert_eq!(balanced.to_string(), "script:steps=503 body:%28a%2Cb%29,by=call");
    let error = "script:steps=503 body::(,by=call".parse::<Policies>().unwrap_err().to_string();
    assert!(error.contains("a `(` is not closed before a comma; write `%28` for `(`"), "{error}");
    assert!("script:by=run".parse::<Policies>().is_err());
}

#[test]
fn a_script_sets_the_answer_unless_something_else_rejects() {
    let retry_after = Some(Duration::from_secs(9));
    let mut server = Server::new(Config { retry_after, reject_first: 1, ..config("200|503") });
    let first = ask(&mut server, 0, 1);
    assert_eq!((first.verdict, first.reply, first.advice), (ServerDecision::Rejected, None, retry_after));
    let second = ask(&mut server, 0, 2);
    assert_eq!(
        (second.verdict, second.reply.is_some(), second.advice),
        (ServerDecision::Rejected, true, None)
    );
}

#[test]
fn an_answer_in_flight_has_no_reply_of_a_replaced_script() {
    let mut server = Server::new(Config { return_delay: Distribution::millis(10), ..config("204") });
    let request = Request { id: RequestId(0), run: None, seed: 1, op: 0, attempt: 1, step: Step::Work };
    server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
    server.handle(Instant::ORIGIN, Input::Configure(Box::new(config("503|503"))));
    let Output::Answer(answer) = server.poll(Instant::from_millis(10)) else { panic!("an answer") };
    assert_eq!((answer.verdict, answer.reply), (ServerDecision::Accepted, None));
}

#[test]
fn a_script_config_round_trips_and_has_a_short_description() {
    let config = config("503|429 retry-after:@date%2B3 body:a%2Cb");
    let text = serde_json::to_string(&config).expect("it is written");
    assert!(
        text.contains("\"policy\":\"script:steps=503|429 retry-after:@date%2B3 body:a%2Cb,by=op\""),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Config>(&text).expect("it is read"), config);
    assert_eq!(config.describe(), "script of 2 steps, network 0s");
}
