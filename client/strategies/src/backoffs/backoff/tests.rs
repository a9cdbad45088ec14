//! Published vectors of production clients, each with its `backoff` text.

use std::time::Duration;

use crate::testing::{Always, policy, rejected};
use crate::{FailedOp, Failure, Instant, Outcome, Retry, RetryState, Status, StrategySpec};

/// Returns the delays of one op in milliseconds when every draw is `u`; -1 means that the op is given up.
fn waits<const N: usize>(text: &str, u: f64) -> [f64; N] {
    let text = format!("backoff:{text}");
    let mut policy = policy(&text);
    let mut state = RetryState::default();
    let mut k = 0;
    [(); N].map(|()| {
        k += 1;
        let failed = rejected(k);
        let retry = policy.on_failure(Instant::ORIGIN, &failed, &mut state, &mut Always(u));
        policy.after_failure(&failed);
        match retry {
            Retry::After(delay) => delay.as_nanos() as f64 / 1e6,
            Retry::GiveUp | Retry::GiveUpAfter(_) => -1.0,
        }
    })
}

/// Largest draw, just below 1.
const HIGHEST: f64 = 1.0 - f64::EPSILON;

#[track_caller]
fn close<const N: usize>(found: [f64; N], wanted: [f64; N]) {
    let is_close = found.iter().zip(&wanted).all(|(found, wanted)| (found - wanted).abs() < 0.0015);
    assert!(is_close, "found {found:?}\nwanted {wanted:?}");
}

fn refusal(text: &str) -> String {
    format!("backoff:{text}").parse::<StrategySpec>().unwrap_err().to_string()
}

#[test]
fn aws() {
    // smithy-rs, `client/retries/strategy/standard.rs`: draws of 1.
    close(waits("base=1s,cap=20s,spread=full", HIGHEST), [1e3, 2e3, 4e3, 8e3, 16e3, 20e3, 20e3]);
    close(waits("base=1s,cap=3s,spread=full", HIGHEST), [1e3, 2e3, 3e3, 3e3]);
    let aws_2026 = "base=50ms,throttled-base=1s,cap=20s,spread=full";
    close(waits(aws_2026, HIGHEST), [1e3, 2e3, 4e3]);
    let policy = policy(&format!("backoff:{aws_2026}"));
    for (k, wanted) in [(1, 50), (2, 100), (3, 200)] {
        let outcome = Outcome::plain(Status::Failed(Failure::Server));
        let failed = FailedOp { outcome, ..rejected(k) };
        let retry =
            policy.on_failure(Instant::ORIGIN, &failed, &mut RetryState::default(), &mut Always(HIGHEST));
        assert_eq!(retry, Retry::After(Duration::from_millis(wanted)));
    }
    close(waits("base=25ms,cap=20s,spread=full", HIGHEST), [25.0, 50.0, 100.0]);
}

#[test]
fn urllib3() {
    // `test/test_retry.py`.
    let text = "base=200ms,cap=120s,first=0";
    close(waits(text, 0.5), [0.0, 400.0, 800.0, 1600.0]);
    close(waits("base=200ms,cap=1s,first=0", 0.5), [0.0, 400.0, 800.0, 1000.0]);
    let jitter = "base=200ms,cap=1s,first=0,spread=add|400ms,cap-applies=after-spread";
    close(waits(jitter, 0.0), [0.0, 400.0, 800.0, 1000.0]);
    close(waits(jitter, HIGHEST), [0.0, 800.0, 1000.0, 1000.0]);
    close(waits("base=0,first=0", 0.5), [0.0; 3]);
}

#[test]
fn openai() {
    // `tests/test_client.py`.
    let text = "base=500ms,cap=8s,spread=below|0.25";
    close(waits(text, 0.0), [500.0, 1e3, 2e3, 4e3, 8e3, 8e3]);
    close(waits(text, HIGHEST), [375.0, 750.0, 1500.0, 3e3, 6e3, 6e3]);
}

#[test]
fn grpc() {
    // grpc/proposal `A6-client-retries.md`: jitter can exceed the cap by a fifth.
    let text = "base=100ms,cap=1s,spread=around|0.2";
    close(waits(text, 0.0), [80.0, 160.0, 320.0, 640.0, 800.0]);
    close(waits(text, HIGHEST), [120.0, 240.0, 480.0, 960.0, 1200.0]);
}

#[test]
fn polly() {
    // App-vNext/Polly `src/Polly.Core/Retry/RetryHelper.cs` and its tests.
    let constant = |u| waits::<1>("base=1s,growth=constant,spread=around|0.25", u)[0];
    for (u, wanted) in [(0.0, 750.0), (0.4, 950.0), (0.6, 1050.0), (HIGHEST, 1250.0)] {
        close([constant(u)], [wanted]);
    }
    let linear = "base=1s,growth=linear,spread=around|0.25";
    for (u, wanted) in [(0.0, 2250.0), (0.4, 2850.0), (0.6, 3150.0), (HIGHEST, 3750.0), (0.5, 3000.0)] {
        close([waits::<3>(linear, u)[2]], [wanted]);
    }
    let decorrelated = "base=2s,cap=none,growth=polly";
    close(waits(decorrelated, 0.0), [0.0, 2754.365, 2920.135, 5731.7, 11435.614]);
    close(waits(decorrelated, 0.25), [1293.847, 2027.14, 3440.877, 6809.02, 13596.74]);
    close(waits(decorrelated, 0.5), [1794.81, 2186.007, 4071.496, 8091.959, 16167.263]);
    close(waits(decorrelated, 0.75), [2256.72, 2500.264, 4828.001, 9618.885, 19224.528]);
    close(waits("base=2s,cap=3s,growth=polly", 0.0), [0.0, 2754.365, 2920.135, 3000.0]);
}

#[test]
fn envoy() {
    // `source/common/common/backoff_strategy.cc`, `backoff_strategy_test.cc`: whole milliseconds below 25, 50, 100,
    // 200, 250.
    let text = "base=25ms,cap=10x,spread=full,grain=cut-ms";
    close(waits(text, HIGHEST), [24.0, 49.0, 99.0, 199.0, 249.0, 249.0]);
    close(waits(text, 0.5), [12.0, 25.0, 50.0, 100.0, 125.0, 125.0]);
    // 999 modulo 500 and 1000.
    close(waits("base=500ms,cap=30s,spread=full,grain=cut-ms", 0.9991), [499.0, 999.0]);
}

#[test]
fn google() {
    // googleapis/gax-go `v2/call_option.go`; google-cloud-rust `src/gax/src/exponential_backoff.rs`.
    let go = "base=1s,cap=20s,spread=from|1ns";
    close(waits(go, HIGHEST), [1e3, 2e3, 4e3, 8e3, 16e3, 20e3, 20e3]);
    assert_eq!(crate::testing::delay(&format!("backoff:{go}"), 1, 0.0), Duration::from_nanos(1));
    close(waits("base=1s,cap=4s,spread=full", HIGHEST), [1e3, 2e3, 4e3, 4e3]);
    close([waits::<7>("base=1s,cap=10s,spread=full", 0.5)[6]], [5e3]);
    // google-api-python-client: u · 2^k.
    close(waits("base=2s,cap=none,spread=full", HIGHEST), [2e3, 4e3, 8e3, 16e3]);
    close(waits("base=1s,start=2,cap=none,spread=full", HIGHEST), [2e3, 4e3, 8e3, 16e3]);
    // A generated client of google-api-core: base 0.1 s, factor 1.3.
    close(waits("base=100ms,factor=1.3,cap=60s,spread=full", HIGHEST), [100.0, 130.0, 169.0, 219.7]);
}

#[test]
fn azure() {
    // azure-sdk-for-go `sdk/azcore/runtime/policy_retry.go`.
    let go = "base=800ms,growth=exponential-less-one,cap=60s,spread=between|0.8|1.3,cap-applies=after-spread";
    close(waits(go, 0.0), [640.0, 1920.0, 4480.0, 9600.0, 19840.0, 40320.0, 60e3]);
    close(waits(go, 0.5), [840.0, 2520.0, 5880.0, 12600.0, 26040.0, 52920.0, 60e3]);
    // azure-core of Python, `pipeline/policies/_retry.py`.
    close(waits("base=800ms,cap=120s,first=0", 0.5), [0.0, 1600.0, 3200.0, 6400.0]);
    // azure-sdk-for-js `core-rest-pipeline`: half of the delay, plus whole milliseconds up to the other half.
    let js = "base=1s,cap=64s,spread=equal,grid=1ms";
    close(waits(js, 0.0), [500.0, 1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 32e3]);
    close(waits(js, HIGHEST), [1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 64e3, 64e3]);
}

#[test]
fn stripe() {
    // stripe-python `stripe/_http_client.py`.
    let python = "base=500ms,cap=5s,spread=equal,min=500ms";
    close(waits(python, 0.0), [500.0, 500.0, 1e3, 2e3, 2.5e3]);
    close(waits(python, HIGHEST), [500.0, 1e3, 2e3, 4e3, 5e3]);
    // stripe-node `src/RequestSender.ts`: grows one step later.
    let node = "base=250ms,cap=5s,spread=equal,min=500ms,grain=timer";
    close(waits(node, 0.0), [500.0, 500.0, 500.0, 1e3, 2e3, 2.5e3, 2.5e3]);
    close(waits(node, 0.9999), [500.0, 500.0, 999.0, 1999.0, 3999.0, 4999.0, 4999.0]);
    // stripe-go `stripe.go`: 0.5 + 0.5 (k - 1)^2.
    let go = "base=500ms,growth=square,start=0,offset=500ms,cap=5s,spread=below|0.25,min=500ms";
    close(waits(go, 0.0), [500.0, 1e3, 2.5e3, 5e3, 5e3]);
    close(waits(go, HIGHEST), [500.0, 750.0, 1875.0, 3750.0, 3750.0]);
}

#[test]
fn go_retryablehttp() {
    // `client_test.go`.
    let text = "base=1s,cap=5m";
    close(waits(text, 0.5), [1e3, 2e3, 4e3, 8e3]);
    let delay = |k| crate::testing::delay(&format!("backoff:{text}"), k, 0.5);
    assert_eq!([64, 129].map(delay), [Duration::from_mins(5); 2]);
    // `LinearJitterBackoff`: U(min, max) k.
    close(waits("base=1s,growth=linear,spread=between|1|30", 0.5), [15.5e3, 31e3, 46.5e3]);
}

#[test]
fn cenkalti() {
    // cenkalti/backoff `exponential.go`, `exponential_test.go`: the cap applies before the jitter.
    let text = "base=500ms,factor=1.5,cap=60s,spread=around|0.5";
    let grown = [500.0, 750.0, 1125.0, 1687.5, 2531.25, 3796.875, 5695.3125, 8542.96875];
    close(waits(text, 0.5), grown);
    close(waits::<14>("base=500ms,factor=1.5,cap=60s", 0.5).last_chunk().copied().unwrap(), [60e3]);
    let tested = "base=500ms,cap=5s,spread=around|0.1";
    close(waits(tested, 0.0), [450.0, 900.0, 1800.0, 3600.0, 4500.0, 4500.0]);
    close(waits(tested, HIGHEST), [550.0, 1100.0, 2200.0, 4400.0, 5500.0, 5500.0]);
    // OpenTelemetry Collector.
    close(waits("base=5s,factor=1.5,cap=30s", 0.5), [5e3, 7.5e3, 11.25e3, 16.875e3, 25.3125e3, 30e3]);
}

#[test]
fn resilience4j() {
    // `IntervalFunction.java`: every step is cut to whole milliseconds, so 2530.5 is cut before it grows.
    let text = "base=500ms,factor=1.5,growth=truncated,cap=none";
    close(waits(text, 0.5), [500.0, 750.0, 1125.0, 1687.0, 2530.0, 3795.0, 5692.0]);
    let randomized = format!("{text},spread=around|0.5,grain=cut-ms");
    close(waits(&randomized, HIGHEST), [749.0, 1124.0, 1687.0, 2530.0, 3794.0, 5692.0, 8537.0]);
    let capped = waits::<13>("base=100ms,growth=truncated,cap=100s", 0.5);
    close([capped[9], capped[10], capped[11], capped[12]], [51.2e3, 100e3, 100e3, 100e3]);
}

#[test]
fn vector() {
    // vectordotdev/vector `src/sinks/util/retries.rs`: whole milliseconds from 1 to the Fibonacci delay.
    let text = "base=1s,growth=fibonacci,cap=30s,spread=from|1ms,grid=1ms";
    close(waits(text, 0.0), [1.0; 3]);
    close(waits(text, HIGHEST), [1e3, 1e3, 2e3, 3e3, 5e3, 8e3, 13e3, 21e3, 30e3]);
}

#[test]
fn tower() {
    // tower-rs/tower `tower/src/retry/backoff.rs`: the whole seconds of the jitter are dropped.
    let text = "base=50ms,cap=none,spread=tower|0.99,cap-applies=after-spread";
    close(waits(text, 0.0), [50.0, 100.0, 200.0, 400.0, 800.0, 1600.0]);
    let longest = [99.5, 199.0, 398.0, 796.0, 1592.0, 2194.0, 5398.0, 11796.0, 24592.0, 50194.0];
    close(waits(text, HIGHEST), longest);
}

#[test]
fn backon_and_reqwest_retry() {
    // Xuanwo/backon `backon/src/backoff/{exponential,fibonacci}.rs`.
    let jitter = "base=1s,cap=60s,spread=above|1";
    close(waits(jitter, HIGHEST), [2e3, 4e3, 8e3, 16e3, 32e3, 64e3, 120e3]);
    close(waits("base=1s,growth=fibonacci,cap=60s,spread=add|1s", HIGHEST), [2e3, 2e3, 3e3, 4e3, 6e3]);
    // TrueLayer/retry-policies: bounded jitter starts at half of the shortest delay.
    let bounded = "base=100ms,cap=5s,spread=from|50ms";
    close(waits(bounded, 0.0), [50.0; 4]);
    close(waits(bounded, HIGHEST), [100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 5000.0]);
}

#[test]
fn sidekiq_and_celery() {
    // sidekiq `lib/sidekiq/job_retry.rb`: count^4 + 15 + rand(10 (count + 1)), count from 0.
    let sidekiq = "cap=none,formula=((k-1)^4 + 15 + floor(u*10*k))";
    close(waits(sidekiq, 0.0), [15e3, 16e3, 31e3, 96e3, 271e3, 640e3]);
    close(waits(sidekiq, HIGHEST), [24e3, 35e3, 60e3, 135e3, 320e3, 699e3]);
    close(waits("cap=none,base=1s,growth=quartic,start=0,offset=15s", 0.5), [15e3, 16e3, 31e3, 96e3, 271e3]);
    // celery `celery/utils/time.py`: randrange(min(max, f 2^k) + 1), k from 0.
    let celery = "base=1s,cap=10m,spread=full,grid=1s";
    close(waits(celery, 0.0), [0.0; 3]);
    close(waits(celery, HIGHEST), [1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 64e3, 128e3, 256e3, 512e3, 600e3]);
    close(waits(celery, 0.4), [0.0, 1e3, 2e3, 3e3, 6e3]);
}

#[test]
fn java_script() {
    // undici `lib/handler/retry-handler.js`, ky `source/utils/normalize.ts`.
    close(waits("base=500ms,cap=30s,grain=timer", 0.5), [500.0, 1e3, 2e3, 4e3, 8e3, 16e3, 30e3]);
    close(waits("base=300ms,cap=none,grain=timer", 0.5), [300.0, 600.0, 1200.0]);
    // got `source/core/calculate-retry-delay.ts`.
    let got = "base=1s,cap=none,spread=add|100ms,grain=timer";
    close(waits(got, 0.0), [1e3, 2e3]);
    close(waits(got, 0.9999), [1099.0, 2099.0]);
    // axios-retry `src/index.ts`: no delay, and `exponentialDelay`.
    close(waits("base=0,grain=timer", 0.5), [1.0; 3]);
    let axios = "base=200ms,cap=none,spread=above|0.2,grain=timer";
    close(waits(axios, 0.0), [200.0, 400.0, 800.0]);
    close(waits(axios, 0.9999), [239.0, 479.0, 959.0]);
    // node-retry `lib/retry.js`.
    let node_retry = "base=1s,cap=none,spread=above|1,cap-applies=after-spread,grain=round-ms";
    close(waits(node_retry, 0.0), [1e3, 2e3, 4e3, 8e3]);
    close(waits(node_retry, HIGHEST), [2e3, 4e3, 8e3, 16e3]);
}

#[test]
fn octokit() {
    // octokit/plugin-retry.js `src/error-request.ts`: k² seconds, where k continues from the op that failed last.
    let text = "backoff:base=1s,cap=none,growth=square,counter=per-client";
    let mut strategy =
        format!("{text},max-attempts=4").parse::<StrategySpec>().unwrap().build(1, None).unwrap();
    let mut fail = |times: u32| {
        (1..=times)
            .map(|k| {
                let mut state = RetryState::default();
                match strategy.on_failure(Instant::ORIGIN, &rejected(k), k, &mut state) {
                    Retry::After(delay) => delay.as_secs(),
                    Retry::GiveUp | Retry::GiveUpAfter(_) => 0,
                }
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(fail(4), [1, 4, 9, 0]);
    assert_eq!(fail(4), [25, 4, 9, 0]);
    assert_eq!(fail(1), [25]);
    assert_eq!(fail(2), [4, 4]);
    assert_eq!(fail(0), [0; 0]);
    assert_eq!(fail(1), [9]);
}

#[test]
fn tenacity_and_backoff_of_python() {
    // jd/tenacity `tenacity/wait.py`.
    close(waits("base=1s,cap=60s,spread=from|1s", HIGHEST), [1e3, 2e3, 4e3]);
    let jitter = "base=1s,cap=10s,spread=add|2s,cap-applies=after-spread";
    close(waits(jitter, 0.0), [1e3, 2e3, 4e3, 8e3, 10e3, 10e3]);
    close(waits(jitter, HIGHEST), [3e3, 4e3, 6e3, 10e3, 10e3, 10e3]);
    close(waits("base=2s,growth=linear,start=0,offset=1s", 0.5), [1e3, 3e3, 5e3, 7e3, 9e3]);
    close(waits("growth=constant,base=3s,spread=from|1s", 0.5), [2e3, 2e3, 2e3]);
    // litl/backoff `backoff/_wait_gen.py`.
    close(waits("base=1s,growth=fibonacci,cap=none", 0.5), [1e3, 1e3, 2e3, 3e3, 5e3, 8e3, 13e3]);
}

#[test]
fn a_list_repeats_its_last_delay_or_ends() {
    close(waits("delays=1s|4s|9s", 0.5), [1e3, 4e3, 9e3, 9e3]);
    close(waits("delays=1s|4s|9s,after-last=give-up,cap=5s", 0.5), [1e3, 4e3, 5e3, -1.0]);
    close(waits("delays=1s|4s,spread=full", 0.5), [500.0, 2e3, 2e3]);
}

#[test]
fn a_lower_bound_comes_before_chance_or_after_it() {
    close(waits("base=100ms,min=200ms,spread=full", 0.5), [200.0, 200.0, 200.0, 400.0]);
    // Jitter can leave this bound: 200, 200, 200 and 400 ms are halved.
    let before = "base=100ms,min=200ms,min-applies=before-spread,spread=full";
    close(waits(before, 0.5), [100.0, 100.0, 200.0, 400.0]);
}

#[test]
fn a_formula_reads_what_it_may() {
    close(waits("formula=(min(cap, base*2^(k-1))+u)", 0.5), [550.0, 600.0, 700.0]);
    close(waits("base=1s,formula=(max(base; prev*3*u))", 0.5), [1e3, 1.5e3, 2.25e3]);
    close(waits("cap=5s,formula=k*k", 0.5), [1e3, 4e3, 5e3]);
    close(waits("base=1s,formula=(sqrt(k)+cbrt(8)+exp(0)+ln(1)+tanh(0)+round(0.5)+ceil(0.1))", 0.5), [6e3]);
}

#[test]
fn a_zero_wait_is_kept_after_transport_failures_not_sheds() {
    let after = |text: &str, status| {
        let mut strategy = text.parse::<StrategySpec>().unwrap().build(1, None).unwrap();
        let failed = FailedOp { outcome: Outcome::plain(status), ..rejected(1) };
        strategy.on_failure(Instant::ORIGIN, &failed, 1, &mut RetryState::default())
    };
    let (broken, floor) = (Status::Failed(Failure::Transport), Retry::After(Duration::from_millis(50)));
    assert_eq!(after("backoff:base=0", broken), Retry::After(Duration::ZERO));
    assert_eq!(after("backoff:first=0", broken), Retry::After(Duration::ZERO));
    assert_eq!(after("backoff:base=0", Status::Shed), floor);
    assert_eq!(after("backoff:base=0", Status::Deferred), floor);
    assert_eq!(after("immediate", broken), floor);
    assert!(!policy("backoff:base=0").backs_off() && policy("backoff:base=1ns").backs_off());
}

#[test]
fn contradictory_shapes_are_refused() {
    for (text, words) in [
        ("delays=1s,factor=3", "`delays` already sets every wait: leave out `base`, `factor`"),
        ("delays=1s,first=0", "`delays` already sets every wait"),
        ("formula=k,spread=full", "`formula` already sets every wait"),
        ("formula=k,delays=1s", "`formula` already sets every wait"),
        ("growth=polly,spread=full", "`growth=polly` is already random"),
        ("growth=linear,factor=3", "`growth=linear` has no factor"),
        ("delays=1s|", "is not accepted"),
        ("delays=2days", "`2days` is longer than a day; `delays` takes durations"),
        ("spread=arond|0.5", "`arond` is not a kind of jitter (did you mean `around`?)"),
        ("spread=around|1.5", "`1.5` is not a number from 0 to 1"),
        ("spread=around", "`around` is given 0 values"),
        ("spread=between|2|1", "the lower end `2` is above the upper end `1`"),
        ("cap=0.5x", "a multiple of `base` must be"),
        ("throttled-factor=0", "the value is not a number from 1 to 1000"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
}

#[test]
fn formulas_that_make_no_sense_are_refused() {
    for (text, words) in [
        ("formula=bsae*2", "`bsae` is neither a variable nor a function (did you mean `base`?)"),
        ("formula=mim(k;u)", "`mim` is neither a variable nor a function (did you mean `min`?)"),
        ("formula=(min(k, u)", "`)` is missing at the end"),
        ("formula=(1 2)", "`)` is missing before `2)`"),
        ("formula=min(k)", "`min` has too few arguments"),
        ("formula=pow(k;2;3)", "`pow` has too many arguments"),
        ("formula=sqrt", "`sqrt` is a function; write its arguments in parentheses"),
        ("formula=k(2)", "`k` is not a function"),
        ("formula=2*", "the formula ends where a number, a name or `(` must follow"),
        ("formula=1-k", "is negative for k = 2"),
        ("formula=1/(k-3)", "is negative for k = 1"),
        ("formula=max(0;1/(k-3))", "is infinite for k = 3"),
        ("formula=ln(u)", "is infinite for k = 1 and u = 0"),
        ("formula=sqrt(5-k)", "is not a number for k = 6"),
        ("formula=exp(k*k)", "is infinite for k = 27"),
        ("formula=prev-u", "is negative for k = 1 and u = 0.5"),
        ("throttled-base=1s,formula=(0.5-base)", "is negative for k = 1"),
        ("formula=1e16", "`1e16` is not a number, or it is above 1e15"),
        (&format!("formula={}k{}", "(".repeat(40), ")".repeat(40)), "the formula is nested too deeply"),
        (&format!("formula={}k", "2^".repeat(40)), "the formula is nested too deeply"),
        (&format!("formula={}", "k*".repeat(300)), "the formula is longer than 500 bytes"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
}

#[test]
fn what_is_hardly_meant_is_doubted() {
    for (text, words) in [
        ("base=1m,cap=1s", "`cap=1s` is below `base=1m`"),
        ("min=1m,cap=1s", "`min` is above `cap`"),
        ("grid=1s", "`grid` has no effect without `spread`"),
        ("after-last=give-up", "`after-last` has no effect without `delays`"),
    ] {
        let doubts = format!("backoff:{text}").parse::<StrategySpec>().unwrap().doubts();
        assert!(doubts.iter().any(|doubt| doubt.contains(words)), "{text}: {doubts:?}");
    }
    assert_eq!("backoff".parse::<StrategySpec>().unwrap().doubts(), [""; 0]);
}

#[test]
fn every_wait_stays_in_bounds_however_many_retries() {
    for text in [
        "cap=none,factor=1000",
        "cap=none,growth=exponential-less-one,factor=1000,cap-applies=after-spread,spread=above|1000",
        "cap=none,growth=fibonacci",
        "cap=none,growth=quartic,start=1000,offset=1day",
        "cap=none,growth=truncated,factor=1.001",
        "cap=none,growth=polly",
        "cap=none,growth=decorrelated",
        "cap=none,formula=k^9",
        "base=0,growth=truncated",
        "cap=none,spread=tower|1000,cap-applies=after-spread",
        "base=0,factor=1000,cap-applies=after-spread,spread=full",
    ] {
        for k in [1, 2, 63, 64, 65, 66, 1000, u32::MAX] {
            let wait = crate::testing::delay(&format!("backoff:{text}"), k, HIGHEST);
            assert!(wait <= Duration::from_hours(24), "{text}, k = {k}: {wait:?}");
        }
    }
}
