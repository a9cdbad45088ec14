//! Answers of servers that are not mockservers: their rate and statuses, percentiles of latency, and a histogram of attempts.

use loadgen_core::{LatencyBar, LatencyFigures};
use maud::{Markup, html};
use results::RunResult;
use results::numbers::{milliseconds, percent, short, thousands};

use crate::report::{Document, LOOKS};

/// Maximum number of bars of a histogram, because a file may contain any number.
const MAX_BARS: usize = 40;

/// Maximum number of statuses of one run.
const MAX_STATUSES: usize = 20;

/// Returns the answers of every strategy's run with the median makespan. The markup is empty for mockservers and for virtual time.
pub(super) fn tables(document: &Document) -> Markup {
    let runs = document.strategies.iter().take(LOOKS).filter_map(|strategy| {
        let result = &strategy.median().result;
        let is_shown = result.is_foreign() && !result.statuses.is_empty();
        is_shown.then_some((strategy, result))
    });
    let runs: Vec<_> = runs.collect();
    let is_repeated = runs.iter().any(|(strategy, _)| strategy.runs.len() > 1);
    html! {
        @if !runs.is_empty() {
            section {
                h2 { "Answers and latency" }
                @for (strategy, result) in &runs {
                    @if document.strategies.len() > 1 { h3 { code { (strategy.label) } } }
                    p { (answers(result)) }
                    @if result.attempt_latency_ms.count > 0 { (percentiles(result)) (histogram(&result.attempt_latency_bars)) }
                }
                @if is_repeated { p class="note" { "Of the run with the median makespan." } }
            }
        }
    }
}

fn answers(result: &RunResult) -> String {
    let mut counts = result.statuses.clone();
    counts.sort_by_key(|count| std::cmp::Reverse(count.attempts));
    let counts = counts.iter().take(MAX_STATUSES);
    let counts: Vec<String> =
        counts.map(|count| format!("{} × {}", count.status, thousands(count.attempts))).collect();
    let rate = result
        .answers_per_s()
        .map_or_else(String::new, |rate| format!("{} answers per second: ", short(rate)));
    format!("{rate}{}", counts.join(", "))
}

fn percentiles(result: &RunResult) -> Markup {
    let ops = Some(&*result.op_latency_ms).filter(|ops| ops.count > 0 && result.ops_took_longer());
    let rows = [("attempts", Some(&result.attempt_latency_ms)), ("ops", ops)];
    html! {
        div class="scroll" {
            table class="points" {
                thead { tr { th { "latency" } @for name in LatencyFigures::UPPER { th { (name) } } } }
                tbody {
                    @for (label, figures) in rows {
                        @if let Some(figures) = figures {
                            tr {
                                td { (label) }
                                @for ms in figures.upper() { td { (ms.map_or_else(|| "–".to_owned(), milliseconds)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn histogram(bars: &[LatencyBar]) -> Markup {
    let bars = &bars[..bars.len().min(MAX_BARS)];
    let most = bars.iter().map(|bar| bar.attempts).max().unwrap_or(0).max(1) as f64;
    let all = bars.iter().map(|bar| bar.attempts as f64).sum::<f64>().max(1.0);
    html! {
        @if !bars.is_empty() {
            div class="scroll" {
                table class="points histogram" {
                    thead { tr { th { "latency up to" } th { "attempts" } th { "share" } th {} } }
                    tbody {
                        @for bar in bars {
                            tr {
                                td { (milliseconds(bar.to_ms)) }
                                td { (thousands(bar.attempts)) }
                                td { (percent(bar.attempts as f64 / all)) }
                                td { span style=(format!("width:{:.2}%", bar.attempts as f64 / most * 100.0)) {} }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(mode: &str, op_p99: f64) -> String {
        let latency =
            |p99: f64| json!({ "count": 9, "mean": 2.0, "p50": 1.0, "p99": p99, "p999": 3.0, "max": 3.0 });
        let run = json!({
            "schema_version": 1, "mode": mode, "strategy": "none", "seed": 1,
            "config": { "server": "http://127.0.0.1:80/", "workload": { "ops": 9, "clients": 1 } },
            "ops": { "total": 9, "succeeded": 8, "given_up": 1 }, "attempts": { "total": 9 }, "makespan_s": 0.03,
            "makespan_complete": false, "statuses": [{ "status": 500, "attempts": 1 }, { "status": 200, "attempts": 8 }],
            "attempt_latency_bars": [{ "to_ms": 2.0, "attempts": 3 }, { "to_ms": 3.0, "attempts": 6 }],
            "attempt_latency_ms": latency(3.0), "success_latency_ms": latency(3.0), "op_latency_ms": latency(op_p99),
        });
        tables(&Document::read(&[("a.json".to_owned(), run.to_string())]).unwrap()).into_string()
    }

    #[test]
    fn a_foreign_servers_answers_percentiles_and_histogram_are_on_the_page() {
        let text = page("http", 3.0);
        for words in
            ["300 answers per second: 200 × 8, 500 × 1", "p99.9", "3.00 ms", "66.7 %", "width:50.00%"]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains(">ops<"), "no op took longer than its attempt: {text}");
        assert!(page("http", 9.0).contains(">ops<"));
        assert_eq!(page("simulated", 3.0), "");
    }
}
