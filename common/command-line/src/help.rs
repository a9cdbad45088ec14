//! Help texts and man pages of `mockserver` and `loadgen`. `-h` lists the most used flags, `--help` lists all.

use std::io;

use clap::Command;
use clap_mangen::Man;

/// Makes `-h` list only the flags whose long names are in `flags`, in this order. `--help` lists all other flags after them.
#[must_use]
pub fn most_used(command: Command, flags: &[&str]) -> Command {
    command.mut_args(|arg| {
        if arg.is_positional() {
            return arg;
        }
        match flags.iter().position(|flag| Some(*flag) == arg.get_long()) {
            Some(place) => arg.help_heading(None).display_order(place),
            None => arg.hide_short_help(true),
        }
    })
}

pub fn pointer_to_all(command: &Command) -> String {
    let mut command = command.clone();
    command.build();
    let flags = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
    format!("`--help` lists all {} flags.", flags.count())
}

/// Returns the man page of a command, which must be built. The synopsis of the page is the usage line instead of a list of every flag.
///
/// # Errors
/// Never fails in practice, because the page is written to memory.
pub fn man_page(command: &Command) -> io::Result<Vec<u8>> {
    let usage = command.clone().render_usage().to_string();
    // Flags that `-h` hides are made visible first, because the renderer of man pages omits the texts of hidden flags.
    let listed = command.clone().mut_args(|arg| arg.hide_short_help(false));
    let page = Man::new(listed.override_usage(usage.trim_start_matches("Usage:").to_owned()));
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(text)
}

#[must_use]
pub fn with_first_examples(command: Command) -> Command {
    const SHOWN: usize = 3;
    let Some(end) = command.get_after_long_help().map(ToString::to_string) else { return command };
    let examples = end.split("\n\n").next().unwrap_or_default();
    let (mut shown, mut count) = (Vec::new(), 0);
    for line in examples.lines() {
        count += usize::from(line.starts_with("  ") && !line.starts_with("   "));
        if count > SHOWN {
            break;
        }
        shown.push(line);
    }
    command.after_help(shown.join("\n"))
}

/// Returns the examples of a help text that start with `program`, each split into words in the same way as a shell splits them. Used by the
/// tests of `mockserver` and `loadgen`.
#[doc(hidden)]
pub fn examples(text: &str, program: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", "");
    let lines = joined.lines().map(str::trim);
    let commands = lines.filter(|line| line.split(' ').next() == Some(program));
    commands.map(|line| words(line.split(" | ").next().unwrap_or_default())).collect()
}

fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars().chain([' ']) {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            letter => word.push(letter),
        }
    }
    words
}
