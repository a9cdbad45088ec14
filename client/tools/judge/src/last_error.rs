//! Line of a command's stderr that explains its end best.

/// Returns the last line that names an error, such as `ValueError: …`, or else the last line. Stack traces follow or precede this line.
pub(super) fn last_error(stderr: &str) -> &str {
    let lines = || stderr.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    let names_error = |line: &&str| {
        let first = line.split([':', ' ', '(']).next().unwrap_or_default();
        ["Error", "Exception", "Failure"].iter().any(|word| first.contains(word))
    };
    lines().rfind(names_error).or_else(|| lines().next_back()).unwrap_or_default()
}

/// Words of errors about a text that cannot be parsed, in Python, JavaScript, Go and Rust.
const PARSE_ERRORS: [&str; 16] = [
    "jsondecodeerror",
    "json.decoder",
    "unexpected token",
    "unexpected end of json",
    "not valid json",
    "invalid json",
    "looking for beginning of value",
    "error decoding response body",
    "parseerror",
    "expaterror",
    "xmlsyntaxerror",
    "not well-formed",
    "keyerror",
    "missing field",
    "cannot read propert",
    "object is not subscriptable",
];

/// Whether a line is about a body that the client could not parse.
pub(super) fn is_parse_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    PARSE_ERRORS.iter().any(|word| line.contains(word)) && !line.contains("retry-after")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_error_is_found_in_traces() {
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: not a date\n";
        assert_eq!(last_error(python), "ValueError: not a date");
        let node = "file:///a.mjs:1\nthrow x\n^\n\nAPIError [x]: busy\n    at a.mjs:1\n{\n  status: 429\n}\n\nNode.js v20\n";
        assert_eq!(last_error(node), "APIError [x]: busy");
        assert_eq!((last_error("curl: (22) 503\n"), last_error("")), ("curl: (22) 503", ""));
        assert!(is_parse_error("json.decoder.JSONDecodeError: Expecting value"));
        assert!(is_parse_error("SyntaxError: Unexpected token < in JSON") && !is_parse_error("TypeError: x"));
        assert!(!is_parse_error("ServiceUnavailableError: {'content-type': 'application/json'}"));
        assert!(!is_parse_error("KeyError: 'retry-after'"));
    }
}
