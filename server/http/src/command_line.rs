//! The program `mockserver`.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::StringValueParser;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use mockserver_core::{Config, server_preset_names};
use tokio::net::TcpListener;
use tokio::sync::watch;
use vocabulary::{TimeScale, wire};

use crate::access::Access;
use crate::admin_token::AdminToken;
use crate::announcement::announcement;
use crate::app::App;
use crate::bounds::Bounds;
use crate::connections::{Limits, serve};
use crate::flags::ServerFlags;
use crate::preset_list::short_list;
use crate::shared::Shared;
use crate::signals::Signals;
use crate::suggesting::suggesting;
use crate::{alarm, listen, live, open_files, presets, shell, threads, typed};

const EXAMPLES: &str = "\
Examples:
  mockserver --max-busy 50
      the experiment that loadgen expects: 50 slots, 500 ms of service, fast 503s
  mockserver --max-busy 20 --service-time 'lognormal(200ms,0.3)' --reject-status 429 --retry-after 1s
  mockserver --network-delay 0 --reject-time 0 --service-time 1ms
      as fast as it can
  mockserver --preset github --scale 0.02
      what GitHub does, with a fiftieth of its limits; mockserver presets lists all
  curl -X PATCH -d '{\"max_busy\": 20}' http://127.0.0.1:8503/_mock/config
      change it while it runs; GET /_mock/stats shows what it counted, GET /metrics tells Prometheus

Exit codes: 2 bad usage, 74 stdout cannot be written (presets, --man, --completions), 129, 130 and 143 ended by SIGHUP, SIGINT, SIGTERM.
A first signal ends what is under way, for five seconds at most; another one waits for nothing.";

/// An HTTP server that throttles: it serves a limited number of requests at once and rejects the rest.
#[derive(Debug, Parser)]
#[command(name = "mockserver", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// Where to listen; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", default_value = wire::DEFAULT_ADDRESS, value_parser = typed::address)]
    listen: SocketAddr,

    #[command(flatten)]
    server: ServerFlags,

    /// Seed of the draws for requests that bring none.
    #[arg(long, value_name = "N", default_value_t = Config::default().seed, help_heading = "Options",
          value_parser = typed::count::<u64>(0, u64::MAX))]
    seed: u64,

    /// Real seconds per second of the experiment; clients must use the same.
    #[arg(long, value_name = "F", default_value = "1", value_parser = TimeScale::parse, help_heading = "Options")]
    time_scale: TimeScale,

    /// Connections open at once; more wait to be accepted.
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Options",
          value_parser = clap::builder::RangedU64ValueParser::<u32>::new().range(1..=1_000_000))]
    max_connections: u32,

    /// Requests at once on a connection of HTTP/2 (`SETTINGS_MAX_CONCURRENT_STREAMS`).
    #[arg(long, value_name = "N", default_value_t = Bounds::default().http2_max_streams, help_heading = "Options",
          value_parser = typed::count::<u32>(1, 1_000_000))]
    http2_max_streams: u32,

    /// Threads that serve, at most 256 [default: one per processor].
    #[arg(long, value_name = "N", help_heading = "Options",
          value_parser = typed::count::<usize>(1, threads::MOST))]
    threads: Option<usize>,

    /// Let other hosts use the endpoints under /_mock/ and /metrics, too, if they send this token as `Authorization: Bearer
    /// TOKEN`; `@FILE` reads it from a file, and without a value it comes from the environment (`TAILBACK_ADMIN_TOKEN`).
    #[arg(long, value_name = "TOKEN", num_args = 0..=1, default_missing_value = "", help_heading = "Options")]
    admin_remote: Option<String>,

    /// Print nothing but errors.
    #[arg(short, long, help_heading = "Options")]
    quiet: bool,

    /// Print a script that lets a shell complete the command line, and do not serve.
    #[arg(long, value_name = "SHELL", exclusive = true, help_heading = "Options")]
    completions: Option<Shell>,

    /// Print the man page, and do not serve.
    #[arg(long, exclusive = true, help_heading = "Options")]
    man: bool,
}

/// What it does instead of serving.
#[derive(Debug, Subcommand)]
enum Command {
    /// List the servers that it can be, or tell limits, answers and sources of one.
    Presets {
        /// One of them, perhaps with what is typed behind its name: `github:points=off`.
        #[arg(value_name = "NAME", value_parser = suggesting(StringValueParser::new(), server_preset_names),
              hide_possible_values = true)]
        name: Option<String>,

        /// What its figures are multiplied with.
        #[arg(long, value_name = "F", requires = "name")]
        scale: Option<f64>,

        /// List every limit in words.
        #[arg(long, conflicts_with = "name")]
        explain: bool,
    },
}

/// The program: reads the command line, serves until a signal comes, and returns the exit code.
pub fn main() -> ExitCode {
    match run(&typed::parsed(&typed::arguments())) {
        Ok(code) => code,
        Err(error) => {
            // Nothing is left to be done when stderr is closed.
            say(&format!("error: {error}\n"));
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    let printed = match (&cli.command, cli.completions) {
        (Some(Command::Presets { name: None, explain, .. }), _) => {
            let list = if *explain { presets::list() } else { short_list() };
            Some(shell::print(list.as_bytes()))
        }
        (Some(Command::Presets { name: Some(name), scale, .. }), _) => {
            let text = presets::explain(name, *scale)?;
            Some(shell::print(vocabulary::printable(&text).as_bytes()))
        }
        (None, Some(shell)) => Some(shell::completions(shell, Cli::command())),
        (None, None) => cli.man.then(|| shell::man(Cli::command())),
    };
    if let Some(printed) = printed {
        return Ok(match printed {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("error: stdout cannot be written: {error}\n"));
                // As in loadgen.
                ExitCode::from(74)
            }
        });
    }
    let config = cli.server.to_config(cli.seed)?;
    let token =
        cli.admin_remote.as_deref().map(|text| AdminToken::typed("--admin-remote", text)).transpose()?;
    let listener = listen::listen(cli.listen)?;
    let address = listener.local_addr()?;
    open_files::raise();
    let shared = Arc::new(Shared::new(config.clone(), cli.time_scale, cli.http2_max_streams));
    let runtime = threads::runtime(cli.threads)?;
    alarm::start(&runtime, shared.clone()).map_err(threads::Error::alarm)?;
    let signal = runtime.block_on(async {
        let mut signals = Signals::new()?;
        // Whoever reads the announcement may change the server at once, and is told of that, too.
        let announced = live::Seen::of(&shared);
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
        // A second signal does not wait for what is under way.
        tokio::select! {
            _ = serving => {}
            _ = signals.next() => {}
        }
        io::Result::Ok(signal)
    })?;
    // A terminal that was stopped with Ctrl-S must not keep the program.
    if !cli.quiet && live::takes_words(Duration::from_secs(1)) {
        let counts = shared.stats(None).counts;
        let rejections_hold_slots = shared.config().rejections_hold_slots();
        let explained = if rejections_hold_slots && counts.max_busy_seen > counts.max_accepted_seen {
            format!(" ({} with work: rejections hold slots, too)", counts.max_accepted_seen)
        } else {
            String::new()
        };
        let early = match shared.stats(None).retried_too_early {
            0 => String::new(),
            early => format!(", {early} retried too early"),
        };
        let failed = if counts.failed > 0 { format!(", {} failed", counts.failed) } else { String::new() };
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
    // A closed stderr must not stop the server.
    drop(io::stderr().lock().write_all(vocabulary::printable(words).as_bytes()));
}
