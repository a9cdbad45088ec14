//! A compiled expression: instructions for a stack machine whose stack has a fixed size.

use std::time::Duration;

use vocabulary::nanos;

/// What an expression may read; times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inputs {
    /// The number of the retry, from 1.
    pub(crate) k: f64,
    /// A draw from [0, 1), the same wherever it stands.
    pub(crate) u: f64,
    /// `base`, or `throttled-base` where that counts.
    pub(crate) base: f64,
    /// `cap`.
    pub(crate) cap: f64,
    /// The delay before the retry before, 0 at the first.
    pub(crate) prev: f64,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction {
    /// Pushes a number.
    Push(f64),
    /// Pushes what is read from the inputs.
    Load(Variable),
    /// Replaces the topmost value.
    Unary(fn(f64) -> f64),
    /// Replaces the two topmost values.
    Binary(fn(f64, f64) -> f64),
}

/// What can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// See [`Inputs::k`].
    K,
    /// See [`Inputs::u`].
    U,
    /// See [`Inputs::base`].
    Base,
    /// See [`Inputs::cap`].
    Cap,
    /// See [`Inputs::prev`].
    Prev,
}

/// Values that an expression may hold at once; the parser refuses those that need more.
pub(crate) const STACK: usize = 16;

/// A compiled expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// As typed.
    pub(crate) text: String,
    instructions: Vec<Instruction>,
}

impl Program {
    /// The instructions leave one value, and never more than [`STACK`].
    pub(crate) fn new(text: &str, instructions: Vec<Instruction>) -> Self {
        Self { text: text.to_owned(), instructions }
    }

    /// Whether it needs a draw.
    pub(crate) fn draws(&self) -> bool {
        self.instructions.iter().any(|step| matches!(step, Instruction::Load(Variable::U)))
    }

    /// The delay that it gives: below zero is none, and what is no number is `cap`.
    pub(crate) fn delay(&self, inputs: &Inputs, cap: Duration) -> Duration {
        let seconds = self.value(inputs);
        if seconds.is_nan() { cap } else { nanos(seconds * 1e9).min(cap) }
    }

    /// What it comes to.
    pub(crate) fn value(&self, inputs: &Inputs) -> f64 {
        let (mut stack, mut height) = ([0.0; STACK], 0);
        for instruction in &self.instructions {
            let value = match *instruction {
                Instruction::Push(number) => number,
                Instruction::Load(variable) => match variable {
                    Variable::K => inputs.k,
                    Variable::U => inputs.u,
                    Variable::Base => inputs.base,
                    Variable::Cap => inputs.cap,
                    Variable::Prev => inputs.prev,
                },
                Instruction::Unary(function) => {
                    height -= 1;
                    function(stack[height])
                }
                Instruction::Binary(function) => {
                    height -= 2;
                    function(stack[height], stack[height + 1])
                }
            };
            stack[height] = value;
            height += 1;
        }
        stack[0]
    }

    /// What is wrong with its values, if anything is, over the retries that happen and the ends of chance.
    pub(crate) fn check(&self, base: Duration, cap: Duration) -> Result<(), String> {
        for u in [0.0, 0.5, 1.0 - f64::EPSILON / 2.0] {
            let mut prev = Duration::ZERO;
            for k in 1..=64_u32 {
                let [base, cap_s, before] = [base, cap, prev].map(|time| time.as_secs_f64());
                let inputs = Inputs { k: f64::from(k), u, base, cap: cap_s, prev: before };
                let value = self.value(&inputs);
                let is = match value {
                    _ if value.is_nan() => "no number",
                    _ if value.is_infinite() => "infinite",
                    _ if value < 0.0 => "negative",
                    _ => {
                        prev = self.delay(&inputs, cap);
                        continue;
                    }
                };
                let chance = if self.draws() {
                    format!(" and u = {}", libm::rint(u * 1e3) / 1e3)
                } else {
                    String::new()
                };
                return Err(format!(
                    "`formula={}` is {is} for k = {k}{chance}; bound it with `min` or `max`",
                    self.text
                ));
            }
        }
        Ok(())
    }
}
