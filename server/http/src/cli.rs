//! The `mockserver` program: command line, serving, shutdown.

mod announcement;
pub(crate) mod flags;
mod live;
pub(crate) mod signals;
pub(crate) mod threads;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::StringValueParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use command_line::{most_used, pointer_to_all, suggesting, with_first_examples};
use mockserver_core::{Config, ServerPreset, expand, server_preset_names, server_presets};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::sync::watch;
use vocabulary::TimeScale;

use crate::admin::access::Access;
use crate::admin::token::AdminToken;
use crate::app::App;
use crate::cli::announcement::announcement;
use crate::cli::flags::ServerFlags;
use crate::cli::signals::Signals;
use crate::connection::accept::{Limits, serve};
use crate::connection::{Bounds, listen};
use crate::shared::Shared;
use crate::{alarm, presets};

const EXAMPLES: &str = r#"Examples:
  mockserver --preset openai --scale 0.02
      A fiftieth of OpenAI's limits; `mockserver presets` lists all presets.
  mockserver --max-busy 20 --service-time 'lognormal(200ms,0.3)' \
      --reject-status 429 --retry-after 1s
      20 slots; further requests get 429 with `Retry-After: 1`.
  mockserver --policy token-bucket:rate=10/s,burst=10
      A rate limit instead of slots.
  mockserver --max-busy 50
      The same server as loadgen starts: 50 slots, service time 500 ms, 503.
  mockserver --network-delay 0 --reject-time 0 --service-time 1ms
      A server that answers as fast as it can.
  curl -X PATCH -d '{"max_busy": 20}' http://127.0.0.1:8503/_mock/config
      Changes the running server. GET /_mock/stats returns its counts, and GET
      /metrics returns them for Prometheus.

Exit codes: 2 invalid command line; 74 stdout cannot be written (presets, completions, man); 129, 130 and 143 ended by SIGHUP, SIGINT or SIGTERM.

After the first signal, the server finishes the requests in flight within five seconds. The second signal ends it at once."#;

const COMMON_FLAGS: [&str; 9] = [
    "listen",
    "preset",
    "scale",
    "max-busy",
    "service-time",
    "reject-status",
    "retry-after",
    "policy",
    "quiet",
];

const SERVER: &str = "Server";

/// An HTTP server that throttles: it rejects requests above a limit.
#[derive(Debug, Parser)]
#[command(name = "mockserver", version, after_long_help = EXAMPLES, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// Address to listen on; port 0 selects any free port.
    #[arg(long, value_name = "ADDRESS", default_value = wire::DEFAULT_ADDRESS, value_parser = command_line::address)]
    listen: SocketAddr,

    #[command(flatten)]
    server: ServerFlags,

    /// Seed of random draws for requests that do not send a seed.
    #[arg(long, value_name = "N", default_value_t = Config::default().seed, help_heading = SERVER,
          value_parser = command_line::count::<u64>(0, u64::MAX))]
    seed: u64,

    /// Real seconds per second of the experiment; clients must use the same value.
    #[arg(long, value_name = "F", default_value = "1", value_parser = TimeScale::parse, help_heading = SERVER)]
    time_scale: TimeScale,

    /// Maximum number of open connections; further ones wait to be accepted.
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = SERVER,
          value_parser = clap::builder::RangedU64ValueParser::<u32>::new().range(1..=1_000_000))]
    max_connections: u32,

    /// Maximum number of concurrent streams of an HTTP/2 connection (`SETTINGS_MAX_CONCURRENT_STREAMS`).
    #[arg(long, value_name = "N", default_value_t = Bounds::default().http2_max_streams, help_heading = SERVER,
          value_parser = command_line::count::<u32>(1, 1_000_000))]
    http2_max_streams: u32,

    /// Number of threads that serve requests, at most 256 [default: one per processor].
    #[arg(long, value_name = "N", help_heading = SERVER,
          value_parser = command_line::count::<usize>(1, threads::MOST))]
    threads: Option<usize>,

    /// Open the endpoints under /_mock/ and /metrics to other hosts that send `Authorization: Bearer TOKEN`. `@FILE` reads
    /// the token from a file. Without a value, the token is read from the environment variable `TAILBACK_ADMIN_TOKEN`.
    #[arg(long, value_name = "TOKEN", num_args = 0..=1, default_missing_value = "", help_heading = SERVER)]
    admin_remote: Option<String>,

    /// Let web pages of any origin use the server: allow cross-origin requests (CORS), and answer preflight requests.
    #[arg(long, help_heading = SERVER)]
    cors: bool,

    /// Print only errors.
    #[arg(short, long, help_heading = SERVER)]
    quiet: bool,

    /// Former form of `mockserver completions`.
    #[arg(long, value_name = "SHELL", exclusive = true, hide = true)]
    completions: Option<Shell>,

    /// Former form of `mockserver man`.
    #[arg(long, exclusive = true, hide = true)]
    man: bool,
}

/// Subcommands. Without a subcommand, the program runs the server.
#[derive(Debug, Subcommand)]
enum Command {
    /// List the presets, or show the limits, answers and sources of one preset.
    Presets {
        /// Preset to show, also with changes, such as `github:points=off`.
        #[arg(value_name = "NAME", value_parser = suggesting(StringValueParser::new(), server_preset_names),
              hide_possible_values = true)]
        name: Option<String>,

        /// Factor that scales the limits of the preset, such as 0.02.
        #[arg(long, value_name = "F", requires = "name")]
        scale: Option<f64>,

        /// List all limits of each preset, in words.
        #[arg(long, conflicts_with = "name")]
        explain: bool,
    },
    /// Print a completion script for a shell.
    Completions {
        /// Shell for which the script is printed.
        shell: Shell,
    },
    /// Print the man page.
    Man,
}

fn command_line() -> clap::Command {
    let command = most_used(Cli::command(), &COMMON_FLAGS);
    let pointer = pointer_to_all(&command);
    let command = with_first_examples(command);
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command.after_help(format!("{examples}\n\n{pointer}"))
}

/// Returns an error text that suggests the right flag, if a flag of similar servers (`--port`, `-p` or `--rate`) or a bare port was given.
/// Returns `None` for any other error.
fn explained(error: &clap::Error, typed: &[String]) -> Option<String> {
    let argument = command_line::argument(error)?;
    if error.kind() == ErrorKind::InvalidSubcommand && argument.parse::<u16>().is_ok() {
        return Some(format!("a port is set with --listen; write --listen 127.0.0.1:{argument}"));
    }
    let flag = Some(argument).filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let place = typed.iter().position(|word| word.split('=').next() == Some(flag))?;
    let value = match typed[place].split_once('=') {
        Some((_, value)) => Some(value),
        None => typed.get(place + 1).map(String::as_str),
    };
    match flag {
        "--port" | "-p" => {
            let port = value.unwrap_or("8503");
            Some(format!("a port is set with --listen; write --listen 127.0.0.1:{port}"))
        }
        "--rate" => {
            let rate = value.unwrap_or("10/s");
            let burst = rate.split('/').next().unwrap_or(rate);
            Some(format!(
                "a rate limit is set with --policy; write --policy token-bucket:rate={rate},burst={burst}"
            ))
        }
        _ => None,
    }
}

/// Parses a command line and its server configuration without starting the server. Used by the tests of the documentation.
///
/// # Errors
/// The error describes what is wrong with the command line.
#[doc(hidden)]
pub fn parse(words: &[String]) -> Result<(), String> {
    let cli = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
    cli.server.to_config(cli.seed).map(drop).map_err(|error| error.to_string())
}

pub fn main() -> ExitCode {
    match run(&command_line::parsed(&command_line::arguments(), &command_line(), explained)) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("error: {error}\n"));
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    let printed = match (&cli.command, cli.completions) {
        (Some(Command::Presets { name: None, explain, .. }), _) => {
            let list = if *explain { presets::list() } else { short_list() };
            Some(command_line::print_table(&list))
        }
        (Some(Command::Presets { name: Some(name), scale, .. }), _) => {
            let text = presets::explain(name, *scale)?;
            Some(command_line::print_table(&text))
        }
        (Some(Command::Completions { shell }), _) => Some(command_line::completions(*shell, command_line())),
        (Some(Command::Man), _) => Some(command_line::man(command_line())),
        (None, Some(shell)) => Some(command_line::completions(shell, command_line())),
        (None, None) => cli.man.then(|| command_line::man(command_line())),
    };
    if let Some(printed) = printed {
        return Ok(match printed {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("error: stdout cannot be written: {error}\n"));
                // Exit code for a failure to write to stdout. `loadgen` uses the same code.
                ExitCode::from(74)
            }
        });
    }
    let config = cli.server.to_config(cli.seed)?;
    let token =
        cli.admin_remote.as_deref().map(|text| AdminToken::typed("--admin-remote", text)).transpose()?;
    let listener = listen::listen(cli.listen)?;
    let address = listener.local_addr()?;
    raise();
    let mut shared = Shared::new(config.clone(), cli.time_scale, cli.http2_max_streams);
    shared.cors = cli.cors;
    let shared = Arc::new(shared);
    let runtime = threads::runtime(cli.threads)?;
    alarm::start(&runtime, shared.clone()).map_err(threads::Error::alarm)?;
    let signal = runtime.block_on(async {
        let mut signals = Signals::new()?;
        // The server's state is recorded before the announcement is printed. A client that reads the announcement may change the server at
        // once. That change must be printed, too.
        let announced = live::Seen::new(&shared);
        if !cli.quiet {
            say(&announcement(address, &config, cli.time_scale, live::columns()));
        }
        let (stop, stopped) = watch::channel(false);
        let limits = Limits {
            connections: cli.max_connections,
            bounds: Bounds { http2_max_streams: cli.http2_max_streams, ..Bounds::default() },
            grace: Duration::from_secs(5),
        };
        let app = App::new(&shared, Access { token });
        let serving = tokio::spawn(serve(TcpListener::from_std(listener)?, app, limits, stopped));
        let telling = async {
            if !cli.quiet {
                live::tell(&shared, announced).await;
            }
            std::future::pending().await
        };
        let signal = tokio::select! {
            signal = signals.next() => signal,
            signal = telling => signal,
        };
        if !cli.quiet {
            live::clear();
        }
        stop.send_replace(true);
        // A second signal ends the program without waiting for the requests in flight.
        tokio::select! {
            _ = serving => {}
            _ = signals.next() => {}
        }
        io::Result::Ok(signal)
    })?;
    // The summary is skipped if the terminal was stopped with Ctrl-S, because the output would block the exit.
    if !cli.quiet && live::takes_words(Duration::from_secs(1)) {
        let stats = shared.stats(None);
        let counts = &stats.counts;
        let rejections_hold_slots = shared.config().rejections_hold_slots();
        let explained = if rejections_hold_slots && counts.max_busy_seen > counts.max_accepted_seen {
            format!(" ({} accepted; rejections hold slots, too)", counts.max_accepted_seen)
        } else {
            String::new()
        };
        let if_any =
            |count: u64, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
        let failed = if_any(counts.failed, "failed");
        let early = if_any(stats.retried_too_early, "retried too early");
        say(&format!(
            "mockserver stopped: {} received, {} accepted, {} rejected{failed}, busy at most {}{explained}{early}\n",
            counts.received, counts.accepted, counts.rejected, counts.max_busy_seen
        ));
    }
    shared.close();
    runtime.shutdown_background();
    Ok(ExitCode::from(128 + signal))
}

fn say(words: &str) {
    // A write error is ignored, because a closed stderr must not stop the server.
    drop(io::stderr().lock().write_all(vocabulary::printable(words).as_bytes()));
}

/// Maximum width of a preset's limits in a line of the list, in columns.
const LIMITS: usize = 40;

const MIDDLE: usize = 49;

/// Returns the list of presets in lines of at most 80 columns.
pub(crate) fn short_list() -> String {
    let mut text = format!("{:<16}{:<39}rejects   docs read\n", "name", "limits (first two)");
    for preset in server_presets() {
        let statuses: Vec<String> = preset.statuses().iter().map(u16::to_string).collect();
        let (limits, statuses) = (limits(preset), statuses.join("/"));
        // A text with several statuses, such as `429/503`, starts one column further left than a single status.
        let before = if statuses.len() > 3 { LIMITS } else { LIMITS + 1 };
        let middle = format!("{limits:<before$}{statuses}");
        let _ = writeln!(text, "{:<16}{middle:<MIDDLE$}{:<5}{}", preset.name, from(preset), preset.read);
    }
    text + "mockserver presets NAME: limits, answers, sources.  --preset NAME --scale 0.02\n"
}

fn limits(preset: &ServerPreset) -> String {
    let Ok(expanded) = expand(&preset.name, None) else { return String::new() };
    let limits = expanded.short_limits();
    let listed = |shown: usize| {
        let more = preset.limits.len() - shown.min(limits.len());
        let more = if more == 0 { String::new() } else { format!(" (+{more})") };
        limits[..shown.min(limits.len())].join(" · ") + &more
    };
    let both = listed(2);
    if both.chars().count() <= LIMITS { both } else { listed(1) }
}

/// Returns the number of limits that were found in a source, out of all limits.
fn from(preset: &ServerPreset) -> String {
    let read = preset.limits.iter().filter(|limit| limit.verified).count();
    format!("{read}/{}", preset.limits.len())
}

/// The system's limit on open files. Every connection counts as an open file, so the limit is raised as far as the system allows.
pub(crate) fn raise() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn every_example_of_the_help_can_be_pasted() {
        let examples = command_line::examples(EXAMPLES, "mockserver");
        assert_eq!(examples.len(), 5);
        for words in examples {
            let cli = Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
            cli.server.to_config(1).unwrap();
        }
    }

    #[test]
    fn one_line_for_each_preset_of_at_most_80_columns() {
        let list = short_list();
        assert_eq!(list.lines().count(), server_presets().len() + 2);
        assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
        insta::assert_snapshot!(list);
    }

    #[test]
    fn the_origin_of_figures_follows_from_the_limits_of_a_preset() {
        let limit = |rest: &str| format!("[[limit]]\nname = 'a'\nabout = 'all'\npolicy = 'gcra'\n{rest}\n");
        let preset = |limits: &[String]| -> ServerPreset {
            format!("name = 'x'\ntitle = 'X'\nread = '2026-11-21'\n{}", limits.concat()).parse().unwrap()
        };
        let (docs, unverified) = (limit("source = 'x.org, Limits'"), limit("verified = false"));
        for (limits, origin) in
            [(vec![docs.clone()], "1/1"), (vec![unverified.clone()], "0/1"), (vec![docs, unverified], "1/2")]
        {
            assert_eq!(from(&preset(&limits)), origin);
        }
    }
}
