//! Finds out from a strategy whether the first attempt of an op may be sent.

use tailback::{Candidate, Classification, Instant, LaunchDecision, LimiterView, RetryState, StrategySpec};

fn main() -> Result<(), tailback::SpecError> {
    let spec: StrategySpec = "preset:openai+aimd".parse()?;
    let mut strategy = spec.build(42, None)?;
    let (now, mut state) = (Instant::ORIGIN, RetryState::default());
    let candidate = Candidate {
        seq: 0,
        op: 0,
        attempt: 1,
        arrived: now,
        last: None,
        last_classification: Classification::Done,
        copy: 0,
    };
    let view = LimiterView { in_flight: 0, ready: 1, sleeping: 0, candidate };
    assert!(matches!(strategy.admit(now, &view, &mut state), LaunchDecision::Send(..)));
    Ok(())
}
