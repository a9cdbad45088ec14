//! Compiled expression: instructions for a stack machine with a stack of fixed size.

use std::time::Duration;

use vocabulary::nanos;

/// Values of the variables of an expression. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inputs {
    /// Number of the retry whose delay is computed, from 1.
    pub(crate) k: f64,
    /// Random number `u` from [0, 1). All occurrences of `u` in an expression have the same value.
    pub(crate) u: f64,
    /// Base delay. It is the parameter `throttled-base` if that parameter is set and the last attempt was throttled.
    /// Otherwise it is the parameter `base`.
    pub(crate) base: f64,
    pub(crate) cap: f64,
    /// Delay before the previous retry; 0 at the first retry.
    pub(crate) prev: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction {
    Push(f64),
    Load(Variable),
    Unary(fn(f64) -> f64),
    Binary(fn(f64, f64) -> f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    K,
    U,
    Base,
    Cap,
    Prev,
}

/// Maximum number of values on the stack of the stack machine. The parser rejects expressions that need more.
pub(crate) const STACK: usize = 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) text: String,
    instructions: Vec<Instruction>,
}

impl Program {
    /// Creates a compiled expression. The instructions must leave one value on the stack. They must not need more than
    /// [`STACK`] values.
    pub(crate) fn new(text: &str, instructions: Vec<Instruction>) -> Self {
        Self { text: text.to_owned(), instructions }
    }

    pub(crate) fn draws(&self) -> bool {
        self.instructions.iter().any(|step| matches!(step, Instruction::Load(Variable::U)))
    }

    /// Evaluates the expression and returns the delay, at most `cap`. A negative value yields a delay of zero, and NaN
    /// yields `cap`.
    pub(crate) fn delay(&self, inputs: &Inputs, cap: Duration) -> Duration {
        let seconds = self.value(inputs);
        if seconds.is_nan() { cap } else { nanos(seconds * 1e9).min(cap) }
    }

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

    /// Checks the expression by evaluating it for 64 retries, each with a low, a middle and a high random number. If a
    /// result is invalid, the error states the first invalid one.
    pub(crate) fn check(&self, base: Duration, cap: Duration) -> Result<(), String> {
        for u in [0.0, 0.5, 1.0 - f64::EPSILON / 2.0] {
            let mut prev = Duration::ZERO;
            for k in 1..=64_u32 {
                let [base, cap_s, before] = [base, cap, prev].map(|time| time.as_secs_f64());
                let inputs = Inputs { k: f64::from(k), u, base, cap: cap_s, prev: before };
                let value = self.value(&inputs);
                let is = match value {
                    _ if value.is_nan() => "not a number",
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
                    "`formula={}` is {is} for k = {k}{chance}; limit it with `min` or `max`",
                    self.text
                ));
            }
        }
        Ok(())
    }
}
