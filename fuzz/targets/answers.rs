//! Fuzz target of response configurations in JSON: one that is accepted is unchanged after writing and reading it, and
//! its responses can be sent.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mockserver_core::{AnswerSet, AnswersConfig, Outcome, LimitStatus, HeaderWriter, ResponseContext};
use vocabulary::{Instant, WallTime};

fuzz_target!(|bytes: &[u8]| {
    let Ok(config) = serde_json::from_slice::<AnswersConfig>(bytes) else { return };
    let written = serde_json::to_string(&config).expect("a configuration can be written");
    assert_eq!(serde_json::from_str::<AnswersConfig>(&written).expect("what is written is read"), config);
    let Ok(answers) = AnswerSet::read(&config, ["primary", "secondary"]) else { return };

    let standing =
        LimitStatus { limit: u64::MAX, remaining: 3, reset: Duration::MAX, window: Some(Duration::MAX) };
    let wait = Some(Duration::from_millis(1500));
    for outcome in [
        Outcome::Accepted,
        Outcome::Conflict,
        Outcome::Rejected { stage: Some(1), wait },
        Outcome::Rejected { stage: None, wait: None },
    ] {
        for standings in [[Some(standing), None], [None, Some(LimitStatus::default())]] {
            let told =
                ResponseContext { outcome, now: Instant::FAR_FUTURE, decided_at: Instant::ORIGIN, limit_statuses: &standings, seed: 1, op: 2, attempt: 3 };
            let teller = HeaderWriter::experiment(WallTime::VIRTUAL_START);
            let rendered = answers.render(&told, &teller);
            for (name, value) in &rendered.headers {
                assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name}: {value}");
                assert_eq!(answers.header(name, &told, &teller).as_ref(), Some(value));
            }
            assert_eq!(answers.body(&told, &teller), rendered.body);
        }
    }
});
