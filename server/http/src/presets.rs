//! Presets in full: limits, answers, settings for clients, and the source of every figure.

use std::fmt::Write as _;

use mockserver_core::{
    BaseUrl, EveryConfig, Expanded, Fact, Limit, ResponseConfig, ServerPreset, ServerPresetUseError, expand,
    server_presets,
};
use serde::Serialize;

use crate::wrap::{USUAL, wrapped};

const UNVERIFIED: &str = "not verified";

#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    name: &'static str,
    title: &'static str,
    limits: Vec<&'static str>,
    verified: bool,
}

pub(crate) fn listed() -> Vec<Listed> {
    let short = |preset: &'static ServerPreset| Listed {
        name: &preset.name,
        title: &preset.title,
        limits: preset.limits.iter().map(|limit| &*limit.about).collect(),
        verified: preset.is_verified(),
    };
    server_presets().iter().map(short).collect()
}

pub(crate) fn list() -> String {
    let mut text = String::new();
    let widest = server_presets().iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    for preset in listed() {
        let _ = writeln!(text, "  {:<widest$}  {}", preset.name, preset.title);
        let rest = " ".repeat(widest + 6);
        text += &wrapped(&preset.limits.join("; "), &rest, &rest, USUAL);
    }
    text.push('\n');
    text += &wrapped(
        "`mockserver presets NAME` prints the limits, answers and sources of one preset. `mockserver \
         --preset NAME` imitates that server, and with `--scale 0.02` it has a fiftieth of its limits. \
         `--preset 'NAME:LIMIT=off,LIMIT.PARAMETER=VALUE'` switches a limit off or changes it. `loadgen` \
         has the same flags.",
        "",
        "",
        USUAL,
    );
    text
}

pub(crate) fn explain(typed: &str, scale: Option<f64>) -> Result<String, ServerPresetUseError> {
    let Expanded { preset, policy, answers } = expand(typed, scale)?;
    let mut text = format!("{}: {}\nSources read on {}.\n\n", preset.name, preset.title, preset.read);
    text += "Limits, in the order in which requests pass them\n";
    for policy in policy.iter() {
        if let Some(limit) = preset.limits.iter().find(|limit| policy.label() == Some(&limit.name)) {
            of_limit(limit, &policy.to_string(), &mut text);
        }
    }
    text += "\nAnswers\n";
    of_every(&answers.every, preset, &mut text);
    of_response("accepted", &answers.accepted, preset, &mut text);
    for (name, response) in &answers.reject {
        of_response(&format!("reject.{name}"), response, preset, &mut text);
    }
    if !preset.server.is_empty() {
        text += "\nSettings\n";
        for (key, value) in &preset.server {
            let _ = writeln!(text, "  {key}: {value}");
        }
        sources("server", preset, &mut text);
    }
    for (title, words) in [("Advice to clients", &preset.clients), ("Good to know", &preset.notes)] {
        if let Some(words) = words {
            let _ = write!(text, "\n{title}\n{}", wrapped(words, "  ", "  ", USUAL));
        }
    }
    if !preset.base_urls.is_empty() {
        text += "\nHow to point a client to this server (URL is http://127.0.0.1:8503)\n";
        for BaseUrl { client, set, source } in &preset.base_urls {
            let set = set.replace("{url}", "URL").replace("{host}", "127.0.0.1").replace("{port}", "8503");
            text += &wrapped(&format!("{client}: {set}"), "  ", "      ", USUAL);
            text += &wrapped(&format!("source: {source}"), "      ", "        ", USUAL);
        }
    }
    let scale = scale.map_or_else(String::new, |scale| format!(" --scale {scale}"));
    let typed = if typed == preset.name { typed.to_owned() } else { format!("'{typed}'") };
    let _ = write!(
        text,
        "\nExample\n  mockserver --preset {typed}{scale}\n  loadgen --strategy aimd --preset {typed}{scale} --simulate\n"
    );
    Ok(text)
}

fn of_limit(limit: &Limit, policy: &str, text: &mut String) {
    *text += &wrapped(&format!("{}: {}", limit.name, limit.about), "  ", "      ", USUAL);
    // The name of the limit is removed from the policy, because it is already printed in the first line.
    let policy = policy.split_once('=').map_or(policy, |(_, policy)| policy);
    *text += &wrapped(policy, "      ", "        ", USUAL);
    *text += &wrapped(&source(&limit.source, limit.verified), "      ", "      ", USUAL);
    if let Some(note) = &limit.note {
        *text += &wrapped(note, "      ", "      ", USUAL);
    }
}

fn of_every(every: &EveryConfig, preset: &ServerPreset, text: &mut String) {
    let EveryConfig { headers, advice } = every;
    let response =
        ResponseConfig { headers: headers.clone(), advice: advice.clone(), ..ResponseConfig::default() };
    of_response("every", &response, preset, text);
}

fn of_response(name: &str, response: &ResponseConfig, preset: &ServerPreset, text: &mut String) {
    if *response == ResponseConfig::default() {
        return;
    }
    let status = response.status.map_or_else(String::new, |status| format!(": {status}"));
    let _ = writeln!(text, "  {name}{status}");
    for (header, value) in &response.headers {
        let _ = writeln!(text, "      {header}: {value}");
    }
    if let Some(advice) = &response.advice {
        let _ = writeln!(text, "      advice: {advice}");
    }
    if let Some(body) = &response.body {
        let _ = writeln!(text, "      {}", body.trim_end().replace('\n', "\n      "));
    }
    sources(name, preset, text);
}

fn sources(table: &str, preset: &ServerPreset, text: &mut String) {
    for fact in preset.facts.iter().filter(|fact| fact.of == table) {
        let Fact { about, source: read, verified, .. } = fact;
        *text += &wrapped(&format!("{about}: {}", source(read, *verified)), "      ", "        ", USUAL);
    }
}

fn source(read: &str, verified: bool) -> String {
    match (read, verified) {
        ("", _) => format!("no source, {UNVERIFIED}"),
        (read, true) => format!("source: {read}"),
        (read, false) => format!("source: {read}, {UNVERIFIED}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_listed_and_explained_with_its_sources() {
        let list = list();
        for preset in server_presets() {
            assert!(
                list.contains(&format!("\n  {} ", preset.name))
                    || list.starts_with(&format!("  {} ", preset.name))
            );
            let text = explain(&preset.name, None).unwrap();
            for limit in &preset.limits {
                assert!(text.contains(&format!("  {}: ", limit.name)), "{text}");
                assert!(limit.verified || text.contains(UNVERIFIED), "{text}");
            }
            assert!(text.contains(&format!("--preset {} ", preset.name)), "{text}");
        }
    }

    #[test]
    fn parameters_after_the_name_are_shown() {
        let text = explain("github:points=off,primary.limit=10", Some(0.5)).unwrap();
        assert!(text.contains("fixed-window:limit=10,window=1h"), "{text}");
        assert!(text.contains("concurrency:cap=50,"), "{text}");
        assert!(!text.contains("\n  points: ") && !text.contains("reject.points"), "{text}");
        assert!(text.contains("--preset 'github:points=off,primary.limit=10' --scale 0.5"), "{text}");
        assert!(explain("githup", None).unwrap_err().to_string().contains("did you mean `github`?"));
    }
}
