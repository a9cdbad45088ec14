//! Line below the answer of the report: what was measured, and when.

use std::fmt::Write as _;

use maud::{Markup, html};
use results::{ConfigRecord, Mode, RunResult, ServerModel, Setting};

use super::repeat::seeds;
use crate::report::{Document, Strategy, number};

/// Maximum number of settings listed on the first screen of the report. Configurations are listed further down.
const MOST: usize = 3;

pub(super) fn measured(document: &Document) -> Markup {
    // Distinct settings in which the strategies were measured, each with a start time. If several strategies were
    // measured in one setting, the earliest of their start times is kept.
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
    let mut lines: Vec<String> = met.into_iter().map(at).collect();
    if lines.is_empty() {
        let below = document
            .reproduced()
            .next()
            .map(|_| "The measured runs are listed below, by scenario, with their source.".to_owned());
        let begun = document.started_at.as_ref().map(|at| format!("HTTP, begun {at}."));
        let words: Vec<String> = below.into_iter().chain(begun).collect();
        return html! { @if !words.is_empty() { p class="measured" { (words.join(" ")) } } };
    }
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    if more > 0 {
        lines.push(format!("and {more} other settings: see their configurations below."));
    }
    html! {
        p class="measured" {
            @for (index, line) in lines.iter().enumerate() {
                @if index > 0 { br; "\n" }
                (line)
            }
        }
    }
}

fn setting(strategy: &Strategy) -> String {
    let result = &strategy.median().result;
    let load = result.load.clone().unwrap_or_default();
    let parts = [work(&result.config), load, server(result.mode, &result.config), how(strategy, result)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

pub(super) fn work(config: &ConfigRecord) -> String {
    let workload = &config.workload;
    let mut words = Vec::new();
    words.extend(workload.ops.map(|ops| format!("{} ops", number(ops as f64))));
    words.extend(workload.duration.as_ref().map(|time| format!("for {time}")));
    let rate = workload.rate.clone().or_else(|| Some(format!("{}/s", number(workload.rate_per_s?))));
    words.extend(rate.map(|rate| format!("{} {rate}", workload.arrivals)));
    words.extend(workload.in_flight.map(|ops| format!("at most {} at once", number(f64::from(ops)))));
    // The number of clients is 0 if a result file does not contain it.
    if workload.clients > 1 {
        words.push(format!("{} clients", number(f64::from(workload.clients))));
    }
    let more = |key: &str| workload.more.get(key);
    words.extend(more("api_keys").and_then(Setting::number).map(|keys| format!("{} API keys", number(keys))));
    words.extend(more("mix").and_then(Setting::text).map(|mix| format!("requests {mix}")));
    words.extend(more("rejected_when").map(|when| format!("{} rejected, too", typed(when))));
    words.extend(more("success").map(|statuses| format!("{} as success", typed(statuses))));
    words.join(", ")
}

fn typed(setting: &Setting) -> String {
    setting.text().map_or_else(|| setting.to_string(), ToOwned::to_owned)
}

fn troubles(model: &ServerModel) -> String {
    let names = [("schedule", "schedule"), ("fault", "faults"), ("caps", "caps"), ("outages", "outages")];
    let troubles = names.map(|(key, name)| (name, text(model, key).unwrap_or_default()));
    let troubles = troubles.iter().filter(|(_, text)| !text.is_empty());
    troubles.map(|(name, text)| format!(", {name} {text}")).collect::<Vec<_>>().concat()
}

pub(super) fn server(mode: Mode, config: &ConfigRecord) -> String {
    let Some(model) = &config.server_model else {
        let server = Some(config.server.as_str()).filter(|server| !server.is_empty());
        return format!("against {}", server.unwrap_or("an unknown server"));
    };
    // A server started for the run has an arbitrary free port, which is not shown.
    let by_chance = mode == Mode::Simulated || config.server == "embedded";
    let target = config.target.as_ref().filter(|_| !by_chance);
    let place = target.map(|target| format!(" at {target}")).unwrap_or_default();
    let time = |key| text(model, key).unwrap_or("–");
    let count = |key| model.get(key).and_then(Setting::number).map(number).unwrap_or_default();
    let status = count("reject_status");
    let noise = config.delay_noise.as_ref().filter(|noise| *noise != "0s");
    let noise = noise.map(|noise| format!(" + up to {noise} of noise")).unwrap_or_default();
    let network = format!("{}{noise}", time("network_delay"));
    let troubles = troubles(model);
    // The description of the server names its preset instead of the preset's policies, because their text is long. The
    // status of rejections is left out, because a preset defines its own status.
    if let Some(preset) = text(model, "preset") {
        let scale = model.get("scale").and_then(Setting::number).filter(|scale| (scale - 1.0).abs() > 1e-9);
        let scale = scale.map(|scale| format!(" × {}", number(scale))).unwrap_or_default();
        return format!("against a mock server{place} (preset {preset}{scale}): network {network}{troubles}");
    }
    // A policy other than the concurrency cap defines its own limits and times. It ignores the limits and times of the
    // server model, so the description leaves them out.
    if let Some(policy) = text(model, "policy").filter(|policy| *policy != "concurrency-cap") {
        return format!(
            "against a mock server{place} ({policy}): rejections {status}, network {network}{troubles}"
        );
    }
    let slot =
        if model.get("rejects_occupy") == Some(&Setting::Truth(true)) { ", holding a slot" } else { "" };
    // In a sweep, the server model lacks the keys that the sweep varies. Therefore each of the following parts of the
    // text may be missing.
    let parts = [
        model.get("max_busy").map(|_| format!("{} slots", count("max_busy"))),
        text(model, "service_time").map(|time| format!("service {time}")),
        text(model, "reject_time").map(|time| format!("rejections {status} after {time}{slot}")),
        text(model, "network_delay").map(|_| format!("network {network}{troubles}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("against a mock server{place}: {}", parts.join(", "))
}

fn text<'a>(model: &'a ServerModel, key: &str) -> Option<&'a str> {
    model.get(key)?.text()
}

fn begun(strategy: &Strategy) -> Option<&str> {
    strategy.runs.iter().filter_map(|run| run.result.started_at.as_deref()).min()
}

fn how(strategy: &Strategy, result: &RunResult) -> String {
    let mut words = match result.mode {
        Mode::Simulated => "simulated, in virtual time".to_owned(),
        Mode::Http => "HTTP".to_owned(),
    };
    let scale = result.config.time_scale;
    if (scale - 1.0).abs() > 1e-9 {
        let _ = write!(words, ", time × {}", number(scale));
    }
    format!("{words}, {} {}", if strategy.runs.len() == 1 { "seed" } else { "seeds" }, seeds(strategy))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(policy: &str) -> String {
        let config = format!(
            r#"{{ "server": "simulated", "server_model": {{
                "policy": "{policy}", "max_busy": 50, "service_time": "500ms", "reject_time": "50ms", "reject_status": 503,
                "rejects_occupy": true, "network_delay": "100ms"
            }} }}"#
        );
        server(Mode::Simulated, &results::read(&config).unwrap())
    }

    #[test]
    fn a_policy_without_slots_is_described_without_unused_values() {
        assert_eq!(
            met("overwhelmed-queue:capacity=6"),
            "against a mock server (overwhelmed-queue:capacity=6): rejections 503, network 100ms"
        );
        assert_eq!(
            met("concurrency-cap"),
            "against a mock server: 50 slots, service 500ms, rejections 503 after 50ms, holding a slot, network 100ms"
        );
        assert_eq!(
            server(Mode::Http, &ConfigRecord::default()),
            "against an unknown server",
            "a file that does not say"
        );
    }

    #[test]
    fn presets_are_named_and_faults_are_listed() {
        let config = r#"{ "server": "simulated", "server_model": {
            "policy": "primary=fixed-window then concurrency", "preset": "github", "scale": 0.02, "reject_status": 503,
            "network_delay": "100ms", "schedule": "10s down; 20s up", "fault": "reset:1%", "caps": ""
        } }"#;
        assert_eq!(
            server(Mode::Simulated, &results::read(config).unwrap()),
            "against a mock server (preset github × 0.02): network 100ms, schedule 10s down; 20s up, faults reset:1%"
        );
        let config = r#"{ "workload": { "ops": 10, "mix": "GET /a; POST /b", "api_keys": 3, "rejected_when": "403" } }"#;
        assert_eq!(
            work(&results::read(config).unwrap()),
            "10 ops, 3 API keys, requests GET /a; POST /b, 403 rejected, too"
        );
    }

    #[test]
    fn clients_are_left_out_where_a_file_does_not_say() {
        let of = |clients: u32| {
            let config = format!(r#"{{ "workload": {{ "ops": 10, "clients": {clients} }} }}"#);
            work(&results::read(&config).unwrap())
        };
        assert_eq!([0, 1, 2].map(of), ["10 ops", "10 ops", "10 ops, 2 clients"]);
    }
}
