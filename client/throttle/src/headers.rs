//! Headers of HTTP responses, as strategies read them.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{AGE, DATE};
use tailback::{AdviceHeaders, AdviceValue, WallTime};

/// Status and headers of a response. Header values with characters other than visible ASCII (RFC 9110, section 5.5) count as missing.
#[derive(Clone, Copy, Debug)]
pub struct HttpHeaders<'a>(pub u16, pub &'a HeaderMap);

impl AdviceHeaders for HttpHeaders<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        self.1.get(name)?.to_str().ok().map(AdviceValue::Text)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.1.get_all(name).iter().nth(1).is_some()
    }

    fn status(&self) -> u16 {
        self.0
    }
}

/// Returns the calendar time to which dates in a response refer: its `Date`, and the time that it spent in caches since then (`Age`; RFC
/// 9111, section 5.1). So a client whose own clock is wrong waits as long as every other client. Without a `Date`, it is the client's own
/// calendar time.
pub fn server_clock(headers: &HeaderMap) -> WallTime {
    of_server(headers).unwrap_or_else(|| {
        let since_unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A clock that is set before 1970 is treated as if it showed the start of 1970. So no date counts as past.
        WallTime::from_unix(since_unix.unwrap_or(Duration::ZERO))
    })
}

fn of_server(headers: &HeaderMap) -> Option<WallTime> {
    let date = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let age = headers.get(AGE).and_then(|age| age.to_str().ok()?.parse().ok()).unwrap_or(0);
    let since_unix = date.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(WallTime::from_unix(since_unix.saturating_add(Duration::from_secs(age))))
}
