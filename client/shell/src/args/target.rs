//! Flags of the target and of the requests sent to it.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use experiments::servers::target::AskMock;

use crate::args::transport::TransportArgs;
use crate::args::values::{Header, Method};

/// Flags that conflict with virtual time.
pub(super) const OF_REAL_REQUESTS: [&str; 12] = [
    "target",
    "mock",
    "headers",
    "body",
    "idempotent",
    "insecure",
    "cacert",
    "admin_token",
    "transport",
    "local_addresses",
    "http2",
    "http2_connections",
];

pub const MOCK_SERVER: &str = "Mock server";

pub const TARGET: &str = "Target";

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = TARGET)]
pub struct TargetArgs {
    /// URL of the server to test [default: a mockserver].
    ///
    /// By default a mockserver on 127.0.0.1:8503 if one answers, else an embedded one.
    #[arg(short, long, value_name = "URL")]
    pub target: Option<String>,

    /// Whether to ask the target if it is a mockserver, by a request that it may count.
    #[arg(long, value_name = "CHOICE", default_value = "auto", value_parser = ask_mock())]
    pub mock: AskMock,

    /// HTTP method of every attempt, if `--mix` is not given. In virtual time, only retry rules that depend on the method use it.
    #[arg(short, long, value_name = "METHOD", default_value = "GET", conflicts_with = "mix")]
    pub method: Method,

    /// Header of every attempt, `Name: value`; repeatable.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<Header>,

    /// Body of every attempt; `@FILE` reads it from a file.
    #[arg(short = 'd', long, value_name = "BODY")]
    pub body: Option<String>,

    /// Retry failed POST and PATCH requests, too, where the target is not a mockserver.
    #[arg(long)]
    pub idempotent: bool,

    /// Accept any TLS certificate.
    #[arg(short = 'k', long)]
    pub insecure: bool,

    /// Trust the certificates in this PEM file instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,

    #[command(flatten)]
    pub transport: TransportArgs,

    /// Token of a mockserver started with `--admin-remote`; `@FILE` reads it from a file. It is sent only to a mockserver
    /// that requires one [default: `TAILBACK_ADMIN_TOKEN` from the environment, if the target is on this machine or its
    /// certificate is verified].
    #[arg(long, value_name = "TOKEN")]
    pub admin_token: Option<String>,
}

fn ask_mock() -> impl TypedValueParser<Value = AskMock> {
    let value = |name: &'static str, help: &'static str| PossibleValue::new(name).help(help);
    PossibleValuesParser::new([
        value("auto", "Ask on this machine, at port 8503, and with --admin-token; otherwise only connect"),
        value("yes", "Ask, and refuse any other server"),
        value("no", "Send only the requests of the run"),
    ])
    .map(|name| match name.as_str() {
        "yes" => AskMock::Yes,
        "no" => AskMock::No,
        _ => AskMock::Auto,
    })
}
