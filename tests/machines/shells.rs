//! Tests of the completions and man pages of both programs.

use std::process::{Command, Stdio};

use crate::support::{Folder, skipped};

const LOADGEN: &str = env!("CARGO_BIN_EXE_loadgen");
const MOCKSERVER: &str = env!("CARGO_BIN_EXE_mockserver");

fn told(program: &str, args: &str) -> String {
    let output = Command::new(program).args(args.split_whitespace()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{args}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the output of a shell; `None` if the shell is not installed.
fn shell(name: &str, args: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(name).args(args).output() else {
        skipped(&format!("there is no {name}"));
        return None;
    };
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

fn subcommands() -> Vec<String> {
    let help = told(LOADGEN, "-h");
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let (list, _) = rest.split_once("\n\n").unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> = names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    assert!(names.len() >= 9 && names.iter().any(|name| name == "compare"), "{names:?}");
    names
}

#[test]
fn every_shell_gets_a_script_for_the_whole_command_line() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = told(LOADGEN, &format!("completions {shell}"));
        for word in ["max-busy", "compare"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        let script = told(MOCKSERVER, &format!("completions {shell}"));
        for word in ["max-busy", "mockserver", "presets"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        let completes_values = matches!(shell, "bash" | "zsh" | "fish");
        assert_eq!(script.contains("aws-api-gateway"), completes_values, "{shell}");
        assert_eq!(told(MOCKSERVER, &format!("--completions {shell}")), script);
    }
    for (program, args) in [(LOADGEN, "completions bash"), (MOCKSERVER, "completions bash")] {
        folder.write("script", &told(program, args));
        shell("bash", &["-n", folder.path("script").to_str().unwrap()]);
    }
}

/// Command lines, and the word to which every shell completes the last word.
const COMPLETED: [(&str, &str); 11] = [
    ("loadgen --arri", "--arrivals"),
    ("loadgen --arrivals p", "poisson"),
    ("loadgen --strategy aim", "aimd"),
    ("loadgen compare --strategies equal", "equal-jitter"),
    ("loadgen strategies deco", "decorrelated-jitter"),
    ("loadgen reproduce sync", "sync-musings"),
    ("loadgen plot --figure windo", "window"),
    ("loadgen --policy overw", "overwhelmed-queue"),
    ("loadgen sweep --policy descr", "descriptor-pool"),
    ("loadgen --preset cloudf", "cloudflare-api"),
    ("loadgen compare --preset kub", "kubernetes"),
];

#[test]
fn bash_completes_subcommands_flags_and_names() {
    let complete = |words: &str| {
        let script = format!(
            "source <('{LOADGEN}' completions bash); COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _loadgen loadgen \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        shell("bash", &["-c", &script])
    };
    for (words, offered) in COMPLETED.into_iter().chain([("loadgen comp", "compare completions")]) {
        let Some(reply) = complete(words) else { return };
        assert_eq!(reply.trim(), offered, "{words}");
    }
}

#[test]
fn fish_completes_subcommands_flags_and_names() {
    let folder = Folder::new();
    let home = folder.path(".");
    for (words, offered) in COMPLETED.into_iter().chain([("loadgen comp", "compare\ncompletions")]) {
        let script = format!(
            "set -x HOME '{}'; '{LOADGEN}' completions fish | source; complete -C '{words}' | cut -f1",
            home.display()
        );
        let Some(reply) = shell("fish", &["--no-config", "-c", &script]) else { return };
        assert_eq!(reply.trim(), offered, "{words}");
    }
}

/// Types into a zsh on a terminal of its own, presses the tab key and then the return key. `loadgen` is a function
/// there that prints its arguments.
#[test]
fn zsh_completes_subcommands_flags_and_names() {
    let folder = Folder::new();
    folder.write("_loadgen", &told(LOADGEN, "completions zsh"));
    folder.write(
        "type.zsh",
        "zmodload zsh/zpty
cd $1; shift
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell \"PROMPT=; RPROMPT=; fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -D -u\"
zpty -w shell 'bindkey \"^I\" complete-word; loadgen() { print -r -- \"<<${(j: :)@}>>\" }'
zpty -w shell 'print rea\"\"dy'
zpty -r shell seen '*ready*'
for words; do
    zpty -w shell \"$words\"$'\\t'
    zpty -r shell seen '*<<*>>*'
    print -r -- \"${${seen##*<<}%%>>*}\"
done
zpty -d shell
",
    );
    let (script, place) = (folder.path("type.zsh"), folder.path("."));
    let mut args = vec!["-f", script.to_str().unwrap(), place.to_str().unwrap()];
    args.extend(COMPLETED.iter().map(|(words, _)| *words));
    let Some(reply) = shell("zsh", &args) else { return };
    let replies: Vec<&str> = reply.lines().map(str::trim).collect();
    let whole = |(words, offered): (&str, &str)| {
        let (before, _) = words.rsplit_once(' ').unwrap();
        format!("{before} {offered}").trim_start_matches("loadgen ").to_owned()
    };
    assert_eq!(replies, COMPLETED.map(whole));
}

#[test]
fn the_man_page_names_every_subcommand_and_each_has_a_page() {
    let folder = Folder::new();
    let page = told(LOADGEN, "man");
    assert!(page.contains(".TH loadgen 1") && page.contains("\\-\\-max\\-busy"), "{page}");
    folder.done("man --output pages/man1");
    let names = subcommands().into_iter().filter(|name| name != "help");
    let mut expected = vec!["loadgen.1".to_owned()];
    for name in names {
        assert!(page.contains(&format!("loadgen\\-{name}(1)")), "{name}");
        let own = folder.read(&format!("pages/man1/loadgen-{name}.1"));
        assert!(own.contains(&format!("loadgen {name}")), "{own}");
        expected.push(format!("loadgen-{name}.1"));
    }
    expected.sort();
    let there = std::fs::read_dir(folder.path("pages/man1")).unwrap();
    let mut there: Vec<String> =
        there.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    there.sort();
    assert_eq!(there, expected);
    assert_eq!(folder.read("pages/man1/loadgen.1"), page);
    folder.write("file", "");
    let ended = folder.loadgen("man --output file/pages");
    assert!(ended.code == Some(74) && ended.stderr.contains("`file/pages` (--output)"), "{ended:?}");
    let page = told(MOCKSERVER, "man");
    assert!(
        page.contains(".SH SYNOPSIS\n\\fBmockserver\\fR [OPTIONS]\n.br\n\\fBmockserver\\fR <COMMAND>\n"),
        "{page}"
    );
    assert_eq!(told(MOCKSERVER, "--man"), page);
    for flag in told(MOCKSERVER, "-h").split_whitespace().filter_map(|word| word.strip_prefix("--")) {
        let flag: String = flag.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
        assert!(page.contains(&flag.replace('-', "\\-")), "{flag}");
    }
}

#[test]
fn a_closed_stdout_is_no_error_and_a_full_one_is() {
    for (program, args) in [
        (LOADGEN, "completions bash"),
        (LOADGEN, "man"),
        (LOADGEN, "schema"),
        (MOCKSERVER, "--completions zsh"),
        (MOCKSERVER, "--man"),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(program);
        let output =
            command.args(args.split_whitespace()).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{args}: {output:?}");
    }
    for (program, args) in [(LOADGEN, "man"), (MOCKSERVER, "--man"), (MOCKSERVER, "--completions bash")] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let mut command = Command::new(program);
        let output =
            command.args(args.split_whitespace()).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(74) && told.contains("stdout cannot be written"),
            "{args}: {told}"
        );
    }
    let ended = Command::new(MOCKSERVER).args(["--man", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "it either serves or tells");
}
