//! Where real requests go, and what they look like.

use std::path::PathBuf;

use clap::Args;

use super::transport::TransportArgs;
use super::values::{Header, Method};

/// Arguments that mean nothing in virtual time.
pub(crate) const OF_REAL_REQUESTS: [&str; 11] = [
    "target",
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

/// Begins what heads the flags of a mock server.
pub(crate) const MOCK_SERVER: &str = "Mock server";

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Where to send attempts [default: a mockserver on 127.0.0.1:8503, else an embedded one].
    #[arg(short, long, value_name = "URL")]
    pub(crate) target: Option<String>,

    /// Method of every attempt, unless `--mix` says it. In virtual time it decides what rules that ask for it send again.
    #[arg(short, long, value_name = "METHOD", default_value = "GET", conflicts_with = "mix")]
    pub(crate) method: Method,

    /// Header of every attempt, `Name: value`; may be given several times.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<Header>,

    /// Body of every attempt; `@FILE` reads it from a file.
    #[arg(short = 'd', long, value_name = "BODY")]
    pub(crate) body: Option<String>,

    /// Retry failures of POST and PATCH against a server that is no mockserver, too.
    #[arg(long)]
    pub(crate) idempotent: bool,

    /// Accept any TLS certificate.
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,

    /// Trust the certificates in this PEM file instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) transport: TransportArgs,

    /// The token of a mockserver that was started with `--admin-remote`; `@FILE` reads it from a file [default: that in
    /// the environment, `TAILBACK_ADMIN_TOKEN`, if the target is on this machine or its certificate is checked]. Sent to
    /// a target that says it is a mockserver and wants a token.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) admin_token: Option<String>,
}
