//! Progress of a comparison of strategies in one plain line, for use without a terminal.

use crate::figures::{Progress, Remaining, advised};
use crate::{Lanes, text};

pub fn lanes_line(lanes: &Lanes, time_scale: f64) -> String {
    let remaining = Remaining::new(lanes, time_scale);
    let (done, runs) = (text::count(remaining.done as u64), text::count(remaining.runs as u64));
    let mut parts = vec![format!("{done} of {runs} runs")];
    parts.extend(remaining.eta_s.map(|eta_s| format!("eta {}", text::estimate(eta_s))));
    if !lanes.stage.is_empty() {
        parts.push(lanes.stage.clone());
    }
    let now = lanes.lanes.iter().find_map(|lane| Some((lane, lane.going_on()?)));
    if let Some((lane, frame)) = now {
        let ops = Progress::new(&frame.snapshot).ops_text();
        let attempts = text::count(frame.snapshot.attempts.total);
        parts.push(format!("now {}: {ops}, attempts {attempts}", lane.name));
        parts.extend(advised(&frame.snapshot));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::synthetic_lanes;

    #[test]
    fn the_line_tells_how_far_all_is_and_what_goes_on() {
        insta::assert_snapshot!(lanes_line(&synthetic_lanes::over_http(), 1.0));
        insta::assert_snapshot!(lanes_line(&synthetic_lanes::simulated(), 1.0));
        insta::assert_snapshot!(lanes_line(&Lanes::default(), 1.0));
    }
}
