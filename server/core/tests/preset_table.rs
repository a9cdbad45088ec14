//! The table of presets in docs/servers.md is what the presets' files say.
//!
//! `WRITE_DOCS=1 cargo test -p mockserver-core --test preset_table` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use mockserver_core::{Fact, ServerPreset, server_presets};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/servers.md");

/// What stands around the table.
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

/// The statuses of rejections; marked where nothing that was read says so.
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

#[test]
fn the_table_of_presets_is_what_their_files_say() {
    let page = fs::read_to_string(FILE).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the place where the table begins");
    let (found, after) = rest.split_once(END).expect("the place where the table ends");
    let table = table();
    if std::env::var_os("WRITE_DOCS").is_some() {
        fs::write(FILE, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    let words =
        "`WRITE_DOCS=1 cargo test -p mockserver-core --test preset_table` writes docs/servers.md anew";
    assert!(found == table, "{words}");
}
