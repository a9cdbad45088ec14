//! Tests that invalid answers are rejected with the place of the error.

use super::*;

fn error(toml: &str) -> String {
    AnswerSet::read(&config(toml), ["primary", "secondary"]).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_answered_is_refused_with_its_place() {
    let long = "x".repeat((64 << 10) + 1);
    let many: Vec<String> = (0..65).map(|n| format!("h{n} = ''")).collect();
    for (toml, words) in [
        (
            "[reject.primry]",
            "`reject.primry`: no policy has the name `primry` (did you mean `primary`?); the names are `primary`, `secondary`, and `*` for",
        ),
        ("[reject.primary]\nstatus = 99", "`reject.primary`: `status` is 99; it must be from 200 to 599"),
        ("[accepted]\nheaders = { 'a b' = '' }", "`accepted`: `a b` is not a valid header name"),
        (
            "[accepted]\nheaders = { Content-Length = '3' }",
            "`accepted`: the server sets the header `content-length` itself; leave it out",
        ),
        ("[conflict]\nheaders = { x = \"a\\nb\" }", "`conflict`: the value of the header `x` cannot be sent"),
        (
            "[every]\nheaders = { x = '1', X = '2' }",
            "`every`: the header `x` is given twice; keep one of them",
        ),
        (
            "[every]\nheaders = { x = '{limt}' }",
            "`every`: the header `x`: unknown field `{limt}` (did you mean `limit`?)",
        ),
        (
            "[reject.'*']\nbody = '{primary.rest}'",
            "`reject.*`: `body`: unknown field `{primary.rest}` (did you mean `reset`?)",
        ),
        (
            "[reject.primary]\nadvice = 'second'",
            "`reject.primary`: `advice`: unknown form of advice `second` (did you mean `seconds`?)",
        ),
        (
            "[reject.primary]\nadvice = 'seconds'\nheaders = { Retry-After = '1' }",
            "`reject.primary`: both `headers` and `advice` set the header `retry-after`; keep one",
        ),
        (
            "[every]\nadvice = 'seconds'\nheaders = { Retry-After = '1' }",
            "`every`: both `headers` and `advice` set the header `retry-after`; keep one of them",
        ),
        (
            "[reject.primary]\nadvice = 'problem'\nbody = ''",
            "`reject.primary`: both `body` and the form `problem` of `advice` set the body",
        ),
        (
            &format!("[accepted]\nbody = '{long}'"),
            "`accepted`: `body` has 65537 bytes; at most 65536 are accepted",
        ),
        (&format!("[every.headers]\n{}", many.join("\n")), "`every`: 65 headers are given; give at most 64"),
    ] {
        let error = error(toml);
        assert!(error.starts_with(words), "{toml}: {error}");
    }
    for name in ["", "A", "1st", "a b", "a.b", "ä", &"a".repeat(65)] {
        let error = AnswerSet::read(&AnswersConfig::default(), [name]).unwrap_err();
        assert_eq!(error, AnswersError::Name(name.to_owned()));
    }
}
