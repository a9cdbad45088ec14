//! Polly: C# code that builds a pipeline for `HttpClient`.
//!
//! Source: App-vNext/Polly `src/Polly.Core/Retry/RetryStrategyOptions.TResult.cs`, `RetryHelper.cs`,
//! `CircuitBreaker/CircuitBreakerStrategyOptions.TResult.cs`, `Timeout/TimeoutStrategyOptions.cs` (names, and refused values);
//! dotnet/extensions
//! `src/Libraries/Microsoft.Extensions.Http.Resilience/{Polly/HttpRetryStrategyOptions,Hedging/HttpHedgingStrategyOptions,Internal/RetryAfterHelper}.cs`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::described::{BACKOFF, COMMON, Described, seconds};
use crate::format::Format;
use crate::retried::Retried;

pub(crate) const FORMAT: Format = Format {
    name: "polly",
    what: "Polly, C#: pipeline with HttpRetryStrategyOptions or HttpHedgingStrategyOptions",
    used_by: &["polly", "dotnet"],
    nearest: "preset:polly+fixed-window",
    comment: Some("//"),
    write,
};

const BREAKER: &str = "ratio-breaker";
const WINDOW: &str = "fixed-window";
const HEDGING: &str = "hedging";

/// Minimum times that Polly accepts: for a timeout, and (`MIN_SLICE`) for the break of a circuit breaker. The maximum is one day, which is
/// also the maximum of strategy parameters.
const MIN_TIMEOUT: Duration = Duration::from_millis(10);
const MIN_SLICE: Duration = Duration::from_millis(500);

fn write(settings: &mut Described) -> String {
    let mut text = "using System;\nusing System.Net.Http;\nusing System.Threading.Tasks;\nusing Microsoft.Extensions.Http.Resilience;\nusing Polly;\nusing Polly.CircuitBreaker;\n\
                    using Polly.Retry;\nusing Polly.Timeout;\n\nvar pipeline = new ResiliencePipelineBuilder<HttpResponseMessage>()\n"
        .to_owned();
    if settings.has(WINDOW) {
        let window = settings.number(WINDOW, "window");
        let _ = writeln!(text, "    .AddConcurrencyLimiter(permitLimit: {window})");
        settings.note(WINDOW, "window", "an op that finds no place is refused by Polly, and its place lasts over its waits; here attempts wait for places");
    }
    if let Some(most) = timeout(settings, "max-time") {
        let _ = writeln!(text, "    .AddTimeout({})", span(most));
        settings.fixed(
            COMMON,
            "over-time",
            &["shorten"],
            "Polly ends the op at its timeout, whatever it is doing",
        );
    }
    let handled = handled(settings);
    retry(settings, &handled, &mut text);
    hedging(settings, &handled, &mut text);
    breaker(settings, &handled, &mut text);
    if let Some(most) = timeout(settings, "attempt-timeout") {
        let _ = writeln!(text, "    .AddTimeout({})", span(most));
    }
    text + "    .Build();\n"
}

fn timeout(settings: &mut Described, key: &str) -> Option<Duration> {
    let most = settings.limit(key)?;
    if most < MIN_TIMEOUT {
        settings.note(COMMON, key, "a timeout of Polly is at least 10 ms");
    }
    Some(most.max(MIN_TIMEOUT))
}

fn retry(settings: &mut Described, handled: &str, text: &mut String) {
    let retries = settings.count(COMMON, "max-attempts").map_or_else(
        || "int.MaxValue".to_owned(),
        |most| (most - 1).min(i32::MAX.unsigned_abs()).to_string(),
    );
    let advice = advice(settings);
    if retries == "0" {
        settings.settle(BACKOFF, "");
        return;
    }
    let base = settings.duration(BACKOFF, "base").unwrap_or_default();
    let cap = settings.cap();
    let (growth, jitter) = growth(settings, base);
    let _ = writeln!(
        text,
        "    .AddRetry(new HttpRetryStrategyOptions\n    {{\n        MaxRetryAttempts = {retries},"
    );
    let _ = writeln!(text, "        BackoffType = DelayBackoffType.{growth},\n        UseJitter = {jitter},");
    let _ = writeln!(text, "        Delay = {},", span(base));
    if let Some(cap) = cap {
        let _ = writeln!(text, "        MaxDelay = {},", span(cap));
        if jitter {
            settings.fixed(BACKOFF, "cap-applies", &["after-spread"], "Polly cuts the wait after its jitter");
        }
    }
    let _ = writeln!(text, "        ShouldRetryAfterHeader = {advice},");
    let _ = writeln!(text, "        ShouldHandle = args => ValueTask.FromResult({handled}),\n    }})");
}

fn hedging(settings: &mut Described, handled: &str, text: &mut String) {
    if !settings.has(HEDGING) {
        return;
    }
    let typed = settings.count(HEDGING, "copies").unwrap_or_default();
    let copies = typed.min(settings.most_attempts() - 1);
    if copies == 0 {
        return;
    }
    if settings.retries() {
        settings.besides("Polly hedges each of its tries: its limit of retries is none of attempts");
    }
    let delay = settings.duration(HEDGING, "delay").unwrap_or_default();
    settings.fixed(HEDGING, "after-failure", &["next"], "Polly sends the next copy at once when one fails");
    let _ = writeln!(
        text,
        "    .AddHedging(new HttpHedgingStrategyOptions\n    {{\n        MaxHedgedAttempts = {copies},"
    );
    let _ = writeln!(text, "        Delay = {},", span(delay));
    let _ = writeln!(text, "        ShouldHandle = args => ValueTask.FromResult({handled}),\n    }})");
}

/// Returns the type of backoff in Polly, and whether the backoff has jitter.
fn growth(settings: &mut Described, base: Duration) -> (&'static str, bool) {
    let growth = settings.read(BACKOFF, "growth");
    let spread = settings.read(BACKOFF, "spread");
    let quarter = spread == "around|0.25";
    if base.is_zero() {
        settings.settle(BACKOFF, "factor");
        return ("Constant", false);
    }
    let kind = match growth.as_str() {
        "constant" => "Constant",
        "linear" => "Linear",
        "polly" => return ("Exponential", true),
        other => {
            if other != "exponential" {
                settings.note(BACKOFF, "growth", "waits of Polly are constant, linear or doubled");
            }
            settings.fixed(BACKOFF, "factor", &["2"], "Polly doubles its waits");
            if spread != "none" {
                settings.note(
                    BACKOFF,
                    "spread",
                    "doubled waits of Polly have decorrelated jitter (`growth=polly`) or none; here none",
                );
            }
            return ("Exponential", false);
        }
    };
    settings.settle(BACKOFF, "factor");
    if spread != "none" && !quarter {
        settings.note(
            BACKOFF,
            "spread",
            "jitter of Polly is a quarter around the wait (`around|0.25`), or none; here none",
        );
    }
    (kind, quarter)
}

fn advice(settings: &mut Described) -> bool {
    if settings.read(COMMON, "retry-after") == "ignore" {
        settings.settle(COMMON, "advice");
        return false;
    }
    settings.fixed(COMMON, "retry-after", &["exact"], "Retry-After replaces the wait");
    settings.fixed(
        COMMON,
        "advice",
        &["retry-after.whole.date"],
        "Polly reads Retry-After as whole seconds or a date, nothing else",
    );
    settings.fixed(
        COMMON,
        "advice-limit",
        &["none"],
        "any advice is followed, however long, unless a timeout ends the op",
    );
    let past = "a moment that has passed leads to the back-off";
    settings.fixed(COMMON, "advice-past", &["back-off"], past);
    settings.settle(COMMON, "advice-beyond");
    true
}

fn handled(settings: &mut Described) -> String {
    let retried = Retried::read(&settings.read(COMMON, "retry-on"), &settings.read(COMMON, "throttle-on"));
    let mut tests = Vec::new();
    let connections = ["refused", "closed", "unreadable"].map(|kind| retried.lacks_answer(kind));
    if connections.contains(&true) {
        tests.push("args.Outcome.Exception is HttpRequestException".to_owned());
        if connections.contains(&false) {
            settings.note(COMMON, "retry-on", "HttpRequestException means connections that were refused, closed or not to be understood alike");
        }
    }
    if retried.lacks_answer("timeout") {
        tests.push("args.Outcome.Exception is TimeoutRejectedException".to_owned());
    }
    let runs: Vec<String> = retried
        .runs()
        .into_iter()
        .map(|(from, to)| if from == to { from.to_string() } else { format!("(>= {from} and <= {to})") })
        .collect();
    if !runs.is_empty() {
        tests.push(format!(
            "args.Outcome.Result is {{ }} response && (int)response.StatusCode is {}",
            runs.join(" or ")
        ));
    }
    if !retried.reasons.is_empty() || !retried.grpc.is_empty() {
        settings.note(
            COMMON,
            "retry-on",
            "reasons in answers and statuses of gRPC are left to a predicate of your own",
        );
    }
    if retried.conditions().next().is_some() {
        settings.note(
            COMMON,
            "retry-on",
            "conditions on methods and advice are left to a predicate of your own",
        );
    }
    if tests.is_empty() {
        "false".to_owned()
    } else {
        format!("\n            {}", tests.join("\n            || "))
    }
}

fn breaker(settings: &mut Described, handled: &str, text: &mut String) {
    if !settings.has(BREAKER) {
        return;
    }
    let (ratio, least) = (settings.read(BREAKER, "ratio"), settings.count(BREAKER, "least").unwrap_or(1));
    let window = settings.duration(BREAKER, "window").unwrap_or_default();
    let open = settings.duration(BREAKER, "open").unwrap_or_default();
    if least < 2 {
        settings.note(BREAKER, "least", "MinimumThroughput of Polly is at least 2");
    }
    if open < MIN_SLICE {
        settings.note(BREAKER, "open", "BreakDuration of Polly is at least 0.5 s");
    }
    settings.fixed(BREAKER, "calls", &["0"], "the breaker of Polly counts by time");
    settings.fixed(BREAKER, "trials", &["1"], "one trial decides in Polly");
    settings.fixed(
        BREAKER,
        "when-open",
        &["give-up"],
        "an open breaker of Polly ends the attempt; a retry only if BrokenCircuitException is handled",
    );
    let _ = write!(
        text,
        "    .AddCircuitBreaker(new CircuitBreakerStrategyOptions<HttpResponseMessage>\n    {{\n        FailureRatio = {ratio},\n        \
         MinimumThroughput = {},\n        SamplingDuration = {},\n        BreakDuration = {},\n        \
         ShouldHandle = args => ValueTask.FromResult({handled}),\n    }})\n",
        least.max(2),
        span(window),
        span(open.max(MIN_SLICE)),
    );
}

fn span(duration: Duration) -> String {
    format!("TimeSpan.FromSeconds({})", seconds(duration))
}

#[cfg(test)]
mod tests {
    use crate::testing::{left_out, written};

    /// Whether brackets are balanced. Nothing else is checked, because there is no C# compiler.
    fn is_closed(text: &str) -> bool {
        let mut open = Vec::new();
        text.chars().all(|c| match c {
            '(' | '{' | '[' => {
                open.push(c);
                true
            }
            ')' => open.pop() == Some('('),
            '}' => open.pop() == Some('{'),
            ']' => open.pop() == Some('['),
            _ => true,
        }) && open.is_empty()
    }

    #[test]
    fn copies_are_attempts_and_are_limited_with_them() {
        let two = written("none:max-attempts=2+hedging:copies=3", "polly");
        assert!(two.contains("MaxHedgedAttempts = 1,"), "{two}");
        assert!(!written("none:max-attempts=1+hedging:copies=3", "polly").contains("AddHedging"));
        let both = left_out("immediate:max-attempts=2+hedging:copies=3", "polly");
        assert!(both.contains("hedges each of its tries"), "{both}");
    }

    #[test]
    fn hedging_is_a_strategy_of_the_pipeline() {
        let text = written("preset:dotnet-hedging,delay=1500ms", "polly");
        assert!(text.contains("AddHedging(new HttpHedgingStrategyOptions\n"), "{text}");
        assert!(
            text.contains("MaxHedgedAttempts = 1,\n        Delay = TimeSpan.FromSeconds(1.5),"),
            "{text}"
        );
        assert!(is_closed(&text) && !text.contains("AddRetry"), "{text}");
        assert!(!left_out("preset:dotnet-hedging", "polly").contains("hedging"));
        let waits = left_out("none+hedging:after-failure=wait", "polly");
        assert!(waits.contains("`after-failure=wait`: Polly sends the next copy at once"), "{waits}");
    }

    #[test]
    fn the_preset_is_a_pipeline() {
        let text = written("preset:dotnet-standard", "polly");
        insta::assert_snapshot!(text, @r#"
        using System;
        using System.Net.Http;
        using System.Threading.Tasks;
        using Microsoft.Extensions.Http.Resilience;
        using Polly;
        using Polly.CircuitBreaker;
        using Polly.Retry;
        using Polly.Timeout;

        var pipeline = new ResiliencePipelineBuilder<HttpResponseMessage>()
            .AddConcurrencyLimiter(permitLimit: 1000)
            .AddTimeout(TimeSpan.FromSeconds(30))
            .AddRetry(new HttpRetryStrategyOptions
            {
                MaxRetryAttempts = 3,
                BackoffType = DelayBackoffType.Exponential,
                UseJitter = true,
                Delay = TimeSpan.FromSeconds(2),
                ShouldRetryAfterHeader = true,
                ShouldHandle = args => ValueTask.FromResult(
                    args.Outcome.Exception is HttpRequestException
                    || args.Outcome.Exception is TimeoutRejectedException
                    || args.Outcome.Result is { } response && (int)response.StatusCode is 408 or 429 or (>= 500 and <= 599)),
            })
            .AddCircuitBreaker(new CircuitBreakerStrategyOptions<HttpResponseMessage>
            {
                FailureRatio = 0.1,
                MinimumThroughput = 100,
                SamplingDuration = TimeSpan.FromSeconds(30),
                BreakDuration = TimeSpan.FromSeconds(5),
                ShouldHandle = args => ValueTask.FromResult(
                    args.Outcome.Exception is HttpRequestException
                    || args.Outcome.Exception is TimeoutRejectedException
                    || args.Outcome.Result is { } response && (int)response.StatusCode is 408 or 429 or (>= 500 and <= 599)),
            })
            .AddTimeout(TimeSpan.FromSeconds(10))
            .Build();
        "#);
        assert!(is_closed(&text));
        assert!(is_closed(&written("preset:polly,growth=linear,spread=around|0.25,cap=9s", "polly")));
    }

    #[test]
    fn no_value_is_written_that_polly_refuses() {
        let strategy = "preset:polly-breaker,attempt-timeout=1ms,open=10ms,least=1";
        let text = written(strategy, "polly");
        for line in [
            "AddTimeout(TimeSpan.FromSeconds(0.01))",
            "BreakDuration = TimeSpan.FromSeconds(0.5)",
            "MinimumThroughput = 2,",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        insta::assert_snapshot!(left_out(strategy, "polly"), @r#"
        `least=1`: MinimumThroughput of Polly is at least 2
        `open=10ms`: BreakDuration of Polly is at least 0.5 s
        `attempt-timeout=1ms`: a timeout of Polly is at least 10 ms
        "#);
    }

    #[test]
    fn settings_that_polly_lacks_are_listed_in_order() {
        insta::assert_snapshot!(left_out("preset:polly,growth=exponential,factor=3,spread=full+aws-quota", "polly"), @r#"
        `factor=3`: Polly doubles its waits
        `spread=full`: doubled waits of Polly have decorrelated jitter (`growth=polly`) or none; here none
        `aws-quota:capacity=500,retry-cost=14,throttled-cost=5,timeout-cost=14,long-poll=false`: polly has nothing like it
        "#);
    }
}
