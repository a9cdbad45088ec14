//! Test that the tables in docs/servers.md and docs/clients-here.md agree with the preset files.
//!
//! `WRITE_DOCS=1 cargo test -p tailback-mockserver-core --test preset_table` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use mockserver_core::{Fact, ServerPreset, server_presets};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

const BEGIN: &str = "<!-- presets: written by server/core/tests/preset_table.rs -->\n";
const END: &str = "<!-- end of presets -->\n";

fn table() -> String {
    let mut text = String::from("| `--preset` | server | limits | rejects with |\n|---|---|---|---|\n");
    for preset in server_presets() {
        let limits: Vec<String> = preset.limits.iter().map(limit).collect();
        let (name, title) = (&preset.name, &preset.title);
        let _ = writeln!(text, "| `{name}` | {title} | {} | {} |", limits.join("; "), statuses(preset));
    }
    text
}

fn limit(limit: &mockserver_core::Limit) -> String {
    let mark = if limit.verified { "" } else { "\\*" };
    format!("`{}`{mark}: {}", limit.name, limit.about)
}

/// Returns the statuses of rejections. Those that no verified fact states are marked.
fn statuses(preset: &ServerPreset) -> String {
    let is_read = |name: &str| {
        let of = |fact: &&Fact| fact.of == format!("reject.{name}");
        preset.facts.iter().filter(of).any(|fact| fact.verified)
    };
    let mut told: BTreeMap<u16, bool> = BTreeMap::new();
    for (name, response) in &preset.reject {
        if let Some(status) = response.status {
            *told.entry(status).or_default() |= is_read(name);
        }
    }
    let mark = |(status, is_read): (u16, bool)| format!("{status}{}", if is_read { "" } else { "\\*" });
    told.into_iter().map(mark).collect::<Vec<_>>().join(", ")
}

/// Returns every setting that points a client here. Environment variables come first, because they need no change of a program.
fn clients() -> String {
    let mut text = String::from(
        "| client | setting, URL = `http://127.0.0.1:8503` | `--preset` | source |\n|---|---|---|---|\n",
    );
    for variables in [true, false] {
        for preset in server_presets() {
            for base_url in preset.base_urls.iter().filter(|base_url| base_url.is_variable() == variables) {
                let set = base_url
                    .set
                    .replace("{url}", "URL")
                    .replace("{host}", "127.0.0.1")
                    .replace("{port}", "8503");
                let (client, name, source) = (&base_url.client, &preset.name, &base_url.source);
                let _ = writeln!(text, "| {client} | `{set}` | `{name}` | {source} |");
            }
        }
    }
    text
}

/// Compares a table with the one in a page of the documentation. With `WRITE_DOCS`, writes it there instead.
fn check(page: &str, table: &str) {
    let file = format!("{DOCS}/{page}");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the comment before the table");
    let (found, after) = rest.split_once(END).expect("the comment after the table");
    if std::env::var_os("WRITE_DOCS").is_some() {
        fs::write(file, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    let words =
        "`WRITE_DOCS=1 cargo test -p tailback-mockserver-core --test preset_table` writes the tables anew";
    assert!(found == table, "docs/{page}: {words}");
}

#[test]
fn the_table_of_presets_is_current() {
    check("servers.md", &table());
}

#[test]
fn the_table_of_clients_is_current() {
    check("clients-here.md", &clients());
}
