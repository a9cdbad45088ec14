//! Status codes of gRPC and the headers that carry them (gRPC, `statuscodes.md`, `PROTOCOL-HTTP2.md`).

pub const STATUS: &str = "grpc-status";
/// Response header with the delay before the next attempt, in whole milliseconds. A negative value means that the
/// client must not retry (gRFC A6).
pub const PUSHBACK: &str = "grpc-retry-pushback-ms";

pub const STATUSES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

const UNKNOWN: u8 = 2;

pub fn named(name: &str) -> Option<u8> {
    let number = STATUSES.iter().position(|known| *known == name)?;
    u8::try_from(number).ok()
}

/// Parses the value of the header [`STATUS`]. An invalid value yields the number of UNKNOWN.
pub fn number(text: &str) -> u8 {
    text.trim().parse().ok().filter(|number| usize::from(*number) < STATUSES.len()).unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_names_and_numbers() {
        assert_eq!((named("OK"), named("UNAVAILABLE"), named("unavailable")), (Some(0), Some(14), None));
        for (text, read) in [("0", 0), (" 14 ", 14), ("17", 2), ("-1", 2), ("x", 2), ("", 2)] {
            assert_eq!(number(text), read, "{text}");
        }
    }
}
