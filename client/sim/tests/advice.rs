//! Round trip of retry advice: clients read the wait that servers write, in every form, within its rounding.

use std::borrow::Cow;
use std::time::Duration;

use mockserver_core::{
    AnswerSet, AnswersConfig, EveryConfig, HeaderWriter, LimitStatus, Outcome, ResponseContext,
};
use tailback::{Advice, AdviceForms, AdviceHeaders, AdviceValue};
use vocabulary::{Instant, TextField, TimeScale, WallTime};

/// Waits of up to some weeks, whole and fractional seconds.
const WAITS: [Duration; 8] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_millis(12),
    Duration::from_millis(999),
    Duration::from_secs(1),
    Duration::from_micros(6_120_001),
    Duration::from_mins(6),
    Duration::from_nanos(2_000_000_123_456_789),
];

struct OneHeader<'a>(&'a str, Option<Cow<'a, str>>);

impl AdviceHeaders for OneHeader<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        let value = self.1.as_deref().filter(|_| self.0 == name);
        value.map(AdviceValue::Text)
    }

    fn is_repeated(&self, _: &'static str) -> bool {
        false
    }

    fn status(&self) -> u16 {
        503
    }
}

fn answers(advice: &str) -> AnswerSet {
    let every = EveryConfig { advice: Some(advice.to_owned()), ..EveryConfig::default() };
    AnswerSet::read(&AnswersConfig { every, ..AnswersConfig::default() }, ["limit"]).unwrap()
}

fn forms(text: &str) -> AdviceForms {
    let mut forms = AdviceForms::default();
    TextField::read(&mut forms, text).unwrap();
    forms
}

/// Returns the advice that a client parses when the server advises `wait` in this form.
fn read(
    advice: &str,
    header: &str,
    reader: &str,
    wait: Duration,
    teller: HeaderWriter,
    wall: WallTime,
) -> Advice {
    let (answers, standing) = (answers(advice), LimitStatus { limit: 5, ..LimitStatus::default() });
    let told = ResponseContext {
        outcome: Outcome::Rejected { stage: Some(0), wait: Some(wait) },
        now: Instant::from_millis(1250),
        decided_at: Instant::from_millis(1250),
        limit_statuses: &[Some(standing)],
        seed: 1,
        op: 3,
        attempt: 1,
    };
    forms(reader).read(&OneHeader(header, answers.header(header, &told, &teller)), wall)
}

/// Each form: its name, its header, the client's parser, and its resolution.
const FORMS: [(&str, &str, &str, Duration); 12] = [
    ("seconds", "retry-after", "retry-after.whole", Duration::from_secs(1)),
    (
        "seconds:header=x-ratelimit-retry-after",
        "x-ratelimit-retry-after",
        "x-ratelimit-retry-after.whole",
        Duration::from_secs(1),
    ),
    ("decimal", "retry-after", "retry-after.decimal", Duration::from_millis(100)),
    ("decimal:places=9", "retry-after", "retry-after.decimal", Duration::from_nanos(1)),
    ("ms", "retry-after-ms", "retry-after-ms.whole", Duration::from_millis(1)),
    (
        "ms:header=x-ms-retry-after-ms",
        "x-ms-retry-after-ms",
        "x-ms-retry-after-ms.whole",
        Duration::from_millis(1),
    ),
    ("date", "retry-after", "retry-after.whole.date", Duration::from_secs(1)),
    ("epoch", "x-ratelimit-reset", "x-ratelimit-reset.epoch", Duration::from_secs(1)),
    ("delta", "ratelimit-reset", "ratelimit-reset.whole", Duration::from_secs(1)),
    ("go:header=retry-after", "retry-after", "retry-after.go", Duration::from_millis(1)),
    ("rfc3339:places=6", "x-ratelimit-reset", "x-ratelimit-reset.rfc3339", Duration::from_micros(1)),
    ("ietf", "ratelimit", "ratelimit", Duration::from_secs(1)),
];

#[test]
fn every_form_is_parsed_as_the_wait_that_it_states() {
    let anchor = WallTime::VIRTUAL_START;
    let real = TimeScale::parse("0.1").unwrap();
    for (advice, header, reader, step) in FORMS {
        for exact in WAITS {
            let at = Duration::from_millis(1250);
            let wait = real.to_experiment(exact);
            let spoken = [
                (HeaderWriter::experiment(anchor), exact, exact, at),
                (HeaderWriter::real(anchor, real), wait, real.to_real(wait), real.to_real(at)),
            ];
            for (teller, wait, exact, at) in spoken {
                let wall = WallTime::from_unix(anchor.since_unix() + at);
                let told = match read(advice, header, reader, wait, teller, wall) {
                    Advice::After(wait) => wait,
                    other => panic!("{advice} for {exact:?}: {other:?}"),
                };
                // A decimal is parsed as a float, and a scaled one is rounded to a nanosecond twice.
                let slack = Duration::from_nanos(2);
                assert!(
                    told + slack >= exact && told < exact + step + slack,
                    "{advice}: {told:?} for {exact:?}"
                );
            }
        }
    }
}

#[test]
fn absent_advice_yields_none_and_malformed_advice_no_wait() {
    let teller = HeaderWriter::experiment(WallTime::VIRTUAL_START);
    for (advice, header, reader, _) in FORMS {
        let joint = if advice.contains(':') { ',' } else { ':' };
        let said = |honesty: &str| {
            let advice = format!("{advice}{joint}{honesty}");
            read(&advice, header, reader, Duration::from_secs(9), teller, WallTime::VIRTUAL_START)
        };
        assert_eq!(said("share=0"), Advice::None, "{advice}");
        let nonsense = said("malformed=1");
        assert!(!matches!(nonsense, Advice::After(_)), "{advice}: {nonsense:?}");
        assert!(
            matches!(said("early=1h"), Advice::After(wait) if wait <= Duration::from_millis(2250)),
            "{advice}"
        );
    }
}
