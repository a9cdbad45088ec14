//! Loading of scenarios for commands. Scenarios are built in or come from a file, and are checked against the available figures and plots.

use std::path::Path;

use anyhow::Context;
use shell::files::reading::{SMALL, text_of};

use crate::scenario::{Cell, Scenario, Text, embedded};

#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    Name(&'a str),
    File(&'a Path),
}

pub fn load(source: Source<'_>, settings: &[String]) -> anyhow::Result<(Scenario, Vec<Cell>)> {
    let text = match source {
        Source::Name(name) => embedded(name)?,
        Source::File(path) => {
            let name = path.display().to_string();
            let text = text_of(path, SMALL).with_context(|| format!("cannot read `{name}` (--scenario)"))?;
            Text { name, text }
        }
    };
    Ok(crate::scenario::load(&text, settings)?)
}
