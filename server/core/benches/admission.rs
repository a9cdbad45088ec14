//! Benchmark of the server's state machine: decisions per second without any I/O.

use divan::counter::ItemsCount;
use mockserver_core::{Config, Input, Output, Request, RequestId, Server, Step};
use vocabulary::{Distribution, Instant};

fn main() {
    divan::main();
}

const REQUESTS: u64 = 10_000;

/// Sends requests `gap_nanos` apart and drains all answers. Returns their number.
fn pass(config: &Config, gap_nanos: u64) -> u64 {
    let mut server = Server::new(config.clone());
    let mut free: Vec<u32> = (0..4096).rev().collect();
    let mut answered = 0;
    let mut drain = |server: &mut Server, now: Instant, free: &mut Vec<u32>| {
        while let Output::Answer(answer) = server.poll(now) {
            free.push(answer.id.0);
            answered += 1;
        }
    };
    for op in 0..REQUESTS {
        let now = Instant::from_nanos(op * gap_nanos);
        let Some(id) = free.pop() else { panic!("more than 4096 requests are under way") };
        let request = Request { id: RequestId(id), run: Some(1), seed: 1, op, attempt: 1, step: Step::Work };
        server.handle(now, Input::Arrive { request, least: 0, details: None });
        drain(&mut server, now, &mut free);
    }
    drain(&mut server, Instant::FAR_FUTURE, &mut free);
    answered
}

/// Rejections take no time, so neither a timer nor the heap is involved.
#[divan::bench]
fn rejects_without_delay(bencher: divan::Bencher<'_, '_>) {
    let config = Config {
        max_busy: 1,
        network_delay: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        ..Config::default()
    };
    bencher.counter(ItemsCount::new(REQUESTS)).bench(|| pass(&config, 1000));
}

/// The experiment of seed 000 with one request every 100 µs, which overloads it.
#[divan::bench]
fn the_default_server(bencher: divan::Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(REQUESTS)).bench(|| pass(&Config::default(), 100_000));
}
