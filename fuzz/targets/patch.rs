//! Fuzz target of changes to a mockserver's configuration: an accepted change can be written, read again and served
//! with.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mockserver_core::{Config, Input, Output, Request, RequestId, Server, Step, read_patch};
use vocabulary::Instant;

/// Number of requests, and a number of outputs that is more than they need.
const REQUESTS: u32 = 20;
const OUTPUTS: usize = 1000;

fuzz_target!(|bytes: &[u8]| {
    let Ok(patch) = read_patch(bytes) else { return };
    let Ok(config) = Config::default().patched(&patch) else { return };
    let written = serde_json::to_string(&config).expect("a configuration can be written");
    let again: Config = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(again, config, "{written}");

    let mut server = Server::new(Config::default());
    let mut now = Instant::ORIGIN;
    for number in 0..REQUESTS {
        if number == REQUESTS / 2 {
            server.handle(now, Input::Configure(Box::new(config.clone())));
        }
        let request = Request {
            id: RequestId(number),
            run: Some(1),
            seed: 1,
            op: u64::from(number),
            attempt: 1,
            step: if number % 3 == 0 { Step::Write { if_match: 0 } } else { Step::Work },
        };
        server.handle(now, Input::Arrive { request, least: 0, details: None });
    }
    for _ in 0..OUTPUTS {
        match server.poll(now) {
            Output::WaitUntil(at) => now = at,
            Output::Answer(_) => {}
            Output::Idle => break,
        }
    }
    let _ = (server.stats(now, Some(1)), server.lifetime(now), server.free(now), server.capacity(now));
});
