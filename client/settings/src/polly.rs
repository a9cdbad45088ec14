//! Polly: C# code that builds a pipeline for `HttpClient`.
//!
//! Source: App-vNext/Polly `src/Polly.Core/Retry/RetryStrategyOptions.TResult.cs`, `RetryHelper.cs`,
//! `CircuitBreaker/CircuitBreakerStrategyOptions.TResult.cs`, `Timeout/TimeoutStrategyOptions.cs` (names, and refused values);
//! dotnet/extensions
//! `src/Libraries/Microsoft.Extensions.Http.Resilience/{Polly/HttpRetryStrategyOptions,Hedging/HttpHedgingStrategyOptions,Internal/RetryAfterHelper}.cs`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::described::{Described, Format, seconds};
use crate::retried::runs;

pub(crate) const FORMAT: Format = Format {
    name: "polly",
    what: "Polly, C#: pipeline with HttpRetryStrategyOptions or HttpHedgingStrategyOptions",
    used_by: &["polly", "dotnet"],
    nearest: "preset:polly+fixed-window",
    comment: Some("//"),
    write,
};

/// Minimum times that Polly accepts: `MIN_TIMEOUT` for a timeout, and `MIN_SLICE` for the break of a circuit breaker. Polly's maximum is
/// one day, which is also the maximum of strategy parameters.
const MIN_TIMEOUT: Duration = Duration::from_millis(10);
const MIN_SLICE: Duration = Duration::from_millis(500);

fn write(settings: &mut Described) -> String {
    let mut text = "using System;\nusing System.Net.Http;\nusing System.Threading.Tasks;\nusing Microsoft.Extensions.Http.Resilience;\nusing Polly;\nusing Polly.CircuitBreaker;\n\
                    using Polly.Retry;\nusing Polly.Timeout;\n\nvar pipeline = new ResiliencePipelineBuilder<HttpResponseMessage>()\n"
        .to_owned();
    if settings.has("fixed-window") {
        let window = settings.number("fixed-window.window");
        let _ = writeln!(text, "    .AddConcurrencyLimiter(permitLimit: {window})");
        settings.note("fixed-window.window", "Polly rejects ops above permitLimit, and an op keeps its permit during its backoff; here attempts wait for a free slot");
    }
    let of_op = timeout(settings, "max-time");
    if !of_op.is_empty() {
        settings.fixed(
            "over-time",
            "shorten",
            "Polly ends the op at its timeout, even during an attempt or a backoff",
        );
    }
    text += &of_op;
    let handled = handled(settings);
    text += &retry(settings, &handled);
    text += &hedging(settings, &handled).unwrap_or_default();
    text += &breaker(settings, &handled);
    text + &timeout(settings, "attempt-timeout") + "    .Build();\n"
}

fn timeout(settings: &mut Described, name: &str) -> String {
    let Some(most) = settings.limit(name) else { return String::new() };
    if most < MIN_TIMEOUT {
        settings.note(name, "a timeout of Polly must be at least 10 ms");
    }
    format!("    .AddTimeout({})\n", span(most.max(MIN_TIMEOUT)))
}

fn retry(settings: &mut Described, handled: &str) -> String {
    let retries = settings.count("max-attempts").map_or_else(
        || "int.MaxValue".to_owned(),
        |most| (most - 1).min(i32::MAX.unsigned_abs()).to_string(),
    );
    let advice = advice(settings);
    if retries == "0" {
        settings.settle("backoff.");
        return String::new();
    }
    let (base, cap) = (settings.duration("backoff.base"), settings.cap());
    let (growth, jitter) = growth(settings, base);
    if cap.is_some() && jitter {
        let why = "Polly applies MaxDelay after the jitter";
        settings.fixed("backoff.cap-applies", "after-spread", why);
    }
    let max_delay = cap.map(|cap| format!("        MaxDelay = {},\n", span(cap))).unwrap_or_default();
    format!(
        "    .AddRetry(new HttpRetryStrategyOptions\n    {{\n        MaxRetryAttempts = {retries},\n        \
         BackoffType = DelayBackoffType.{growth},\n        UseJitter = {jitter},\n        Delay = {},\n{max_delay}        \
         ShouldRetryAfterHeader = {advice},\n        ShouldHandle = args => ValueTask.FromResult({handled}),\n    }})\n",
        span(base)
    )
}

fn hedging(settings: &mut Described, handled: &str) -> Option<String> {
    if !settings.has("hedging") {
        return None;
    }
    let typed = settings.count("hedging.copies").unwrap_or_default();
    let copies = typed.min(settings.most_attempts() - 1);
    if copies == 0 {
        return None;
    }
    if settings.retries() {
        settings.besides(
            "Polly hedges the first try and each retry, so MaxRetryAttempts does not limit hedged attempts",
        );
    }
    let delay = settings.duration("hedging.delay");
    settings.fixed("hedging.after-failure", "next", "Polly sends the next copy at once when one fails");
    Some(format!(
        "    .AddHedging(new HttpHedgingStrategyOptions\n    {{\n        MaxHedgedAttempts = {copies},\n        \
         Delay = {},\n        ShouldHandle = args => ValueTask.FromResult({handled}),\n    }})\n",
        span(delay)
    ))
}

/// Returns the type of backoff in Polly, and whether the backoff has jitter.
fn growth(settings: &mut Described, base: Duration) -> (&'static str, bool) {
    let growth = settings.read("backoff.growth");
    let spread = settings.read("backoff.spread");
    let kind = match growth.as_str() {
        _ if base.is_zero() => {
            settings.settle("backoff.factor");
            return ("Constant", false);
        }
        "polly" => return ("Exponential", true),
        "constant" => "Constant",
        "linear" => "Linear",
        other => {
            if other != "exponential" {
                settings.note("backoff.growth", "the backoff of Polly is constant, linear or exponential");
            }
            settings.fixed("backoff.factor", "2", "Polly doubles its backoff after each retry");
            settings.fixed(
                "backoff.spread",
                "none",
                "exponential backoff of Polly has decorrelated jitter (`growth=polly`) or none; no jitter is written",
            );
            return ("Exponential", false);
        }
    };
    settings.settle("backoff.factor");
    let has_jitter = spread == "around|0.25";
    if !has_jitter {
        settings.fixed(
            "backoff.spread",
            "none",
            "constant or linear backoff of Polly has jitter of ±25 % (`around|0.25`) or none; no jitter is written",
        );
    }
    (kind, has_jitter)
}

fn advice(settings: &mut Described) -> bool {
    if settings.read("retry-after") == "ignore" {
        settings.settle("advice");
        return false;
    }
    settings.fixed("retry-after", "exact", "Polly replaces its backoff with Retry-After");
    settings.fixed(
        "advice",
        "retry-after.whole.date",
        "Polly reads Retry-After as whole seconds or a date, nothing else",
    );
    settings.fixed(
        "advice-limit",
        "none",
        "Polly follows a Retry-After of any length, unless a timeout ends the op",
    );
    let past = "Polly uses its own backoff if the date in Retry-After has passed";
    settings.fixed("advice-past", "back-off", past);
    settings.settle("advice-beyond");
    true
}

fn handled(settings: &mut Described) -> String {
    let retried = settings.retried();
    let mut tests = Vec::new();
    let connections = ["refused", "closed", "unreadable"].map(|kind| retried.lacks_answer(kind));
    if connections.contains(&true) {
        tests.push("args.Outcome.Exception is HttpRequestException".to_owned());
        if connections.contains(&false) {
            settings.note("retry-on", "HttpRequestException covers refused connections, closed connections and invalid responses alike");
        }
    }
    if retried.lacks_answer("timeout") {
        tests.push("args.Outcome.Exception is TimeoutRejectedException".to_owned());
    }
    let runs = runs(retried.codes.keys().copied()).into_iter();
    let runs: Vec<String> = runs
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
            "retry-on",
            "Polly needs a predicate of your own to check error reasons in bodies and gRPC statuses",
        );
    }
    if retried.has_conditions() {
        settings.note("retry-on", "Polly needs a predicate of your own to check methods and advice");
    }
    if tests.is_empty() {
        return "false".to_owned();
    }
    format!("\n            {}", tests.join("\n            || "))
}

fn breaker(settings: &mut Described, handled: &str) -> String {
    if !settings.has("ratio-breaker") {
        return String::new();
    }
    let ratio = settings.read("ratio-breaker.ratio");
    let least = settings.count("ratio-breaker.least").unwrap_or(1);
    let window = settings.duration("ratio-breaker.window");
    let open = settings.duration("ratio-breaker.open");
    if least < 2 {
        settings.note("ratio-breaker.least", "MinimumThroughput of Polly must be at least 2");
    }
    if open < MIN_SLICE {
        settings.note("ratio-breaker.open", "BreakDuration of Polly must be at least 0.5 s");
    }
    settings.fixed(
        "ratio-breaker.calls",
        "0",
        "the breaker of Polly counts calls in a time window, not the last N calls",
    );
    settings.fixed("ratio-breaker.trials", "1", "the breaker of Polly closes or reopens after one trial");
    settings.fixed(
        "ratio-breaker.when-open",
        "give-up",
        "an open breaker of Polly fails the attempt, which is retried only if ShouldHandle includes BrokenCircuitException",
    );
    format!(
        "    .AddCircuitBreaker(new CircuitBreakerStrategyOptions<HttpResponseMessage>\n    {{\n        FailureRatio = {ratio},\n        \
         MinimumThroughput = {},\n        SamplingDuration = {},\n        BreakDuration = {},\n        \
         ShouldHandle = args => ValueTask.FromResult({handled}),\n    }})\n",
        least.max(2),
        span(window),
        span(open.max(MIN_SLICE)),
    )
}

fn span(duration: Duration) -> String {
    format!("TimeSpan.FromSeconds({})", seconds(duration))
}

#[cfg(test)]
mod tests {
    use crate::tests::{left_out, written};

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
        assert!(both.contains("hedges the first try and each retry"), "{both}");
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
        `least=1`: MinimumThroughput of Polly must be at least 2
        `open=10ms`: BreakDuration of Polly must be at least 0.5 s
        `attempt-timeout=1ms`: a timeout of Polly must be at least 10 ms
        "#);
    }

    #[test]
    fn settings_that_polly_lacks_are_listed_in_order() {
        insta::assert_snapshot!(left_out("preset:polly,growth=exponential,factor=3,spread=full+aws-quota", "polly"), @r#"
        `factor=3`: Polly doubles its backoff after each retry
        `spread=full`: exponential backoff of Polly has decorrelated jitter (`growth=polly`) or none; no jitter is written
        `aws-quota:capacity=500,retry-cost=14,throttled-cost=5,timeout-cost=14,long-poll=false`: polly has no equivalent of this part
        "#);
    }
}
