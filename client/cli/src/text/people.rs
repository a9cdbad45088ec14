//! Output of command summaries. Control characters in texts that come from outside the program are escaped, so that the terminal does not
//! obey them.

use vocabulary::printable;

use crate::files::output::to_stdout;
use crate::text::stderr::to_stderr;

pub(crate) fn to_people(text: &str, stdout_is_claimed: bool) -> anyhow::Result<()> {
    if stdout_is_claimed {
        to_stderr(text);
        return Ok(());
    }
    to_stdout(printable(text).as_bytes())
}

/// Writes text to stdout, with its first non-empty line in bold.
pub(crate) fn titled(text: &str) -> anyhow::Result<()> {
    let shown = printable(text);
    let title = shown.trim_start_matches('\n');
    let (before, (title, rest)) =
        (&shown[..shown.len() - title.len()], title.split_once('\n').unwrap_or((title, "")));
    to_stdout(format!("{before}\u{1b}[1m{title}\u{1b}[0m\n{rest}").as_bytes())
}
