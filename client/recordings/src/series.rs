//! What the server answered to each op of a series: recordings tell that by the series' name alone.

use std::time::Duration;

use mockserver_core::{Reply, Script};

/// What a series is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesScript {
    id: &'static str,
    /// The steps of an op (from 0), as scripts are typed.
    steps: fn(usize) -> &'static str,
    /// How long the recorder let the client rest between two ops.
    pub(crate) pause: Duration,
}

/// S3's way to say "not now".
const SLOW_DOWN: &str = "503 body:<Error><Code>SlowDown</Code><Message>scripted</Message></Error>";
const SLOW_DOWN_ONCE: &str = "503 body:<Error><Code>SlowDown</Code><Message>scripted</Message></Error>|200";
/// `DynamoDB`'s and SQS's.
const THROTTLED: &str = "400 body:{\"__type\":\"com.amazon.coral.availability#ThrottlingException\"}";
const REQUEST_THROTTLED: &str = "400 body:{\"__type\":\"com.amazonaws.sqs#RequestThrottled\"}";
/// gRPC's.
const UNAVAILABLE: &str = "200 grpc-status:14";
const GRPC_OK: &str = "200 grpc-status:0";
const NEVER_AGAIN: &str = "200 grpc-status:14 grpc-retry-pushback-ms:-1";

const fn of(id: &'static str, steps: fn(usize) -> &'static str) -> SeriesScript {
    SeriesScript { id, steps, pause: Duration::ZERO }
}

/// All series that were recorded.
const SERIES: &[SeriesScript] = &[
    of("series-200", |_| "200"),
    of("series-200/POST", |_| "200"),
    of("series-429", |_| "429"),
    of("series-503", |_| "503"),
    of("series-close", |_| "close"),
    of("series-1000-fail", |_| "503"),
    of("series-503-empty-quota-receive", |_| "503"),
    of("series-503-x1-then-200", |_| "503|200"),
    of("series-SlowDown", |_| SLOW_DOWN),
    of("series-throttled", |_| THROTTLED),
    of("series-RequestThrottled", |_| REQUEST_THROTTLED),
    of("series-503-then-20-ok-then-503", |op| if (40..60).contains(&op) { "200" } else { "503" }),
    of("series-503-then-200-then-503", |op| if op % 2 == 1 { "200" } else { "503" }),
    SeriesScript {
        id: "series-ok-with-SlowDown-each-10th",
        steps: |op| if op % 10 == 9 { SLOW_DOWN_ONCE } else { "200" },
        pause: Duration::from_millis(50),
    },
    of("series-UNAVAILABLE-throttling", |_| UNAVAILABLE),
    of("series-UNAVAILABLE-no-throttling", |_| UNAVAILABLE),
    of(
        "series-10-fail-then-60-ok-then-fail",
        |op| if (10..70).contains(&op) { GRPC_OK } else { UNAVAILABLE },
    ),
    of("series-fail-x1-then-ok", |_| "200 grpc-status:14|200 grpc-status:0"),
    of("series-every-5th-fails", |op| if op % 5 == 4 { UNAVAILABLE } else { GRPC_OK }),
    of("series-pushback-minus1", |op| if op < 3 { NEVER_AGAIN } else { UNAVAILABLE }),
];

/// What the series of this name is answered.
pub(crate) fn series_script(id: &str) -> Option<SeriesScript> {
    SERIES.iter().copied().find(|series| series.id == id)
}

impl SeriesScript {
    /// The script of so many ops.
    pub(crate) fn script(self, ops: usize) -> Script {
        let replies =
            |op| (self.steps)(op).split('|').map(str::parse::<Reply>).collect::<Result<Vec<_>, _>>();
        let ops = (0..ops).map(replies);
        let ops: Vec<Vec<Reply>> = ops.collect::<Result<_, _>>().expect("the table is checked by a test");
        Script::new(ops).expect("the table is checked by a test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_a_script_for_each_of_its_ops() {
        for series in SERIES {
            let text = series.script(1000).to_string();
            assert_eq!(text.split(';').count(), 1000, "{}", series.id);
        }
        assert!(series_script("series-of-its-own").is_none());
    }

    #[test]
    fn what_the_names_say_is_so() {
        let op = |id, op| (series_script(id).unwrap().steps)(op);
        for (id, failing, fine) in [
            ("series-503-then-20-ok-then-503", [39, 60], [40, 59]),
            ("series-ok-with-SlowDown-each-10th", [9, 19], [8, 10]),
            ("series-10-fail-then-60-ok-then-fail", [9, 70], [10, 69]),
            ("series-every-5th-fails", [4, 9], [0, 5]),
            ("series-503-then-200-then-503", [0, 2], [1, 3]),
        ] {
            assert!(fine.iter().all(|fine| ["200", GRPC_OK].contains(&op(id, *fine))), "{id}");
            assert!(failing.iter().all(|failing| !["200", GRPC_OK].contains(&op(id, *failing))), "{id}");
        }
    }
}
