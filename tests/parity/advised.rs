//! Parity tests of responses in vendors' formats with every form of advice: both drivers read them alike.

use mockserver_core::{ADVICE_FORMS, AnswersConfig, ResponseConfig};

use crate::real_run::Setting;
use crate::replayed::{overload, rejected, replayed};

fn advised(strategy: &'static str, advice: &str) -> Setting {
    let mut setting = overload(strategy);
    setting.server.policy =
        "primary=fixed-window:limit=20,window=300ms,align=epoch".parse().expect("a policy");
    setting.server.retry_after = None;
    setting.server.answers = AnswersConfig::default().advising(advice);
    setting
}

/// Every form of advice, with a strategy that reads it.
const FORMS: [(&str, &str); 10] = [
    ("seconds", "full-jitter:base=50ms,cap=1s,advice=retry-after.whole"),
    ("decimal", "full-jitter:base=50ms,cap=1s,advice=retry-after.decimal"),
    ("ms", "full-jitter:base=50ms,cap=1s"),
    ("date", "full-jitter:base=50ms,cap=1s"),
    ("epoch", "full-jitter:base=50ms,cap=1s,advice=x-ratelimit-reset.epoch"),
    ("delta", "full-jitter:base=50ms,cap=1s,advice=ratelimit-reset.whole"),
    ("go:header=retry-after", "full-jitter:base=50ms,cap=1s,advice=retry-after.go"),
    ("rfc3339", "full-jitter:base=50ms,cap=1s,advice=x-ratelimit-reset.rfc3339"),
    ("ietf", "full-jitter:base=50ms,cap=1s,advice=ratelimit"),
    ("problem", "full-jitter:base=50ms,cap=1s"),
];

#[test]
fn every_form_of_advice_is_read_alike_in_both_drivers() {
    let known: Vec<_> = ADVICE_FORMS.iter().map(|form| form.name).collect();
    assert_eq!(known, FORMS.map(|(advice, _)| advice.split(':').next().unwrap_or_default()));
    for (advice, strategy) in FORMS {
        let real = replayed(&advised(strategy, advice));
        assert!(rejected(&real) > 0, "{advice}");
        assert!(real.run.measurements().ops.succeeded > 0, "{advice}");
    }
}

#[test]
fn advice_that_is_not_honest_is_read_alike_in_both_drivers() {
    for advice in [
        "decimal:late=20ms",
        "ms:jitter=50ms",
        "date:skew=-1s",
        "seconds:share=0.5+ms:malformed=0.3",
        "decimal:early=100ms",
    ] {
        let real = replayed(&advised("full-jitter:base=50ms,cap=1s", advice));
        assert!(rejected(&real) > 0, "{advice}");
        assert!(real.run.measurements().ops.succeeded > 0, "{advice}");
    }
}

#[test]
fn a_grpc_status_has_precedence_over_a_200_in_both_drivers() {
    let mut setting = advised("full-jitter:base=50ms,cap=1s", "none");
    let headers = [("grpc-status".to_owned(), "8".to_owned())].into();
    let rejection = ResponseConfig { status: Some(200), headers, ..ResponseConfig::default() };
    setting.server.answers.reject.insert("primary".to_owned(), rejection);
    let real = replayed(&setting);
    // Ops would have been given up if the client had taken the rejections for successes.
    assert!(rejected(&real) > 0 && real.run.measurements().ops.given_up == 0);
}

#[test]
fn served_requests_read_as_rejections_fail_in_both_drivers() {
    let own = Some(r#"{"code": "SERVED"}"#.to_owned());
    for (status, rejected_when, body) in [
        (Some(503), "", &own),
        (Some(200), "body:SERVED", &own),
        (Some(200), "body:served", &None),
        (None, "body:served", &None),
        (Some(403), "403", &own),
    ] {
        let mut setting = advised("constant:delay=50ms,max-attempts=2", "none");
        setting.server.answers.accepted =
            ResponseConfig { status, body: body.clone(), ..ResponseConfig::default() };
        if !rejected_when.is_empty() {
            setting.config.rejected_when = rejected_when.parse().expect("a status or a word");
        }
        let real = replayed(&setting);
        let counted = real.run.measurements();
        assert!(real.server.stats.counts.accepted > 0, "{status:?}");
        assert_eq!(counted.ops.succeeded, 0, "{status:?}");
        assert_eq!(counted.attempts.failed, real.server.stats.counts.accepted, "{status:?}");
        assert!(real.run.conservation(Some(&real.server.stats.counts)).holds(), "{status:?}");
    }
}

#[test]
fn rejections_follow_the_servers_verdict_not_the_status() {
    for (status, body) in [(403, "no"), (400, "no"), (200, r#"{"errors": [{"code": "THROTTLED"}]}"#)] {
        let mut setting = advised("full-jitter:base=50ms,cap=1s", "none");
        let rejection =
            ResponseConfig { status: Some(status), body: Some(body.to_owned()), ..ResponseConfig::default() };
        setting.server.answers.reject.insert("primary".to_owned(), rejection);
        let real = replayed(&setting);
        let counted = real.run.measurements();
        let stats = &real.server.stats.counts;
        assert!(rejected(&real) > 0, "{status}");
        assert_eq!(
            (counted.attempts.rejected, counted.attempts.succeeded),
            (stats.rejected, stats.accepted),
            "{status}"
        );
        assert_eq!(
            counted.ops.succeeded, stats.accepted,
            "who takes a rejection for a success has not succeeded: {status}"
        );
    }
}
