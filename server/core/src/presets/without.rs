//! Answers of a preset after one of its limits is switched off.

use std::collections::BTreeMap;

use crate::answers::AnswersConfig;

/// Removes all parts of the answers that refer to the given limit: the answer to rejections by this limit, and headers that report its
/// state. In bodies, the fields of this limit become `null`.
pub(super) fn without(mut answers: AnswersConfig, limit: &str) -> AnswersConfig {
    answers.reject.remove(limit);
    let begin = format!("{{{limit}.");
    drop_headers(&mut answers.every.headers, &begin);
    for response in
        [&mut answers.accepted, &mut answers.conflict].into_iter().chain(answers.reject.values_mut())
    {
        drop_headers(&mut response.headers, &begin);
        if let Some(body) = &mut response.body {
            *body = with_nulls(body, &begin);
        }
    }
    answers
}

fn drop_headers(headers: &mut BTreeMap<String, String>, begin: &str) {
    headers.retain(|_, template| !template.contains(begin));
}

fn with_nulls(body: &str, begin: &str) -> String {
    let (mut written, mut rest) = (String::new(), body);
    while let Some(at) = rest.find(begin) {
        let Some(length) = rest[at..].find('}') else { break };
        written.push_str(&rest[..at]);
        written.push_str("null");
        rest = &rest[at + length + 1..];
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::ResponseConfig;

    #[test]
    fn answers_do_not_report_a_limit_that_is_off() {
        let headers = |names: &[&str]| -> BTreeMap<String, String> {
            names.iter().map(|name| ((*name).to_owned(), format!("{{{name}.limit}}"))).collect()
        };
        let response = |body: &str| ResponseConfig {
            headers: headers(&["a", "b"]),
            body: Some(body.to_owned()),
            ..ResponseConfig::default()
        };
        let mut answers = AnswersConfig {
            accepted: response("{a.used}/{b.used_s:up}, {b.limit}"),
            ..AnswersConfig::default()
        };
        answers.reject = [("a", response("{b.limit}")), ("b", response(""))]
            .into_iter()
            .map(|(name, response)| (name.to_owned(), response))
            .collect();
        answers.every.headers = headers(&["b"]);
        let answers = without(answers, "b");
        assert_eq!(answers.accepted.body.as_deref(), Some("{a.used}/null, null"));
        assert_eq!(answers.accepted.headers, headers(&["a"]));
        assert_eq!(answers.reject.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(answers.reject["a"].body.as_deref(), Some("null"));
        assert!(answers.every.headers.is_empty());
    }
}
