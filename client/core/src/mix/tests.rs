//! Accepted and rejected mixes, and the frequencies of their kinds.

use super::*;

fn mix(text: &str) -> Mix {
    text.parse().unwrap()
}

fn refused(text: &str) -> String {
    text.parse::<Mix>().unwrap_err().to_string()
}

#[test]
fn a_mix_is_written_as_parsed_without_its_defaults() {
    for (typed, written) in [
        ("GET /", "GET /"),
        (" get /repos 8;POST /issues 2 cost=5 ", "GET /repos 8; POST /issues 2 cost=5"),
        ("GET /a 1.0; PURGE /b&y=%20 0.250000 used=0", "GET /a; PURGE /b&y=%20 0.25 used=0"),
        ("PUT /a cost=1000000000 1000000 used=3", "PUT /a 1000000 cost=1000000000 used=3"),
        ("GET /a 0.000001", "GET /a 0.000001"),
        ("GET //a/.b/c..", "GET //a/.b/c.."),
    ] {
        assert_eq!(mix(typed).to_string(), written, "{typed}");
        assert_eq!(mix(written), mix(typed));
    }
}

/// Values may be secrets, and a folder may have the name of a user.
#[test]
fn results_have_neither_the_values_of_a_query_nor_the_folder_of_a_body() {
    let mix = mix("POST /v1/items?x=1&token=s3cret&all @/home/me/item.json 3; GET /a?");
    assert_eq!(mix.to_string(), "POST /v1/items?x=…&token=…&… @item.json 3; GET /a?…");
    let kind = &mix.kinds()[0];
    assert_eq!(kind.query.as_deref(), Some("x=1&token=s3cret&all"));
    assert_eq!(kind.body.as_deref(), Some("/home/me/item.json"));
    assert_eq!(mix.to_string().parse::<Mix>().unwrap().to_string(), mix.to_string());
}

#[test]
fn nonsense_is_refused_with_what_is_wrong_and_what_is_accepted() {
    for (text, why) in [
        ("", "`` is not a kind of request: `` is not an HTTP method; write `METHOD PATH[?QUERY]"),
        ("GET /a;", "`` is not a kind of request"),
        ("GET", "`GET` is not a kind of request: it has no path"),
        ("G(T /", "`G(T` is not an HTTP method"),
        ("CONNECT /", "CONNECT requests a tunnel"),
        ("GET repos", "the path `repos` does not begin with `/`"),
        ("GET /ä", "a path must not contain `ä`, unless percent-encoded"),
        ("GET /a?x=<", "a query must not contain `<`"),
        ("GET /a @item.json", "GET requests have no body"),
        ("POST /a @", "`@` must be followed by the name of a file"),
        ("POST /a @b @c", "`@c` is a second body"),
        ("POST /a @my file.json", "the name of a file contains no spaces"),
        ("GET /a#b", "a path must not contain `#`"),
        ("GET /a\\b", "a path must not contain `\\`"),
        ("GET /a/../b", "must not have the segments `.` and `..`"),
        ("GET /a/%2E.", "must not have the segments `.` and `..`"),
        ("GET /_mock/reset", "admin endpoints of the mockserver"),
        ("GET / 0", "the weight `0` must be a number above 0"),
        ("GET / 0.0000001", "with at most 6 decimals"),
        ("GET / 1000000.1", "up to 1000000"),
        ("GET / 99999999999999999999", "up to 1000000"),
        ("GET / -1", "the weight `-1`"),
        ("GET / +1", "the weight `+1`"),
        ("GET / 1e3", "the weight `1e3`"),
        ("GET / .5", "the weight `.5`"),
        ("GET / 1.", "the weight `1.`"),
        ("GET / nan", "the weight `nan`"),
        ("GET / 1 2", "`2` is not expected here"),
        ("GET / cost=1 cost=1", "`cost` is given twice"),
        ("GET / cots=1", "`cots` is unknown; there are `cost` and `used`"),
        ("GET / cost=", "`cost=` is not a whole number from 0 to 1000000000"),
        ("GET / used=+1", "`used=+1` is not a whole number"),
        ("GET / cost=1000000001", "is not a whole number from 0 to 1000000000"),
    ] {
        let words = refused(text);
        assert!(words.contains(why), "{text}: {words}");
    }
    let long = format!("GET /{}", "a".repeat(MAX_PATH));
    assert!(refused(&long).contains("longer than 1024 bytes"));
    let many = vec!["GET /"; MAX_KINDS + 1].join(";");
    assert_eq!(refused(&many), "it has 65 kinds of requests; at most 64 are accepted");
    assert_eq!(mix(&vec!["GET /"; MAX_KINDS].join(";")).kinds().len(), MAX_KINDS);
}

#[test]
fn kinds_are_drawn_in_proportion_to_their_weights() {
    const OPS: u64 = 200_000;
    let mix = mix("GET /a 8; GET /b 2; GET /c 0.5; GET /d 0.01");
    let mut counts = [0_u64; 4];
    for op in 0..OPS {
        counts[mix.kind_of(7, op)] += 1;
    }
    for (count, weight) in counts.iter().zip([8.0, 2.0, 0.5, 0.01]) {
        let share = weight / 10.51;
        let expected = OPS as f64 * share;
        // Five standard deviations of a binomial distribution.
        let bound = 5.0 * (expected * (1.0 - share)).sqrt();
        assert!((*count as f64 - expected).abs() <= bound, "{counts:?}: {weight}");
    }
}

#[test]
fn runs_with_neighbouring_seeds_have_unrelated_kinds() {
    const OPS: u64 = 100_000;
    let mix = mix("GET /a; GET /b 3");
    let alike = (0..OPS).filter(|op| mix.kind_of(1, *op) == mix.kind_of(2, *op)).count();
    let (share, ops) = (0.25 * 0.25 + 0.75 * 0.75, OPS as f64);
    let bound = 5.0 * (ops * share * (1.0 - share)).sqrt();
    assert!((alike as f64 - ops * share).abs() <= bound, "{alike} of {OPS} alike");
    assert_eq!(mix.kind_of(1, 5), mix.clone().kind_of(1, 5));
}

#[test]
fn only_some_methods_have_a_body() {
    let kinds = "GET /; HEAD /; DELETE /; OPTIONS /; TRACE /; POST /; PUT /; PATCH /; QUERY /; BREW /";
    let with: Vec<bool> = mix(kinds).kinds().iter().map(RequestKind::has_body).collect();
    assert_eq!(with, [[false; 5], [true; 5]].concat());
}
