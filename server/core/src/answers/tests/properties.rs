//! Properties of all answers.

use proptest::prelude::*;
use vocabulary::TimeScale;

use super::*;

fn any_standing() -> impl Strategy<Value = Option<LimitStatus>> {
    let window = prop::option::of(any::<u64>().prop_map(Duration::from_nanos));
    let limit_status =
        (any::<u64>(), any::<u64>(), any::<u64>(), window).prop_map(|(limit, remaining, reset, window)| {
            LimitStatus { limit, remaining, reset: Duration::from_nanos(reset), window }
        });
    prop::option::of(limit_status)
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Accepted),
        Just(Outcome::Conflict),
        (prop::option::of(0..3_usize), prop::option::of(any::<Duration>()))
            .prop_map(|(stage, wait)| Outcome::Rejected { stage, wait }),
    ]
}

/// Answer with all quantities and most forms of advice.
const ALL: &str = r#"
    [every]
    headers = { a = "{limit} {remaining} {used} {reset} {window}", b = "{b.reset_date} {now_rfc3339:decimal(9):nearest} {reason}", c = "{reset_epoch_ms} {wait_go:decimal(9)}" }
    advice = "seconds:round=nearest,malformed=0.3+ms:jitter=1h+date:header=d,skew=1d,share=0.5+epoch:places=9,early=1d+go:late=1d+rfc3339:header=r,skew=-1d+ietf:malformed=0.1+problem"
"#;

proptest! {
    #[test]
    fn whatever_is_rendered_can_be_sent(
        outcome in any_outcome(),
        limit_statuses in prop::collection::vec(any_standing(), 0..3),
        (now, decided_at) in any::<(u64, u64)>(),
        (seed, op, attempt) in any::<(u64, u64, u32)>(),
        anchor in any::<Duration>(),
        scale in 0.001..1000.0_f64,
    ) {
        let set = set(ALL, &["a", "b"]);
        let (now, decided_at) = (Instant::from_nanos(now), Instant::from_nanos(decided_at));
        let context = ResponseContext { outcome, now, decided_at, limit_statuses: &limit_statuses, seed, op, attempt };
        let anchor = WallTime::from_unix(anchor);
        for teller in [HeaderWriter::experiment(anchor), HeaderWriter::real(anchor, TimeScale::parse(&scale.to_string()).unwrap())] {
            let rendered = set.render(&context, &teller);
            for (name, value) in &rendered.headers {
                prop_assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name}: {value}");
                prop_assert_eq!(set.header(name, &context, &teller), Some(value.clone()));
            }
            prop_assert_eq!(set.render(&context, &teller), rendered);
        }
    }

    #[test]
    fn a_rounded_up_wait_is_never_early_and_less_than_a_digit_late(
        nanos in 0..u64::MAX / 2_000_000,
        scale in 0.001..1000.0_f64,
        places in 0..=6_u32,
    ) {
        let wait = Duration::from_nanos(nanos);
        let set = set(&format!("[every]\nadvice = 'decimal:places={}+ms:header=m'", places.max(1)), &["a"]);
        let scale = TimeScale::parse(&scale.to_string()).unwrap();
        let teller = HeaderWriter::real(WallTime::VIRTUAL_START, scale);
        let context = context(rejected(0, wait), &[]);
        let millis: u128 = set.header("m", &context, &teller).unwrap().parse().unwrap();
        let real = scale.to_real(wait).as_nanos();
        prop_assert!(millis * 1_000_000 >= real && millis * 1_000_000 < real + 1_000_000);
        let text = set.header("retry-after", &context, &teller).unwrap();
        let (whole, digits) = text.split_once('.').unwrap();
        let count: u128 = format!("{whole}{digits}").parse().unwrap();
        let step = 10_u128.pow(9 - places.max(1));
        prop_assert!(count * step >= real && count * step < real + step);
    }

    #[test]
    fn any_tables_are_refused_or_rendered(
        header in "[a-z-]{0,6}",
        value in r"([{}a-z]|limit|[{]reset_epoch[}]|[{]a[.]used[}]|:up){0,8}",
        advice in "(seconds|ietf|problem|none|x)([+](ms|date))?",
        body in any::<String>(),
        status in any::<u16>(),
    ) {
        let response = ResponseConfig {
            status: Some(status),
            headers: [(header, value)].into(),
            body: Some(body),
            advice: Some(advice),
        };
        let config = AnswersConfig { reject: [("*".to_owned(), response)].into(), ..AnswersConfig::default() };
        if let Ok(set) = AnswerSet::read(&config, ["a"]) {
            drop(said(&set, &context(rejected(0, SECOND), &[None])));
        }
    }
}
