//! Recursive-descent parser that compiles the text of an arithmetic expression.

use vocabulary::{TextField, did_you_mean};

use crate::formula::program::{Instruction, Program, STACK, Variable};

const VARIABLES: &[(&str, Variable)] = &[
    ("k", Variable::K),
    ("u", Variable::U),
    ("base", Variable::Base),
    ("cap", Variable::Cap),
    ("prev", Variable::Prev),
];

/// Functions that expressions may call, by name. `min` and `max` take two or more arguments.
const FUNCTIONS: &[(&str, Instruction)] = &[
    ("min", Instruction::Binary(f64::min)),
    ("max", Instruction::Binary(f64::max)),
    ("pow", Instruction::Binary(libm::pow)),
    ("sqrt", Instruction::Unary(libm::sqrt)),
    ("cbrt", Instruction::Unary(libm::cbrt)),
    ("exp", Instruction::Unary(libm::exp)),
    ("ln", Instruction::Unary(libm::log)),
    ("tanh", Instruction::Unary(libm::tanh)),
    ("floor", Instruction::Unary(libm::floor)),
    ("ceil", Instruction::Unary(libm::ceil)),
    ("round", Instruction::Unary(libm::round)),
];

/// Limits of an expression: `MAX_TEXT` is its maximum length in bytes, and `DEEPEST` its maximum nesting depth.
const MAX_TEXT: usize = 500;
const DEEPEST: u32 = 24;
/// Maximum value of a number that is written in an expression. Times in expressions are in seconds.
const GREATEST: f64 = 1e15;

const TOO_DEEP: &str = "the formula is nested too deeply; use fewer parentheses";

type Operation = fn(f64, f64) -> f64;

struct Parser<'a> {
    rest: &'a str,
    instructions: Vec<Instruction>,
    height: usize,
    depth: u32,
}

impl Program {
    /// Compiles the text of an arithmetic expression.
    ///
    /// # Errors
    /// If the text is not a valid expression. The error text is half a sentence that names the mistake.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("the formula is longer than {MAX_TEXT} bytes"));
        }
        let mut parser = Parser { rest: text, instructions: Vec::new(), height: 0, depth: 0 };
        parser.sum()?;
        match parser.peek() {
            None => Ok(Self::new(text.trim(), parser.instructions)),
            Some(_) => Err(format!("the formula cannot be read from `{}` on", parser.rest.trim())),
        }
    }
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<(), String> {
        self.nested(|parser| parser.chain(Self::product, [('+', |a, b| a + b), ('-', |a, b| a - b)]))
    }

    fn product(&mut self) -> Result<(), String> {
        self.chain(Self::signed, [('*', |a, b| a * b), ('/', |a, b| a / b)])
    }

    /// Parses operands that are joined by operations of the same precedence.
    fn chain(
        &mut self,
        operand: fn(&mut Self) -> Result<(), String>,
        operations: [(char, Operation); 2],
    ) -> Result<(), String> {
        operand(self)?;
        while let Some((_, operation)) = operations.iter().find(|(sign, _)| self.peek() == Some(*sign)) {
            self.skip();
            operand(self)?;
            self.binary(*operation);
        }
        Ok(())
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(TOO_DEEP.to_owned());
        }
        parse(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn signed(&mut self) -> Result<(), String> {
        let mut negative = false;
        while self.peek() == Some('-') {
            self.skip();
            negative = !negative;
        }
        self.power()?;
        if negative {
            self.instructions.push(Instruction::Unary(|value| -value));
        }
        Ok(())
    }

    /// Parses a power. It is right-associative and binds more tightly than a sign: −2^3^2 is −(2^(3^2)).
    fn power(&mut self) -> Result<(), String> {
        self.value()?;
        if self.peek() != Some('^') {
            return Ok(());
        }
        self.skip();
        self.nested(Self::signed)?;
        self.binary(libm::pow);
        Ok(())
    }

    fn value(&mut self) -> Result<(), String> {
        match self.peek() {
            Some('(') => {
                self.skip();
                self.sum()?;
                self.close()
            }
            Some(sign) if sign.is_ascii_digit() || sign == '.' => self.number(),
            Some(sign) if sign.is_ascii_alphabetic() => self.name(),
            Some(_) => Err(format!("the formula cannot be read from `{}` on", self.rest)),
            None => Err("the formula ends where a number, a name or `(` must follow".to_owned()),
        }
    }

    fn number(&mut self) -> Result<(), String> {
        let is_exponent = |at: usize| self.rest[..at].ends_with(['e', 'E']);
        let end = self.rest.char_indices().find(|&(at, sign)| {
            let belongs = sign.is_ascii_alphanumeric() || sign == '.' || (sign == '-' && is_exponent(at));
            !belongs
        });
        let (word, rest) = self.rest.split_at(end.map_or(self.rest.len(), |(at, _)| at));
        let number: Option<f64> = word.parse().ok().filter(|number| *number <= GREATEST);
        let number =
            number.ok_or_else(|| format!("`{word}` is not a number, or it is above {GREATEST:e}"))?;
        self.rest = rest;
        self.push(Instruction::Push(number))
    }

    fn name(&mut self) -> Result<(), String> {
        let end = self.rest.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_call = self.peek() == Some('(');
        match FUNCTIONS.iter().find(|(name, _)| *name == word) {
            Some((name, function)) if is_call => return self.call(name, *function),
            Some(_) => return Err(format!("`{word}` is a function; write its arguments in parentheses")),
            None => {}
        }
        match VARIABLES.iter().find(|(name, _)| *name == word) {
            Some(_) if is_call => Err(format!("`{word}` is not a function, so `(` cannot follow it")),
            Some((_, variable)) => self.push(Instruction::Load(*variable)),
            None => {
                let names =
                    VARIABLES.iter().map(|(name, _)| *name).chain(FUNCTIONS.iter().map(|(name, _)| *name));
                Err(format!("`{word}` is neither a variable nor a function{}", did_you_mean(word, names)))
            }
        }
    }

    fn call(&mut self, name: &str, function: Instruction) -> Result<(), String> {
        self.skip();
        self.sum()?;
        let mut values = 1;
        while let Some(',' | ';') = self.peek() {
            self.skip();
            self.sum()?;
            values += 1;
            match function {
                Instruction::Binary(function) if values == 2 || name != "pow" => self.binary(function),
                _ => return Err(format!("`{name}` has too many arguments")),
            }
        }
        match function {
            Instruction::Binary(_) if values == 1 => Err(format!("`{name}` has too few arguments")),
            Instruction::Unary(_) => {
                self.instructions.push(function);
                self.close()
            }
            _ => self.close(),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(')') => {
                self.skip();
                Ok(())
            }
            Some(_) => Err(format!("`)` is missing before `{}`", self.rest)),
            None => Err("`)` is missing at the end".to_owned()),
        }
    }

    fn push(&mut self, instruction: Instruction) -> Result<(), String> {
        self.height += 1;
        if self.height > STACK {
            return Err(TOO_DEEP.to_owned());
        }
        self.instructions.push(instruction);
        Ok(())
    }

    fn binary(&mut self, function: Operation) {
        self.height -= 1;
        self.instructions.push(Instruction::Binary(function));
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn skip(&mut self) {
        let mut signs = self.rest.chars();
        signs.next();
        self.rest = signs.as_str();
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Formula(pub(crate) Option<Program>);

impl TextField for Formula {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = match text {
            "none" => None,
            text => Some(Program::compile(text)?),
        };
        Ok(())
    }

    fn show(&self) -> String {
        self.0.as_ref().map_or_else(|| "none".to_owned(), |program| program.text.clone())
    }

    fn accepted(&self) -> &'static str {
        "an expression in parentheses that yields seconds, with k, u, base, cap and prev, such as \
         `(min(cap, base*2^(k-1))*u)` or `none`"
    }
}
