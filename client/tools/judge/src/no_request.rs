//! Error of `loadgen judge` if no situation has a judged request: the reason, and the end of the command's output.

use std::collections::BTreeSet;

use crate::report::Report;

use crate::args::JudgeArgs;
use crate::text;
use shell::exit::{Exit, Fatal};

const OUTPUT_LINES: usize = 10;

const CALLS: usize = 3;

pub(super) fn error(args: &JudgeArgs, judged: &Report, outputs: &[String]) -> anyhow::Error {
    if args.serve {
        let words = "no request reached any of the servers: does the client use their URLs?";
        return Fatal::error(Exit::Unmet, words);
    }
    let calls = other_calls(judged);
    let reason = match (calls.is_empty(), &args.call) {
        (true, _) => "no request reached {url}: does the command use it?".to_owned(),
        (false, Some(_)) => format!("no request matches --call; the command requested {calls}"),
        (false, None) => format!("no request can be judged; the command requested {calls}"),
    };
    let output = outputs.iter().find(|output| !output.trim().is_empty());
    let output = output.map_or_else(
        || "the command wrote nothing".to_owned(),
        |output| {
            let lines: Vec<String> = text::last_lines(output, OUTPUT_LINES)
                .into_iter()
                .map(|line| format!("    | {line}"))
                .collect();
            format!("the end of its output:\n{}", lines.join("\n"))
        },
    );
    Fatal::error(Exit::Unmet, format!("{reason}\n{output}"))
}

fn other_calls(judged: &Report) -> String {
    let runs = judged.situations.iter().flat_map(|situation| &situation.observation.runs);
    let calls: BTreeSet<String> =
        runs.flat_map(|run| &run.others).map(|call| format!("{} {}", call.method, call.target)).collect();
    calls.into_iter().take(CALLS).collect::<Vec<_>>().join(", ")
}
