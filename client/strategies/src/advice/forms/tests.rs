//! Parsing of lists of headers, and of advice with them.

use proptest::prelude::*;
use vocabulary::TextField;

use super::*;
use crate::CustomResponses;
use crate::advice::LONGEST;

/// 2026-11-22 10:00:00 UTC.
const NOW: WallTime = WallTime::from_unix(Duration::from_hours(498_706));

type Headers<'a> = &'a [(&'a str, &'a str)];

const fn ms(millis: u64) -> Advice {
    Advice::After(Duration::from_millis(millis))
}

fn forms(text: &str) -> AdviceForms {
    let mut forms = AdviceForms::default();
    TextField::read(&mut forms, text).unwrap();
    forms
}

fn read(text: &str, headers: Headers<'_>) -> Advice {
    forms(text).read(headers, NOW)
}

#[test]
fn the_default_reads_seconds_milliseconds_and_dates() {
    let default = AdviceForms::default();
    assert_eq!(default.show(), "retry-after-ms.decimal|retry-after.decimal.date");
    for (headers, advice) in [
        (&[("retry-after", "2")][..], ms(2000)),
        (&[("retry-after", " 0.5 ")], ms(500)),
        (&[("retry-after-ms", "120"), ("retry-after", "1")], ms(120)),
        (&[("retry-after", "Sun, 22 Nov 2026 10:00:03 GMT")], ms(3000)),
        (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Advice::Past),
        (&[("retry-after", "-1")], Advice::Negative),
        (&[("retry-after-ms", "soon"), ("retry-after", "1")], Advice::Unreadable),
        (&[("retry-after", "")], Advice::Unreadable),
        (&[("x-amz-retry-after", "1")], Advice::None),
        (&[], Advice::None),
    ] {
        assert_eq!(default.read(headers, NOW), advice, "{headers:?}");
    }
}

/// Notations of recorded clients, with the texts of the presets.
#[test]
fn each_client_has_its_own_forms_and_order() {
    let five_later = "1795341605";
    let ky_2 = "retry-after.recent-epoch.whole.date|ratelimit-reset.recent-epoch.whole.date\
                |x-ratelimit-retry-after.recent-epoch.whole.date|x-ratelimit-reset.recent-epoch.whole.date\
                |x-rate-limit-reset.recent-epoch.whole.date";
    let azure = "retry-after.decimal.date|retry-after-ms.decimal|x-ms-retry-after-ms.decimal";
    for (text, headers, advice) in [
        (ky_2, &[("ratelimit-reset", "4"), ("x-ratelimit-reset", "9")][..], ms(4000)),
        (ky_2, &[("x-ratelimit-reset", five_later)], ms(5000)),
        (ky_2, &[("x-rate-limit-reset", five_later)], ms(5000)),
        (ky_2, &[("retry-after", "1.5")], Advice::Unreadable),
        (azure, &[("retry-after-ms", "1500"), ("retry-after", "7")], ms(7000)),
        (azure, &[("x-ms-retry-after-ms", "1500")], ms(1500)),
        ("x-amz-retry-after.whole", &[("x-amz-retry-after", "3000")], ms(3000)),
        ("retry-after.leading.date", &[("retry-after", "1.5")], ms(1000)),
        ("retry-after.decimal.inf", &[("retry-after", "inf")], Advice::After(LONGEST)),
        ("x-ratelimit-reset.go", &[("x-ratelimit-reset", "1m30.5s")], ms(90_500)),
        ("x-ratelimit-reset.rfc3339", &[("x-ratelimit-reset", "2026-11-22T10:00:05Z")], ms(5000)),
        ("ratelimit", &[("ratelimit", r#""a";r=0;t=4"#)], ms(4000)),
        ("ratelimit", &[("ratelimit", r#""a";r=0"#), ("ratelimit-policy", r#""a";q=9;w=60"#)], ms(60_000)),
        ("ratelimit|retry-after.whole", &[("ratelimit", r#""a";r=1;t=4"#), ("retry-after", "2")], ms(2000)),
    ] {
        assert_eq!(read(text, headers), advice, "{text} {headers:?}");
    }
}

#[test]
fn a_header_may_count_only_when_nothing_is_left() {
    let text = "x-ratelimit-reset.epoch.when-exhausted.rounded-up.plus-1s";
    let reset = ("x-ratelimit-reset", "1795341605");
    assert_eq!(read(text, &[reset, ("x-ratelimit-remaining", "0")]), ms(6000));
    assert_eq!(read(text, &[reset, ("x-ratelimit-remaining", "1")]), Advice::None);
    assert_eq!(read(text, &[reset]), Advice::None);
    let late = WallTime::from_unix(NOW.since_unix() + Duration::from_millis(300));
    let headers: Headers<'_> = &[reset, ("x-ratelimit-remaining", "0")];
    assert_eq!(forms(text).read(headers, late), ms(6000), "4.7 s, rounded up, and one more");
}

/// `PyGithub` uses GitHub's reset only for a 403.
#[test]
fn a_header_may_count_for_one_status_only() {
    let list = forms("retry-after.whole|x-ratelimit-reset.epoch.on-403.plus-1s");
    let of = |status: u16| list.read(&(status, vec![("x-ratelimit-reset", "1795341605")]), NOW);
    assert_eq!((of(403), of(429)), (ms(6000), Advice::None));
}

#[test]
fn what_cannot_be_read_may_be_passed_over() {
    let passed = "retry-after-ms.decimal.or-next|retry-after.decimal.unless-empty";
    assert_eq!(read(passed, &[("retry-after-ms", "soon"), ("retry-after", "1")]), ms(1000));
    assert_eq!(read(passed, &[("retry-after-ms", "soon")]), Advice::Unreadable);
    assert_eq!(read(passed, &[("retry-after-ms", "-1"), ("retry-after", "1")]), Advice::Negative);
    assert_eq!(read(passed, &[("retry-after", " ")]), Advice::None);
}

/// gRPC, proposal A6: a negative, unparsable or repeated value means never.
#[test]
fn a_push_back_is_one_whole_number_or_the_end() {
    let name = "grpc-retry-pushback-ms";
    for (value, advice) in [
        ("700", ms(700)),
        ("0", ms(0)),
        ("-1", Advice::Never),
        ("soon", Advice::Never),
        ("1.5", Advice::Never),
    ] {
        assert_eq!(read(name, &[(name, value)]), advice, "{value}");
    }
    assert_eq!(read(name, &[(name, "700"), (name, "700")]), Advice::Never);
    assert_eq!(read(name, &[]), Advice::None);
}

#[test]
fn long_texts_are_not_read() {
    let digits = "1".repeat(MAX_TEXT + 1);
    assert_eq!(read("retry-after.whole", &[("retry-after", &digits)]), Advice::Unreadable);
    assert_eq!(read("retry-after.whole", &[("retry-after", &digits[1..])]), Advice::After(MAX_READ));
}

#[test]
fn a_simulated_server_is_read_by_the_same_list() {
    let advice = CustomResponses { wait: Duration::from_micros(1_200_300), in_seconds: true };
    assert_eq!(AdviceForms::default().read(&advice, NOW), ms(2000));
    for exact in ["exact", "exact|retry-after.decimal.date"] {
        assert_eq!(forms(exact).read(&advice, NOW), Advice::After(Duration::from_micros(1_200_300)));
    }
    assert_eq!(forms("retry-after.whole").read(&advice, NOW), ms(2000));
    assert_eq!(forms("x-amz-retry-after.whole").read(&advice, NOW), Advice::None);
}

#[test]
fn lists_are_shown_as_they_were_given() {
    for text in [
        "retry-after-ms.decimal|retry-after.decimal.date",
        "exact",
        "exact|retry-after.decimal.date",
        "x-ratelimit-reset.epoch.when-exhausted.rounded-up.plus-1s",
        "retry-after.whole.or-next.unless-empty.plus-1m30s",
        "ratelimit|grpc-retry-pushback-ms",
        "x-ratelimit-reset.epoch.on-403.plus-1s",
    ] {
        assert_eq!(forms(text).show(), text);
    }
}

#[test]
fn an_invalid_list_reports_the_error() {
    for (text, wrong) in [
        (
            "retry-aftr.whole",
            "`retry-aftr` is not a header from which a wait can be read (did you mean `retry-after`?)",
        ),
        ("", "`` is not a header from which a wait can be read"),
        (
            "retry-after",
            "`retry-after` does not say how its value is read; write for example `retry-after.whole`",
        ),
        (
            "retry-after.or-next",
            "`retry-after.or-next` does not say how its value is read; write for example `retry-after.whole`",
        ),
        ("retry-after.hole", "`hole` is not a form of `retry-after` (did you mean `whole`?)"),
        ("retry-after.whole.whole", "`whole` is given twice; keep one of them"),
        ("retry-after.whole.plus-1s.plus-1s", "`plus-1s` is given twice; keep one of them"),
        ("retry-after.whole.on-429.on-429", "`on-429` is given twice; keep one of them"),
        ("retry-after.whole.on-200", "`on-200` must be `on-` and a status from 400 to 599, such as `on-403`"),
        ("retry-after.whole.plus-0s", "`plus-0s` adds no time; leave it out"),
        (
            "retry-after.whole.when-exhausted",
            "`when-exhausted` cannot follow `retry-after`, because no related header reports the remaining requests",
        ),
        ("retry-after.whole|exact", "`exact` must be the first word, before all headers"),
        ("exact|exact", "`exact` must be the first word, before all headers"),
        ("ratelimit.whole", "the format of `ratelimit` is fixed, so write it without a form"),
    ] {
        let mut list = AdviceForms::default();
        assert_eq!(TextField::read(&mut list, text).unwrap_err(), wrong, "{text}");
        assert_eq!(list, AdviceForms::default());
    }
}

/// List that accepts every header in every notation.
fn everything() -> AdviceForms {
    let words: Vec<&str> = Form::CHOICES.iter().map(|(word, _)| *word).collect();
    let headers = HEADERS.iter().map(|header| match header.notation {
        Notation::Forms(_) => format!("{}.{}.or-next.rounded-up.plus-1s", header.name, words.join(".")),
        Notation::Pushback | Notation::RateLimit => format!("{}.or-next", header.name),
    });
    forms(&headers.collect::<Vec<_>>().join("|"))
}

proptest! {
    #[test]
    fn any_text_is_read_the_same_again_and_waits_end(
        header in 0..HEADERS.len(),
        text in prop_oneof![
            any::<String>(),
            "[-+0-9.eE:; TZ=\"a-z]{0,40}",
            "[-+]?[0-9]{1,25}(\\.[0-9]{0,25})?(h|m|s|ms|us|ns)?",
            "[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT",
            "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,12})?(Z|[-+][0-9]{2}:[0-9]{2})",
        ],
        now in 0..20_000_000_000_u64,
    ) {
        let now = WallTime::from_unix(Duration::from_secs(now));
        let headers = [(HEADERS[header].name, text)];
        let list = everything();
        let advice = list.read(headers.as_slice(), now);
        prop_assert_eq!(advice, list.read(headers.as_slice(), now));
        if let Advice::After(wait) = advice {
            prop_assert!(wait <= MAX_READ, "{:?}", wait);
        }
    }
}

#[test]
fn seconds_can_be_taken_for_milliseconds() {
    let shopify = "retry-after.leading.unless-empty.as-ms";
    for (value, advice) in [("60", ms(60)), ("1.5", ms(1)), ("-1", Advice::Negative), ("", Advice::None)] {
        assert_eq!(read(shopify, &[("retry-after", value)]), advice, "{value}");
    }
    let words = CustomResponses { wait: Duration::from_millis(1200), in_seconds: true };
    let simulated = forms(shopify).read(&words, NOW);
    assert_eq!(simulated, ms(2), "the simulated server writes 2 seconds");
    assert_eq!(forms(shopify).show(), shopify);
    let mut forms = AdviceForms::default();
    let error = TextField::read(&mut forms, "retry-after-ms.whole.as-ms").unwrap_err();
    assert_eq!(
        error,
        "`as-ms` reads seconds as milliseconds, but the value of `retry-after-ms` is not in seconds"
    );
}
