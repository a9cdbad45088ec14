//! The `Date` of an answer, put into words once a second (RFC 9110, section 6.6.1).

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// As long as every such date.
pub(crate) type Date = [u8; 29];

thread_local! {
    /// The second since 1970, and its date.
    static LATEST: Cell<(u64, Date)> = const { Cell::new((u64::MAX, [b' '; 29])) };
}

/// The date of this moment.
pub(crate) fn now() -> Date {
    let second = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    LATEST.with(|latest| {
        let (of, date) = latest.get();
        if of == second {
            return date;
        }
        let date = of_second(second);
        latest.set((second, date));
        date
    })
}

fn of_second(second: u64) -> Date {
    let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
    text.as_bytes().try_into().unwrap_or([b' '; 29])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_as_long_as_it_must_be() {
        assert_eq!(&of_second(784_111_777), b"Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(now().len(), 29);
    }
}
