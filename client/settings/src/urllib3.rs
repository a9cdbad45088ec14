//! urllib3: Python code that creates a `Retry`, which requests and many SDKs accept.
//!
//! Source: urllib3/urllib3 `src/urllib3/util/retry.py`.

use std::time::Duration;

use crate::described::{Described, Format, LONGEST, seconds};
use crate::retried::{runs, shown};

pub(crate) const FORMAT: Format = Format {
    name: "urllib3",
    what: "Python: urllib3.util.Retry",
    used_by: &["urllib3", "kubernetes-python", "pygithub"],
    nearest: "preset:urllib3-usual",
    comment: Some("#"),
    write,
};

/// Statuses that urllib3 retries if the response has Retry-After, unless the client ignores this header.
const RETRY_AFTER_STATUSES: [u16; 3] = [413, 429, 503];

/// Causes of a missing response that urllib3 counts as failed reads.
const READS: [&str; 3] = ["closed", "timeout", "unreadable"];

/// Default of urllib3's `retry_after_max` (`DEFAULT_RETRY_AFTER_MAX` of `Retry`). This parameter limits the wait that Retry-After can
/// demand.
const MAX_ADVICE: Duration = Duration::from_hours(6);

fn write(settings: &mut Described) -> String {
    let total = settings.count("max-attempts");
    settings.set("total", total.map_or_else(|| "None".to_owned(), |most| (most - 1).to_string()));
    waits(settings);
    let reads_advice = advice(settings);
    if total.is_none() && reads_advice {
        settings.note(
            "max-attempts",
            "with total=None, urllib3 does not retry a status just because of its Retry-After",
        );
    }
    retried(settings, reads_advice);
    if let Some(most) = settings.limit("attempt-timeout") {
        let most = seconds(most);
        let why = format!("Retry of urllib3 has no timeout; set `timeout={most}` on the pool or the request");
        settings.note("attempt-timeout", why);
    }
    if settings.limit("max-time").is_some() {
        settings.note("max-time", "urllib3 has no time limit for all attempts of an op");
    }
    let arguments = settings.lines.iter().map(|(key, value)| format!("    {key}={value},\n"));
    let arguments = arguments.collect::<Vec<_>>().concat();
    format!("from urllib3.util import Retry\n\nretry = Retry(\n{arguments})\n")
}

fn waits(settings: &mut Described) {
    let base = settings.duration("backoff.base");
    let cap = settings.cap().unwrap_or(LONGEST);
    settings.set("backoff_factor", seconds(base));
    settings.set("backoff_max", seconds(cap));
    if !base.is_zero() {
        let doubles = "urllib3 doubles its backoff after each retry";
        settings.fixed("backoff.growth", "exponential", doubles);
        settings.fixed("backoff.factor", "2", doubles);
        settings.fixed("backoff.first", "0s", "urllib3 does not wait before the first retry");
    }
    settings.settle("backoff.first");
    settings.settle("backoff.growth");
    let spread = settings.read("backoff.spread");
    match spread.split_once('|') {
        Some(("add", most)) => {
            let most = vocabulary::duration_text::parse(most).unwrap_or_default();
            settings.set("backoff_jitter", seconds(most));
            settings.fixed(
                "backoff.cap-applies",
                "after-spread",
                "urllib3 applies backoff_max after the jitter",
            );
        }
        _ if spread != "none" && !base.is_zero() => {
            settings.note("backoff.spread", "urllib3 can only add a random delay up to a maximum (`add|1s`)");
        }
        _ => settings.settle("backoff.cap-applies"),
    }
}

fn advice(settings: &mut Described) -> bool {
    if settings.read("retry-after") == "ignore" {
        settings.settle("advice");
        settings.set("respect_retry_after_header", "False");
        return false;
    }
    settings.set("respect_retry_after_header", "True");
    let limit = settings.advice_limit();
    // The parameter `retry_after_max` is written only if it differs from its default in urllib3 2.8.0, because urllib3 2.5.0 lacks the
    // parameter.
    if limit != MAX_ADVICE {
        settings.set("retry_after_max", limit.as_secs());
    }
    for (name, always, why) in [
        ("retry-after", "exact", "urllib3 waits exactly as long as advised"),
        (
            "advice",
            "retry-after.whole.date",
            "urllib3 reads Retry-After as whole seconds or a date, nothing else",
        ),
        ("advice-beyond", "cut", "urllib3 shortens longer advice to retry_after_max"),
        ("advice-zero", "back-off", "urllib3 uses its own backoff if Retry-After is zero"),
        ("advice-past", "back-off", "urllib3 uses its own backoff if the date in Retry-After has passed"),
        ("advice-negative", "give-up", "urllib3 raises InvalidHeader if Retry-After is negative"),
        ("advice-unreadable", "give-up", "urllib3 raises InvalidHeader if Retry-After cannot be parsed"),
    ] {
        settings.fixed(name, always, why);
    }
    true
}

fn retried(settings: &mut Described, reads_advice: bool) {
    let retried = settings.retried();
    let (mut list, mut other, mut any, mut idempotent) = (Vec::new(), Vec::new(), false, false);
    for (code, conditions) in &retried.codes {
        let listed = conditions.iter().find(|condition| matches!(condition.as_str(), "" | "idempotent"));
        match listed {
            Some(condition) => {
                any |= condition.is_empty();
                idempotent |= !condition.is_empty();
                list.push(*code);
            }
            None if reads_advice && RETRY_AFTER_STATUSES.contains(code) => {
                let is_idempotent = conditions.iter().any(|condition| condition.contains("idempotent"));
                idempotent |= is_idempotent;
                any |= !is_idempotent;
            }
            None => other.push(*code),
        }
    }
    let items: Vec<String> = runs(list.into_iter()).into_iter().flat_map(python).collect();
    settings.set(
        "status_forcelist",
        if items.is_empty() { "()".to_owned() } else { format!("{{{}}}", items.join(", ")) },
    );
    for condition in READS.iter().filter_map(|kind| retried.missing.get(kind)).flatten() {
        any |= condition.is_empty();
        idempotent |= condition == "idempotent";
    }
    if any {
        settings.set("allowed_methods", "None");
        if idempotent {
            settings.note(
                "retry-on",
                "allowed_methods of urllib3 applies to all statuses, so every method is retried after each of them",
            );
        }
    }
    let refused = retried.missing.get("refused");
    limit(settings, "max-connect", "connect", refused.is_some());
    if refused.is_some_and(|conditions| conditions.iter().all(|condition| !condition.is_empty())) {
        settings.note("retry-on", "urllib3 retries refused connections for every method");
    }
    let reads = READS.map(|kind| retried.lacks_answer(kind));
    limit(settings, "max-read", "read", reads.contains(&true));
    if reads.contains(&true) && reads.contains(&false) {
        settings.note(
            "retry-on",
            "urllib3 has one limit for closed connections, timeouts and unreadable responses together",
        );
    }
    limit(settings, "max-status", "status", true);
    if !other.is_empty() {
        let other = shown(other.into_iter());
        let why = format!(
            "urllib3 supports conditions only for 413, 429 and 503 (with Retry-After), not for {other}"
        );
        settings.note("retry-on", why);
    }
    let unasked = RETRY_AFTER_STATUSES.iter().filter(|code| !retried.codes.contains_key(code));
    let unasked: Vec<String> = unasked.map(u16::to_string).collect();
    if reads_advice && !unasked.is_empty() {
        let why = format!("urllib3 also retries {} if the response has Retry-After", unasked.join(", "));
        settings.note("retry-on", why);
    }
    if !retried.grpc.is_empty() || !retried.reasons.is_empty() {
        settings.note("retry-on", "urllib3 reads neither gRPC statuses nor error reasons in bodies");
    }
}

/// Writes the limit of retries after one kind of failure. The limit is 0 if such failures are not retried.
fn limit(settings: &mut Described, name: &str, keyword: &'static str, are_retried: bool) {
    if !are_retried {
        settings.settle(name);
        settings.set(keyword, 0);
    } else if let Some(most) = settings.count(name) {
        settings.set(keyword, most);
    }
}

fn python((first, last): (u16, u16)) -> Vec<String> {
    if last - first < 3 {
        return (first..=last).map(|code| code.to_string()).collect();
    }
    vec![format!("*range({first}, {})", last + 1)]
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use crate::tests::{left_out, written};

    /// Whether Python can parse the text. True if Python is not installed.
    fn is_python(text: &str) -> bool {
        let python = Command::new("python3")
            .args(["-c", "import ast, sys; ast.parse(sys.stdin.read())"])
            .stdin(Stdio::piped())
            .spawn();
        let Ok(mut python) = python else { return true };
        python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        python.wait().unwrap().success()
    }

    #[test]
    fn the_usual_setting_is_expressed_in_whole() {
        let text = written("preset:urllib3-usual,max-attempts=5", "urllib3");
        insta::assert_snapshot!(text, @r#"
        from urllib3.util import Retry

        retry = Retry(
            total=4,
            backoff_factor=0.5,
            backoff_max=120,
            respect_retry_after_header=True,
            status_forcelist={429, 500, 502, 503, 504},
        )
        "#);
        assert!(is_python(&text));
        let shorter = written("preset:urllib3-usual,advice-limit=1m", "urllib3");
        assert!(shorter.contains("    retry_after_max=60,\n"), "{shorter}");
    }

    #[test]
    fn settings_that_urllib3_lacks_are_listed_in_order() {
        let strategy =
            "backoff:base=1s,growth=linear,spread=full,max-attempts=3,retry-on=5xx|403&advice|refused";
        insta::assert_snapshot!(left_out(strategy, "urllib3"), @r#"
        `growth=linear`: urllib3 doubles its backoff after each retry
        `first=none`: urllib3 does not wait before the first retry
        `spread=full`: urllib3 can only add a random delay up to a maximum (`add|1s`)
        `retry-after=floor`: urllib3 waits exactly as long as advised
        `advice=retry-after-ms.decimal|retry-after.decimal.date`: urllib3 reads Retry-After as whole seconds or a date, nothing else
        `advice-zero=0s`: urllib3 uses its own backoff if Retry-After is zero
        `advice-past=0s`: urllib3 uses its own backoff if the date in Retry-After has passed
        `advice-negative=back-off`: urllib3 raises InvalidHeader if Retry-After is negative
        `advice-unreadable=back-off`: urllib3 raises InvalidHeader if Retry-After cannot be parsed
        `retry-on=5xx|403&advice|refused`: urllib3 supports conditions only for 413, 429 and 503 (with Retry-After), not for 403; urllib3 also retries 413, 429 if the response has Retry-After
        "#);
        assert!(is_python(&written(strategy, "urllib3")));
    }

    #[test]
    fn jitter_and_limits_have_keywords() {
        let strategy =
            "preset:urllib3-usual,cap=10s,spread=add|1s,cap-applies=after-spread,max-status=2,max-time=9s";
        insta::assert_snapshot!(written(strategy, "urllib3"), @r#"
        from urllib3.util import Retry

        retry = Retry(
            total=5,
            backoff_factor=0.5,
            backoff_max=10,
            backoff_jitter=1,
            respect_retry_after_header=True,
            status_forcelist={429, 500, 502, 503, 504},
            status=2,
        )
        "#);
    }
}
