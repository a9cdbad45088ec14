//! `loadgen judge --list`: the situations of the suite and all rules.

use std::fmt::Write as _;

use crate::rule::Severity;
use crate::rules::RULES;
use crate::suite::Suite;

use shell::text::wrapping::wrapped;

pub(super) fn listing(suite: &Suite) -> String {
    let mut text = "Situations\n".to_owned();
    for situation in &suite.situations {
        let runs = if situation.runs == 1 { String::new() } else { format!(", {} runs", situation.runs) };
        let _ = writeln!(text, "  {:<17}{}{runs}", situation.name, situation.title);
        let _ = writeln!(text, "{}", wrapped(&situation.why, "                   ", "                   "));
    }
    text.push_str("\nRules\n");
    for rule in RULES {
        let severity = match rule.severity {
            Severity::Fail => "fail",
            Severity::Warn => "warn",
        };
        let _ = writeln!(
            text,
            "{}",
            wrapped(
                rule.summary,
                &format!("  {:<23}{severity}  ", rule.name),
                "                               "
            )
        );
    }
    text
}
