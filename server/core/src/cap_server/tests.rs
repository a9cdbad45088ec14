//! Whatever comes, both servers do the same.

use proptest::prelude::*;

use super::*;
use crate::events::{Answer, Input, Output};
use crate::server::Server;

/// What happens to both at an instant.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A request with this id comes, unless one of that id is under way; to whom so much must be free.
    Arrive {
        id: u32,
        step: Asks,
        least: u32,
    },
    Cancel(u32),
}

#[derive(Clone, Copy, Debug)]
enum Asks {
    Work,
    Read,
    /// A write of a state that was current so many versions ago.
    Write(u64),
}

fn any_config() -> impl Strategy<Value = Config> {
    let time = || prop::sample::select(vec!["0s", "3ms", "5ms", "20ms", "exp(7ms)"]);
    let caps = prop::sample::select(vec!["", "30ms=1,90ms=5"]);
    let retry_after = prop::sample::select(vec![None, Some(Duration::from_millis(7))]);
    let times = [time(), time(), time(), time()];
    (1..5_u32, times, caps, any::<bool>(), retry_after).prop_map(
        |(max_busy, times, caps, rejects_occupy, retry_after)| {
            let [service_time, reject_time, network_delay, return_delay] =
                times.map(|text| text.parse().expect("a time"));
            Config {
                max_busy,
                service_time,
                reject_time,
                network_delay,
                return_delay,
                rejects_occupy,
                retry_after,
                caps: caps.parse().expect("caps"),
                ..Config::default()
            }
        },
    )
}

fn any_event() -> impl Strategy<Value = Event> {
    let asks = prop_oneof![Just(Asks::Work), Just(Asks::Read), (0..2_u64).prop_map(Asks::Write)];
    let least = prop::sample::select(vec![0, 0, 0, 1, 3]);
    prop_oneof![
        5 => (0..12_u32, asks, least).prop_map(|(id, step, least)| Event::Arrive { id, step, least }),
        1 => (0..12_u32).prop_map(Event::Cancel),
    ]
}

/// Every answer that is due by then, of both; they are the same.
fn drain(
    whole: &mut Server,
    cap: &mut CapServer<u64>,
    until: Instant,
) -> Result<Vec<RequestId>, TestCaseError> {
    let mut answered = Vec::new();
    loop {
        prop_assert!(whole.next_at() >= cap.next_at(), "nothing is missed");
        let at = whole.advance_to_answer(until);
        let Some(found) = cap.next_answer(until) else {
            prop_assert!(at > until || at == Instant::FAR_FUTURE, "an answer at {at}");
            return Ok(answered);
        };
        let Output::Answer(expected) = whole.poll(at) else { panic!("no answer at {at}") };
        let CapAnswer { request: CapRequest { id, .. }, verdict, at, busy, cap: slots, version, token } =
            found;
        answered.push(id);
        let advice = cap.advice(verdict);
        let found =
            Answer { id, verdict, advice, at, busy, cap: Some(slots), reply: None, version, extras: None };
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(token, u64::from(id.0));
    }
}

proptest! {
    #[test]
    fn it_answers_and_counts_as_the_whole_server_does(
        config in any_config(),
        events in prop::collection::vec((any_event(), 0..15_u64), 1..80),
    ) {
        config.validate().unwrap();
        let mut cap = CapServer::new(&config, 3).expect("a plain cap");
        let mut whole = Server::new(config);
        let (mut now, mut under_way) = (Instant::ORIGIN, [false; 12]);
        for (index, (event, millis)) in events.into_iter().enumerate() {
            now = now + Duration::from_millis(millis);
            for id in drain(&mut whole, &mut cap, now)? {
                under_way[id.0 as usize] = false;
            }
            match event {
                Event::Arrive { id, step, least } if !under_way[id as usize] => {
                    under_way[id as usize] = true;
                    let step = match step {
                        Asks::Work => Step::Work,
                        Asks::Read => Step::Read,
                        Asks::Write(ago) => Step::Write { if_match: cap.version.saturating_sub(ago) },
                    };
                    let id = RequestId(id);
                    let asked = CapRequest { id, op: index as u64, attempt: 1, step };
                    let request = asked.keyed(3);
                    if least == 0 {
                        whole.handle(now, Input::Arrive(request));
                        cap.arrive(now, asked, u64::from(id.0));
                    } else {
                        whole.handle(now, Input::ArriveIfFree { request, least });
                        cap.arrive_if_free(now, asked, least, u64::from(id.0));
                    }
                }
                Event::Arrive { .. } => {}
                Event::Cancel(id) => {
                    under_way[id as usize] = false;
                    whole.handle(now, Input::Cancel(RequestId(id)));
                    cap.cancel(now, RequestId(id));
                }
            }
            prop_assert_eq!(whole.busy(), cap.busy);
        }
        let end = Instant::FAR_FUTURE;
        drain(&mut whole, &mut cap, end)?;
        prop_assert_eq!(whole.stats(now, None), cap.stats(now));
    }
}

#[test]
fn a_server_that_is_more_than_a_cap_is_none() {
    let is_one = |config: Config| CapServer::<()>::new(&config, 3).is_some();
    assert!(is_one(Config::default()));
    assert!(is_one(Config { caps: "10s=25".parse().unwrap(), ..Config::default() }));
    for policy in ["gcra", "concurrency", "overwhelmed-queue", "concurrency-cap then gcra"] {
        assert!(!is_one(Config { policy: policy.parse().unwrap(), ..Config::default() }), "{policy}");
    }
    assert!(!is_one(Config { loss: 0.1, ..Config::default() }));
    assert!(!is_one(Config { reject_first: 1, ..Config::default() }));
    assert!(!is_one(Config { outages: "1s..2s".parse().unwrap(), ..Config::default() }));
    assert!(!is_one(Config { schedule: "10s down".parse().unwrap(), ..Config::default() }));
    assert!(!is_one(Config { fault: "reset:1%".parse().unwrap(), ..Config::default() }));
    assert!(!is_one(Config::default().with_preset("github", None).unwrap()));
}
