//! urllib3: Python code that creates a `Retry`, which requests and many SDKs accept.
//!
//! Source: urllib3/urllib3 `src/urllib3/util/retry.py`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::described::Format;
use crate::described::{BACKOFF, COMMON, Described, seconds};
use crate::retried::{Retried, runs, shown};

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

/// Default of urllib3's `retry_after_max` (`DEFAULT_RETRY_AFTER_MAX` of `Retry`). This parameter limits the wait that Retry-After can
/// demand.
const MAX_ADVICE: Duration = Duration::from_hours(6);

fn write(settings: &mut Described) -> String {
    let mut text = "from urllib3.util import Retry\n\nretry = Retry(\n".to_owned();
    let mut set = |key: &str, value: &str| {
        let _ = writeln!(text, "    {key}={value},");
    };
    let total = settings.count(COMMON, "max-attempts");
    set("total", &total.map_or_else(|| "None".to_owned(), |most| (most - 1).to_string()));
    waits(settings, &mut set);
    let reads_advice = advice(settings, &mut set);
    if total.is_none() && reads_advice {
        settings.note(
            COMMON,
            "max-attempts",
            "with total=None, urllib3 does not retry a status just because of its Retry-After",
        );
    }
    retried(settings, reads_advice, &mut set);
    if let Some(most) = settings.limit("attempt-timeout") {
        let why = format!(
            "Retry of urllib3 has no timeout; set `timeout={}` on the pool or the request",
            seconds(most)
        );
        settings.note(COMMON, "attempt-timeout", &why);
    }
    if settings.limit("max-time").is_some() {
        settings.note(COMMON, "max-time", "urllib3 has no time limit for all attempts of an op");
    }
    text + ")\n"
}

fn waits(settings: &mut Described, set: &mut dyn FnMut(&str, &str)) {
    let base = settings.duration(BACKOFF, "base").unwrap_or_default();
    let cap = settings.cap();
    set("backoff_factor", &seconds(base));
    match cap {
        Some(cap) => set("backoff_max", &seconds(cap)),
        None => set("backoff_max", "86400"),
    }
    if !base.is_zero() {
        settings.fixed(BACKOFF, "growth", &["exponential"], "urllib3 doubles its backoff after each retry");
        settings.fixed(BACKOFF, "factor", &["2"], "urllib3 doubles its backoff after each retry");
        settings.fixed(BACKOFF, "first", &["0s"], "urllib3 does not wait before the first retry");
    }
    settings.settle(BACKOFF, "first");
    settings.settle(BACKOFF, "growth");
    let spread = settings.read(BACKOFF, "spread");
    match spread.split_once('|') {
        Some(("add", most)) => {
            let most = vocabulary::duration_text::parse(most).unwrap_or_default();
            set("backoff_jitter", &seconds(most));
            settings.fixed(
                BACKOFF,
                "cap-applies",
                &["after-spread"],
                "urllib3 applies backoff_max after the jitter",
            );
        }
        _ if spread != "none" && !base.is_zero() => {
            settings.note(
                BACKOFF,
                "spread",
                "urllib3 can only add a random delay up to a maximum (`add|1s`)",
            );
        }
        _ => settings.settle(BACKOFF, "cap-applies"),
    }
}

fn advice(settings: &mut Described, set: &mut dyn FnMut(&str, &str)) -> bool {
    let heeded = settings.read(COMMON, "retry-after");
    if heeded == "ignore" {
        settings.settle(COMMON, "advice");
        set("respect_retry_after_header", "False");
        return false;
    }
    set("respect_retry_after_header", "True");
    if heeded != "exact" {
        settings.note(COMMON, "retry-after", "urllib3 waits exactly as long as advised");
    }
    let limit = settings.duration(COMMON, "advice-limit").unwrap_or(Duration::from_hours(24 * 365));
    // The parameter `retry_after_max` is written only if it differs from its default in urllib3 2.8.0, because urllib3 2.5.0 lacks the
    // parameter.
    if limit != MAX_ADVICE {
        set("retry_after_max", &limit.as_secs().to_string());
    }
    let forms = "urllib3 reads Retry-After as whole seconds or a date, nothing else";
    settings.fixed(COMMON, "advice", &["retry-after.whole.date"], forms);
    for (key, always, why) in [
        ("advice-beyond", "cut", "urllib3 shortens longer advice to retry_after_max"),
        ("advice-zero", "back-off", "urllib3 uses its own backoff if Retry-After is zero"),
        ("advice-past", "back-off", "urllib3 uses its own backoff if the date in Retry-After has passed"),
        ("advice-negative", "give-up", "urllib3 raises InvalidHeader if Retry-After is negative"),
        ("advice-unreadable", "give-up", "urllib3 raises InvalidHeader if Retry-After cannot be parsed"),
    ] {
        settings.fixed(COMMON, key, &[always], why);
    }
    true
}

fn retried(settings: &mut Described, reads_advice: bool, set: &mut dyn FnMut(&str, &str)) {
    let retried = Retried::read(&settings.read(COMMON, "retry-on"), &settings.read(COMMON, "throttle-on"));
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
                idempotent |= conditions.iter().any(|condition| condition.contains("idempotent"));
                any |= !conditions.iter().any(|condition| condition.contains("idempotent"));
            }
            None => other.push(*code),
        }
    }
    let items: Vec<String> = runs(list.into_iter()).into_iter().flat_map(python).collect();
    set(
        "status_forcelist",
        &if items.is_empty() { "()".to_owned() } else { format!("{{{}}}", items.join(", ")) },
    );
    for kind in ["closed", "timeout", "unreadable"] {
        let conditions = retried.missing.get(kind).into_iter().flatten();
        for condition in conditions {
            any |= condition.is_empty();
            idempotent |= condition == "idempotent";
        }
    }
    if any {
        set("allowed_methods", "None");
        if idempotent {
            settings.note(
                COMMON,
                "retry-on",
                "allowed_methods of urllib3 applies to all statuses, so every method is retried after each of them",
            );
        }
    }
    kinds(settings, &retried, set);
    limit(settings, "max-status", "status", set);
    if !other.is_empty() {
        let why = format!(
            "urllib3 supports conditions only for 413, 429 and 503 (with Retry-After), not for {}",
            shown(other.into_iter())
        );
        settings.note(COMMON, "retry-on", &why);
    }
    let unasked: Vec<String> = RETRY_AFTER_STATUSES
        .iter()
        .filter(|code| !retried.codes.contains_key(code))
        .map(u16::to_string)
        .collect();
    if reads_advice && !unasked.is_empty() {
        let why = format!("urllib3 also retries {} if the response has Retry-After", unasked.join(", "));
        settings.note(COMMON, "retry-on", &why);
    }
    if !retried.grpc.is_empty() || !retried.reasons.is_empty() {
        settings.note(COMMON, "retry-on", "urllib3 reads neither gRPC statuses nor error reasons in bodies");
    }
}

fn kinds(settings: &mut Described, retried: &Retried, set: &mut dyn FnMut(&str, &str)) {
    if retried.lacks_answer("refused") {
        limit(settings, "max-connect", "connect", set);
        if retried.missing["refused"].iter().all(|condition| !condition.is_empty()) {
            settings.note(COMMON, "retry-on", "urllib3 retries refused connections for every method");
        }
    } else {
        settings.settle(COMMON, "max-connect");
        set("connect", "0");
    }
    let reads = ["closed", "timeout", "unreadable"].map(|kind| retried.lacks_answer(kind));
    if reads.contains(&true) {
        limit(settings, "max-read", "read", set);
        if reads.contains(&false) {
            let why =
                "urllib3 has one limit for closed connections, timeouts and unreadable responses together";
            settings.note(COMMON, "retry-on", why);
        }
    } else {
        settings.settle(COMMON, "max-read");
        set("read", "0");
    }
}

fn limit(settings: &mut Described, key: &str, name: &str, set: &mut dyn FnMut(&str, &str)) {
    if let Some(most) = settings.count(COMMON, key) {
        set(name, &most.to_string());
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

    use crate::testing::{left_out, written};

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
