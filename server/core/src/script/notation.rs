//! Text notation of a script, such as `503|429 retry-after:2|200`. The steps of an op are joined by `|`. If there are scripts for several
//! ops, they are joined by `;`.
//!
//! A step is a status or a fault. After a status or a truncated answer, headers and the body may follow, each after a space, as `name:value`
//! and `body:text`. Separators in names and values are escaped as in URLs: `%20`, `%2C`.

use std::fmt;
use std::str::FromStr;

use vocabulary::{TextField, split_outside};

use super::reply::BODY;
use crate::{Reply, ReplyError, Script, StepFault};

impl TextField for Script {
    fn read(&mut self, text: &str) -> Result<(), String> {
        // An unclosed parenthesis makes the text after it part of the steps, even if it is another parameter.
        let is_unclosed = split_outside(&format!("{text},"), ',').last() != Some("");
        if is_unclosed && text.contains(',') {
            return Err(
                "a `(` is not closed before a comma; write `%28` for `(` and `%2C` for `,`".to_owned()
            );
        }
        *self = text.parse()?;
        Ok(())
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn accepted(&self) -> &'static str {
        "a list of steps joined by `|`, of which the last repeats, such as `503|429 \
         retry-after:2|close|reset:after|200`; scripts for further ops follow after `;`"
    }
}

impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let op = |(op, text): (usize, &str)| {
            let step = |(index, text): (usize, &str)| {
                text.parse::<Reply>().map_err(|why| match op {
                    0 => format!("step {}: {why}", index + 1),
                    _ => format!("step {} of op {}: {why}", index + 1, op + 1),
                })
            };
            text.split('|').enumerate().map(step).collect::<Result<Vec<_>, _>>()
        };
        let ops = text.split(';').enumerate().map(op).collect::<Result<Vec<_>, _>>()?;
        Self::new(ops).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (op, range) in self.ops.iter().enumerate() {
            for index in range.clone() {
                let joint = match (op, index == range.start) {
                    (0, true) => "",
                    (_, true) => ";",
                    (_, false) => "|",
                };
                write!(f, "{joint}{}", self.replies[index])?;
            }
        }
        Ok(())
    }
}

impl FromStr for Reply {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split_ascii_whitespace();
        let first = words.next().ok_or_else(|| {
            format!("the step is empty; write a status, such as 503, or {}", StepFault::names())
        })?;
        let fault = StepFault::parse(first);
        if let Some(fault) = fault.filter(|fault| !fault.sends_answer())
            && let Some(word) = words.next()
        {
            return Err(ReplyError::Unsent(fault, word.to_owned()).to_string());
        }
        let (mut headers, mut body) = (Vec::new(), None);
        for word in words {
            let (name, value) = word.split_once(':').ok_or_else(|| {
                format!("`{word}` is not a header; write `name:value`, with `%20` for each space")
            })?;
            let read = |text: &str| {
                let why = || {
                    format!(
                        "`{text}` cannot be read: after `%`, two hexadecimal digits of UTF-8 text must follow"
                    )
                };
                decoded(text).ok_or_else(why)
            };
            let (name, value) = (read(name)?, read(value)?);
            match name.as_str() {
                BODY if body.is_some() => return Err("it has two bodies; keep one of them".to_owned()),
                BODY => body = Some(value),
                _ => headers.push((name, value)),
            }
        }
        let body = body.unwrap_or_default();
        let reply = if let Some(fault) = fault {
            Self::faulty(fault, headers, body)
        } else {
            let status = first.parse().map_err(|_| {
                format!("`{first}` is neither a status nor a fault; a fault is {}", StepFault::names())
            })?;
            Self::answer(status, headers, body)
        };
        reply.map_err(|error| error.to_string())
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answer, broken_by } = self;
        match broken_by {
            Some(fault) => write!(f, "{fault}")?,
            None => write!(f, "{}", answer.status)?,
        }
        for (name, value) in answer.written() {
            f.write_str(" ")?;
            encode(name, f)?;
            f.write_str(":")?;
            encode(&value, f)?;
        }
        if !answer.body.is_empty() {
            write!(f, " {BODY}:")?;
            encode(&answer.body, f)?;
        }
        Ok(())
    }
}

/// Writes a text in the notation of scripts. Separators, spaces and non-ASCII bytes are escaped as `%` and two hexadecimal digits.
fn encode(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for byte in text.bytes() {
        match byte {
            b'%' | b',' | b';' | b'|' | b'+' | b'(' | b')' => write!(f, "%{byte:02X}")?,
            b'!'..=b'~' => write!(f, "{}", char::from(byte))?,
            _ => write!(f, "%{byte:02X}")?,
        }
    }
    Ok(())
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            let [high, low, after @ ..] = after else { return None };
            let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            bytes.push(digit(*high)? << 4 | digit(*low)?);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::Policy;

    proptest! {
        #[test]
        fn any_text_is_refused_or_shown_as_it_is_read(
            text in "((close|reset|truncate|hang)(:after)?|[2-5][0-9]{2}|[0-9]{0,4})( (x|body|retry-after):[!-~ä%0-9]{0,8}){0,2}[|;]?[0-9a-z :;|%@+-]{0,20}",
        ) {
            if let Ok(script) = text.parse::<Script>() {
                let policy = format!("script:steps={script},by=call");
                prop_assert_eq!(policy.parse::<Policy>().map(|policy| policy.to_string()), Ok(policy));
                prop_assert_eq!(script.to_string().parse::<Script>(), Ok(script));
            }
            // JSON is also written by others, so it may cause an error but no panic.
            drop(Script::from_json(&text));
        }
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for text in [
            "200",
            "503|429 retry-after:2|close|200",
            "503;503;200",
            "close:after|reset|reset:after|hang|hang:after|truncate|truncate:after",
            "truncate:after content-type:application/json body:{%20}",
            "503 a%7Cb:1",
            "429 retry-after:@date%2B3 x-reset:@epoch-7 body:{\"a\":1%2C%20\"b\":\"%7C%3B%25%C3%A4%0A\"}",
        ] {
            assert_eq!(text.parse::<Script>().unwrap().to_string(), text);
        }
        let typed: Script = " 503  Retry-After:2 | 200 ".parse().unwrap();
        assert_eq!(typed.to_string(), "503 retry-after:2|200");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_step() {
        for (text, words) in [
            (
                "",
                "step 1: the step is empty; write a status, such as 503, or `close`, `reset`, `truncate` or \
                 `hang`, optionally followed by `:after`",
            ),
            (
                "503||200",
                "step 2: the step is empty; write a status, such as 503, or `close`, `reset`, `truncate` or \
                 `hang`, optionally followed by `:after`",
            ),
            (
                "503;200|never",
                "step 2 of op 2: `never` is neither a status nor a fault; a fault is `close`, `reset`, \
                 `truncate` or `hang`, optionally followed by `:after`",
            ),
            (
                "99999",
                "step 1: `99999` is neither a status nor a fault; a fault is `close`, `reset`, \
                 `truncate` or `hang`, optionally followed by `:after`",
            ),
            (
                "reset:before",
                "step 1: `reset:before` is neither a status nor a fault; a fault is `close`, `reset`, \
                 `truncate` or `hang`, optionally followed by `:after`",
            ),
            ("100", "step 1: `status` is 100; it must be from 200 to 599"),
            ("close x:1", "step 1: `close` sends no answer, so `x:1` cannot be sent; leave it out"),
            (
                "hang:after soon",
                "step 1: `hang:after` sends no answer, so `soon` cannot be sent; leave it out",
            ),
            ("reset body:", "step 1: `reset` sends no answer, so `body:` cannot be sent; leave it out"),
            ("503 soon", "step 1: `soon` is not a header; write `name:value`, with `%20` for each space"),
            (
                "503 x:%2",
                "step 1: `%2` cannot be read: after `%`, two hexadecimal digits of UTF-8 text must follow",
            ),
            (
                "503 x:%ff",
                "step 1: `%ff` cannot be read: after `%`, two hexadecimal digits of UTF-8 text must follow",
            ),
            ("503 body:a body:b", "step 1: it has two bodies; keep one of them"),
            (
                "503 Body:a",
                "step 1: in scripts, `body` is the body of an answer, so it cannot be the name of a header",
            ),
            (
                "503 content-length:3",
                "step 1: the server sets the header `content-length` itself; leave it out",
            ),
        ] {
            assert_eq!(text.parse::<Script>().unwrap_err(), words, "{text:?}");
        }
    }
}
