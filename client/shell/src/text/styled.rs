//! Texts with styles. Control characters in texts that come from outside the program are escaped where they enter, so that the terminal
//! does not obey them. Styles are added last, when a text is written, so that widths never include escape codes.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use command_line::{columns_of, fitted};
use vocabulary::printable;

use crate::files::output::to_stdout;
use crate::text::stderr::write_to_stderr;

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const RED: Style = AnsiColor::Red.on_default();

/// Printable text in pieces, each with its style.
#[derive(Clone, Debug, Default)]
pub struct Styled(Vec<(Style, String)>);

impl Styled {
    /// Creates a text whose first non-empty line is bold.
    pub fn titled(text: &str) -> Self {
        let start = text.len() - text.trim_start_matches('\n').len();
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let mut styled = Self::default();
        styled.push_styled(text, start..end, BOLD);
        styled
    }

    pub fn push(&mut self, text: &str) {
        self.push_in(Style::new(), text);
    }

    pub fn push_in(&mut self, style: Style, text: &str) {
        self.0.push((style, printable(text).into_owned()));
    }

    /// Adds text, of which the bytes in `part` have a style.
    pub fn push_styled(&mut self, text: &str, part: Range<usize>, style: Style) {
        self.push(&text[..part.start]);
        self.push_in(style, &text[part.start..part.end]);
        self.push(&text[part.end..]);
    }

    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn rendered(&self, stream: &(impl RawStream + AsFd)) -> String {
        let (has_colours, columns) = (has_colours(stream), columns_of(stream).unwrap_or(usize::MAX));
        let (mut rendered, mut line) = (String::new(), Self::default());
        for (style, text) in &self.0 {
            for part in text.split_inclusive('\n') {
                line.0.push((*style, part.to_owned()));
                if part.ends_with('\n') {
                    rendered += &std::mem::take(&mut line).rendered_line(has_colours, columns);
                }
            }
        }
        rendered + &line.rendered_line(has_colours, columns)
    }

    fn rendered_line(&self, has_colours: bool, columns: usize) -> String {
        let text = self.to_string();
        match fitted(&text, columns) {
            Cow::Borrowed(_) if has_colours => {
                let mut styled = String::new();
                for (style, text) in &self.0 {
                    let _ = write!(styled, "{style}{text}{style:#}");
                }
                styled
            }
            // The places of styles in a broken line are unknown.
            text => text.into_owned(),
        }
    }

    /// Writes the text to stdout, or to stderr if stdout carries data.
    pub fn print(&self, stdout_is_claimed: bool) -> anyhow::Result<()> {
        if stdout_is_claimed {
            write_to_stderr(&self.rendered(&io::stderr()));
            return Ok(());
        }
        to_stdout(self.rendered(&io::stdout()).as_bytes())
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        let mut styled = Self::default();
        styled.push(text);
        styled
    }
}

/// Formats the text without styles.
impl fmt::Display for Styled {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(_, text)| to.write_str(text))
    }
}

/// Sets whether the program and its parser of command lines print colours. With `auto`, `anstream` decides for each stream, by `NO_COLOR`,
/// `CLICOLOR_FORCE` and whether it is a terminal. `anstream` would also print colours on a dumb terminal if the variable `CI` is set.
pub fn choose(choice: clap::ColorChoice) {
    let is_dumb = || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    let is_forced = || std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty());
    match choice {
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Auto if !is_dumb() || is_forced() => ColorChoice::Auto,
        _ => ColorChoice::Never,
    }
    .write_global();
}

pub fn has_colours(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

pub fn to_people(text: &str, stdout_is_claimed: bool) -> anyhow::Result<()> {
    Styled::from(text).print(stdout_is_claimed)
}
