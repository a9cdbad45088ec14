//! Tests of skewed clocks and of the time base of answers.

use vocabulary::TimeScale;

use super::*;

#[test]
fn a_clock_that_is_off_shows_in_moments_only() {
    let advice = "[every]\nadvice = 'date:skew=-10s+epoch:skew=1h,places=1+ms:early=1s+decimal:header=x-late,late=500ms'";
    let (_, headers, _) = said(&set(advice, &["a"]), &context(rejected(0, 20 * SECOND), &[None]));
    assert_eq!(
        headers,
        [
            "retry-after: Thu, 01 Jan 2026 00:00:11 GMT",
            "x-ratelimit-reset: 1767229220.5",
            "retry-after-ms: 19000",
            "x-late: 20.5"
        ]
    );
}

#[test]
fn each_reader_gets_waits_in_its_own_time_scale() {
    let set = set("[every]\nadvice = 'seconds+ms+epoch'\nheaders = { w = '{window_go}' }", &["a"]);
    let limit_statuses = [limit_status(1, 0, SECOND)];
    let context = context(rejected(0, 20 * SECOND), &limit_statuses);
    let scale = |scale| HeaderWriter::real(WallTime::VIRTUAL_START, TimeScale::parse(scale).unwrap());
    for (teller, values) in [
        (teller(), ["20", "20000", "1767225621", "1m0s"]),
        (scale("0.1"), ["2", "2000", "1767225603", "6s"]),
        (scale("0.01"), ["1", "200", "1767225601", "600ms"]),
        (scale("10"), ["200", "200000", "1767225805", "10m0s"]),
    ] {
        let headers = ["retry-after", "retry-after-ms", "x-ratelimit-reset", "w"];
        assert_eq!(headers.map(|name| set.header(name, &context, &teller).unwrap().into_owned()), values);
    }
}
