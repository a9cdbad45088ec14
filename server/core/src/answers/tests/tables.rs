//! Tests of precedence between tables, and of reading and writing them.

use super::*;

#[test]
fn an_answers_own_words_take_the_place_of_those_of_every_answer() {
    let set = set(
        r#"
        [every]
        headers = { a = "every", b = "every" }
        advice = "seconds"
        [accepted]
        status = 201
        body = "done"
        [conflict]
        status = 409
        [reject.first]
        headers = { A = "own" }
        advice = "none"
        [reject.second]
        headers = { retry-after = "later" }
        [reject."*"]
        headers = { c = "{reason}" }
        advice = "ms"
        "#,
        &["first", "second", "third"],
    );
    let limit_statuses = [None; 3];
    let headers = |outcome| said(&set, &context(outcome, &limit_statuses)).1;
    assert_eq!(headers(Outcome::Accepted), ["a: every", "b: every"]);
    assert_eq!(headers(rejected(0, SECOND)), ["a: own", "b: every"]);
    assert_eq!(headers(rejected(1, SECOND)), ["retry-after: later", "a: every", "b: every"]);
    assert_eq!(headers(rejected(2, SECOND)), ["c: third", "retry-after-ms: 1000", "a: every", "b: every"]);
    let by_none = Outcome::Rejected { stage: None, wait: Some(SECOND) };
    assert_eq!(headers(by_none), ["retry-after-ms: 1000", "a: every", "b: every"]);
    assert_eq!(said(&set, &context(Outcome::Conflict, &limit_statuses)).0, Some(409));
    assert_eq!(said(&set, &context(Outcome::Accepted, &limit_statuses)).2, "done");
}

#[test]
fn only_limits_that_an_answer_reports_are_evaluated() {
    let tells = |toml: &str| {
        let set = set(toml, &["primary", "secondary", "third"]);
        [Outcome::Accepted, rejected(1, SECOND)]
            .map(|outcome| [0, 1, 2, 3].map(|stage| set.tells_of(outcome, stage)))
    };
    assert_eq!(tells(GITHUB.split("[reject.secondary]").next().unwrap()), [[false; 4]; 2]);
    assert_eq!(tells("[every.headers]\na = '{primary.used} {now}'"), [[true, false, false, false]; 2]);
    assert_eq!(tells("[reject.'*']\nbody = '{limit} {wait}'"), [[false; 4], [false, true, false, false]]);
    assert_eq!(tells("[accepted]\nadvice = 'ietf'"), [[true, true, true, false], [false; 4]]);
    assert_eq!(tells("[every]\nadvice = 'seconds+problem'\nheaders = { a = '{reason}' }"), [[false; 4]; 2]);
}

#[test]
fn one_advice_takes_the_place_of_all() {
    let config = config(GITHUB).advising("ms");
    let set = AnswerSet::read(&config, ["primary", "secondary"]).unwrap();
    for outcome in [rejected(0, SECOND), rejected(1, SECOND)] {
        let context = context(outcome, &[]);
        assert_eq!(set.header("retry-after-ms", &context, &teller()).as_deref(), Some("1000"));
        assert_eq!((set.header("retry-after", &context, &teller()), set.status(&context)), (None, Some(403)));
    }
}

#[test]
fn whatever_a_stack_calls_its_policies_can_be_named() {
    let stack: crate::Policies = "per_key-1=gcra then gcra then gcra then concurrency:cap=3".parse().unwrap();
    let labels = stack.labels();
    let every = labels.iter().map(|label| (label.clone(), format!("{{{label}.limit}}"))).collect();
    let every = EveryConfig { headers: every, ..EveryConfig::default() };
    let config = AnswersConfig { every, ..AnswersConfig::default() };
    let set = AnswerSet::read(&config, labels.iter().map(String::as_str)).unwrap();
    let limit_statuses = [1, 2, 3, 4].map(|limit| limit_status(limit, 0, SECOND));
    let context = context(Outcome::Accepted, &limit_statuses);
    let values: Vec<_> = labels.iter().map(|label| set.header(label, &context, &teller()).unwrap()).collect();
    assert_eq!(values, ["1", "2", "3", "4"]);
}

#[test]
fn without_tables_answers_add_nothing() {
    let config = AnswersConfig::default();
    assert!(config.is_empty());
    let set = AnswerSet::read(&config, ["a"]).unwrap();
    for outcome in [Outcome::Accepted, Outcome::Conflict, rejected(0, SECOND), rejected(9, SECOND)] {
        assert_eq!(set.render(&context(outcome, &[]), &teller()), Rendered::default());
    }
}

#[test]
fn what_is_written_is_recorded_as_it_was() {
    for text in [GITHUB, ""] {
        let config = config(text);
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<AnswersConfig>(&json).unwrap(), config);
        assert_eq!(toml::from_str::<AnswersConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
    }
    assert_eq!(serde_json::to_string(&AnswersConfig::default()).unwrap(), "{}");
    assert!(
        toml::from_str::<AnswersConfig>("[rejct]").unwrap_err().to_string().contains("unknown field `rejct`")
    );
    assert!(
        toml::from_str::<AnswersConfig>("[accepted]\nbdy = ''").unwrap_err().to_string().contains("`bdy`")
    );
}
