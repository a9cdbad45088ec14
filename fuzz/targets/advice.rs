//! `Retry-After` and `retry-after-ms`, each a line.
#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut headers = HeaderMap::new();
    for (name, value) in ["retry-after", "retry-after-ms"].into_iter().zip(bytes.split(|byte| *byte == b'\n')) {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.insert(name, value);
        }
    }
    let _ = loadgen_http::read_advice(&headers);
});
