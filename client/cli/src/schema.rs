//! `loadgen schema`: prints the JSON schema of result documents, which is also in `docs/result.schema.json`.

use std::process::ExitCode;

use crate::files::output::to_stdout;

pub(crate) fn print() -> anyhow::Result<ExitCode> {
    let mut text = serde_json::to_string_pretty(&results::schema())?;
    text.push('\n');
    to_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
