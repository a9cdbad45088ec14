//! What was measured, and when: the line below the answer.

use std::fmt::Write as _;

use maud::{Markup, html};
use serde_json::Value;

use super::repeat::seeds;
use crate::report::document::Document;
use crate::report::number::number;
use crate::report::reading::look;
use crate::report::strategy::Strategy;

/// More settings than this are not told on the first screen: the configurations stand below.
const MOST: usize = 3;

/// The line; nothing without runs.
pub(super) fn measured(document: &Document) -> Markup {
    // Strategies that met the same, with the earliest of when they did.
    let mut met: Vec<(String, Option<&str>)> = Vec::new();
    for strategy in &document.strategies {
        let (words, begun) = (setting(strategy), begun(strategy));
        match met.iter_mut().find(|(there, _)| *there == words) {
            Some((_, first)) => *first = [*first, begun].into_iter().flatten().min(),
            None => met.push((words, begun)),
        }
    }
    let at = |(words, begun): (String, Option<&str>)| match begun {
        Some(at) => format!("{words}; begun {at}"),
        None => words,
    };
    let mut told: Vec<String> = met.into_iter().map(at).collect();
    if told.is_empty() {
        let reproduced = document.scenarios.iter().any(|scenario| scenario.sweep.is_none());
        let below =
            reproduced.then_some("What was measured stands below, scenario by scenario, with its source.");
        let begun = document.started_at.as_ref().map(|at| format!("HTTP, begun {at}."));
        let words: Vec<String> = below.map(ToOwned::to_owned).into_iter().chain(begun).collect();
        return html! { @if !words.is_empty() { p class="measured" { (words.join(" ")) } } };
    }
    let more = told.len().saturating_sub(MOST);
    told.truncate(MOST);
    if more > 0 {
        told.push(format!("and {more} other settings: see their configurations below."));
    }
    html! {
        p class="measured" {
            @for (index, line) in told.iter().enumerate() {
                @if index > 0 { br; "\n" }
                (line)
            }
        }
    }
}

/// What one strategy met: the work, the server, how and when.
fn setting(strategy: &Strategy) -> String {
    let run = strategy.median();
    let config = look(&run.raw, "config").cloned().unwrap_or_default();
    let mut parts = vec![work(&config), server(&run.mode, &config)];
    parts.push(how(strategy, &config));
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    look(value, path)?.as_str()
}

fn figure(value: &Value, path: &str) -> Option<String> {
    look(value, path)?.as_f64().map(number)
}

/// What was to be done.
pub(super) fn work(config: &Value) -> String {
    let mut words = Vec::new();
    words.extend(figure(config, "workload.ops").map(|ops| format!("{ops} ops")));
    words.extend(text(config, "workload.duration").map(|time| format!("for {time}")));
    let arrivals = text(config, "workload.arrivals").unwrap_or_default();
    words.extend(figure(config, "workload.rate_per_s").map(|rate| format!("{arrivals} {rate}/s")));
    words.extend(figure(config, "workload.in_flight").map(|ops| format!("at most {ops} at once")));
    // Files that do not say have none.
    if let Some(clients) =
        figure(config, "workload.clients").filter(|clients| !["0", "1"].contains(&clients.as_str()))
    {
        words.push(format!("{clients} clients"));
    }
    words.join(", ")
}

/// Whom it met.
pub(super) fn server(mode: &str, config: &Value) -> String {
    let model = look(config, "server_model").filter(|model| model.is_object());
    let target = text(config, "target").map(|target| format!(" at {target}")).unwrap_or_default();
    let Some(model) = model else {
        let server = text(config, "server").unwrap_or("a server that nobody knows");
        return format!("against {server}");
    };
    let time = |key| text(model, key).unwrap_or("–").to_owned();
    // One that was started for a run had any port that was free.
    let chance = mode == "simulated" || text(config, "server") == Some("embedded");
    let place = if chance { String::new() } else { target };
    let status = figure(model, "reject_status").unwrap_or_default().replace('\u{a0}', "");
    let network = time("network_delay");
    // Every other policy has limits and times of its own, which stand in its words: those of the model mean nothing to it.
    if let Some(policy) = text(model, "policy").filter(|policy| *policy != "concurrency-cap") {
        return format!("against a mock server{place} ({policy}): rejections {status}, network {network}");
    }
    let slots = figure(model, "max_busy").unwrap_or_default();
    let slot = if look(model, "rejects_occupy").and_then(Value::as_bool) == Some(true) {
        ", holding a slot"
    } else {
        ""
    };
    format!(
        "against a mock server{place}: {slots} slots, service {}, rejections {status} after {}{slot}, network {network}",
        time("service_time"),
        time("reject_time"),
    )
}

/// When the first of its runs began, over HTTP.
fn begun(strategy: &Strategy) -> Option<&str> {
    strategy.runs.iter().filter_map(|run| text(&run.raw, "started_at")).min()
}

/// Simulated or over HTTP, and how often.
fn how(strategy: &Strategy, config: &Value) -> String {
    let scale = look(config, "time_scale").and_then(Value::as_f64).filter(|scale| (scale - 1.0).abs() > 1e-9);
    let mut words = match strategy.median().mode.as_str() {
        "simulated" => "simulated, in virtual time".to_owned(),
        mode => mode.to_uppercase(),
    };
    if let Some(scale) = scale {
        let _ = write!(words, ", time × {}", number(scale));
    }
    format!("{words}, {} {}", if strategy.runs.len() == 1 { "seed" } else { "seeds" }, seeds(strategy))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn met(policy: &str) -> String {
        let model = json!({
            "policy": policy, "max_busy": 50, "service_time": "500ms", "reject_time": "50ms", "reject_status": 503,
            "rejects_occupy": true, "network_delay": "100ms"
        });
        server("simulated", &json!({ "server": "simulated", "server_model": model }))
    }

    #[test]
    fn a_policy_without_slots_is_told_without_what_it_has_no_use_for() {
        assert_eq!(
            met("overwhelmed-queue:capacity=6"),
            "against a mock server (overwhelmed-queue:capacity=6): rejections 503, network 100ms"
        );
        assert_eq!(
            met("concurrency-cap"),
            "against a mock server: 50 slots, service 500ms, rejections 503 after 50ms, holding a slot, network 100ms"
        );
    }

    #[test]
    fn clients_are_left_out_where_a_file_does_not_say() {
        let told = |clients: u32| work(&json!({ "workload": { "ops": 10, "clients": clients } }));
        assert_eq!([0, 1, 2].map(told), ["10 ops", "10 ops", "10 ops, 2 clients"]);
    }
}
