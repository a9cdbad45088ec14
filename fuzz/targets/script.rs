//! Fuzz target of scripts, as text and as JSON: their text parses to the same script, which can be served.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mockserver_core::{Config, Input, Output, Policies, Reply, Request, RequestId, Script, Server, Step};
use vocabulary::{Instant, WallTime};

/// Number of ops that are served, and of attempts per op.
const OPS: u32 = 3;
const ATTEMPTS: u32 = 4;

fuzz_target!(|text: &str| {
    if let Ok(script) = text.parse::<Script>() {
        serve(&script);
    }
    if let Ok(script) = Script::from_json(text) {
        serve(&script);
    }
});

fn serve(script: &Script) {
    let written = script.to_string();
    assert_eq!(written.parse::<Script>().as_ref(), Ok(script), "{written}");
    let policy =
        format!("script:steps={written},by=call").parse().unwrap_or_else(|error| panic!("{written}: {error}"));
    let policy: Policies = policy;
    assert_eq!(policy.to_string(), format!("script:steps={written},by=call"));
    let mut server = Server::new(Config { policy, ..Config::default() });
    let mut now = Instant::ORIGIN;
    for number in 0..OPS * ATTEMPTS {
        let (op, attempt) = (u64::from(number / ATTEMPTS), number % ATTEMPTS + 1);
        let id = RequestId(number);
        server
            .handle(now, Input::Arrive { request: Request { id, run: Some(1), seed: 1, op, attempt, step: Step::Work }, least: 0, details: None });
    }
    let mut answered = 0;
    loop {
        match server.poll(now) {
            Output::WaitUntil(at) => now = at,
            Output::Answer(answer) => {
                answered += 1;
                let reply =
                    answer.reply.and_then(|id| script.reply(id)).expect("every answer is in the script");
                tell(reply);
            }
            Output::Idle => break,
        }
    }
    assert_eq!(answered, OPS * ATTEMPTS, "{written}");
}

/// Renders the headers of a reply as they would be sent, at either end of the calendar.
fn tell(reply: &Reply) {
    let _ = reply.counts_as_accepted();
    for now in [WallTime::VIRTUAL_START, WallTime::from_unix(Duration::ZERO)] {
        for (name, value) in reply.answer.headers(now) {
            assert!(
                !name.is_empty() && value.chars().all(|c| c == ' ' || c.is_ascii_graphic()),
                "{name}: {value}"
            );
        }
    }
}
