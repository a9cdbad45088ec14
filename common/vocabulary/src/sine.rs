//! Sine function with the same result on every machine.

use std::f64::consts::TAU;

/// Returns the sine of an angle, from −1 to 1. The angle is `parts` / `turn` of a full circle.
pub fn sine_of_turn(parts: u64, turn: u64) -> f64 {
    libm::sin(TAU * (parts % turn.max(1)) as f64 / turn.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_rises_falls_and_comes_back() {
        let near = |sine: f64, expected: f64| (sine - expected).abs() < 1e-12;
        let quarters = [0, 1, 2, 3, 4, 5].map(|quarter| sine_of_turn(quarter, 4));
        let expected = [0.0, 1.0, 0.0, -1.0, 0.0, 1.0];
        assert!(quarters.iter().zip(expected).all(|(sine, expected)| near(*sine, expected)), "{quarters:?}");
    }
}
