//! Test that docs/answers.md agrees with the code.

use super::*;

#[test]
fn the_documentation_is_current() {
    let text = include_str!("../../../../../docs/answers.md");
    for AdviceEntry { name, summary, header, .. } in ADVICE_FORMS {
        let row = format!("| `{name}` | `{header}` | {summary} |");
        assert!(text.contains(&row), "docs/answers.md: {row}");
    }
    let parameters = ADVICE_FORMS.iter().flat_map(AdviceEntry::parameters);
    for key in parameters.map(|parameter| parameter.key) {
        assert!(
            text.contains(&format!("`{key}` ")) || text.contains(&format!("`{key}=")),
            "docs/answers.md: {key}"
        );
    }
    let example = text.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let set = set(example, &["primary", "secondary"]);
    let body = set
        .body(&context(Outcome::Accepted, &[limit_status(5000, 4999, SECOND), None]), &teller())
        .unwrap()
        .into_owned();
    assert_eq!(body, r#"{"resources":{"core":{"limit":5000,"remaining":4999}}}"#);
    let fields = text.lines().skip_while(|line| *line != "| field | value |").skip(2);
    let fields: Vec<&str> = fields.map_while(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let all = format!("{{{}}}", fields.join("}{"));
    assert!(fields.len() == 8 && Template::parse(&all, &[]).is_ok(), "{all}");
}
