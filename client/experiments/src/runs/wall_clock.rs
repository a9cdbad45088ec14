//! Wall-clock times for people and files: RFC 3339 in UTC, to the millisecond.

use std::time::SystemTime;

pub fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
