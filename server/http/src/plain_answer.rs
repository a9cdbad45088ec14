//! A plain answer as it goes out over HTTP/1.1: to the byte what the general machinery would write.

use crate::clock::Clock;
use crate::date;
use crate::identity::Identity;
use crate::shared::Decided;
use crate::words::{self, Value};

/// Adds an answer to what is to be sent; after the last one the connection ends.
pub(crate) fn write(
    output: &mut Vec<u8>,
    clock: &Clock,
    identity: &Identity,
    decided: &Decided,
    is_last: bool,
) {
    let (status, body) = words::plain(decided.answer.verdict, decided.reject_status);
    output.reserve(512);
    output.extend_from_slice(b"HTTP/1.1 ");
    output.extend_from_slice(status.as_str().as_bytes());
    output.push(b' ');
    // Not every status has a name: then this stands there in hyper's answers.
    output.extend_from_slice(status.canonical_reason().unwrap_or("<none>").as_bytes());
    output.extend_from_slice(b"\r\ncache-control: no-store\r\n");
    words::headers(clock, identity, decided, |name, value| {
        output.extend_from_slice(name.as_bytes());
        output.extend_from_slice(b": ");
        match value {
            Value::Text(text) => output.extend_from_slice(text.as_bytes()),
            Value::Number(number) => digits(output, number),
        }
        output.extend_from_slice(b"\r\n");
    });
    if is_last {
        output.extend_from_slice(b"connection: close\r\n");
    }
    output.extend_from_slice(b"content-length: ");
    digits(output, body.len() as u64);
    output.extend_from_slice(b"\r\ndate: ");
    output.extend_from_slice(&date::now());
    output.extend_from_slice(b"\r\n\r\n");
    output.extend_from_slice(body.as_bytes());
}

fn digits(output: &mut Vec<u8>, mut number: u64) {
    let mut text = [0; 20];
    let mut start = text.len();
    loop {
        start -= 1;
        text[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    output.extend_from_slice(&text[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, 10, 999, 1_000_000, u64::MAX] {
            let mut output = Vec::new();
            digits(&mut output, number);
            assert_eq!(output, number.to_string().as_bytes());
        }
    }
}
