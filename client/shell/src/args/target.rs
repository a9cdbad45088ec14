//! Flags of the target and of the requests sent to it.

use std::net::{IpAddr, UdpSocket};
use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use command_line::count;
use experiments::Sending;
use experiments::servers::target::AskMock;
use loadgen_http::{ConnectTo, TransportChoice, TransportEntry};
use results::current_transport_name;

use crate::args::values::{Header, Method};
use crate::usage;

/// Flags that conflict with virtual time.
pub(super) const OF_REAL_REQUESTS: [&str; 16] = [
    "target",
    "mock",
    "headers",
    "body",
    "idempotent",
    "insecure",
    "cacert",
    "cert",
    "key",
    "connect_to",
    "no_keepalive",
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

    /// Client certificate for TLS, with its chain, in PEM form. The file may hold the private key, too.
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,

    /// Private key of the client certificate, in PEM form.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Connect to another address, `HOST:PORT:ADDRESS:PORT`; repeatable.
    ///
    /// As in curl: an empty HOST or PORT matches any, and an empty ADDRESS or second PORT keeps that of the URL. The name for TLS and the
    /// `Host` header stay. The first rule that matches is used.
    #[arg(long, value_name = "RULE")]
    pub connect_to: Vec<ConnectTo>,

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

/// Flags of the HTTP client that sends attempts.
const VARIABLE: &str = "TAILBACK_TRANSPORT";

/// Names of HTTP clients that the flag `--transport` accepts besides `auto`. HTTP/2 has a flag of its own.
const NAMES: [&str; 2] = ["hyper", "reqwest"];

#[derive(Args, Clone, Debug)]
pub struct TransportArgs {
    /// HTTP client that sends attempts [default: `TAILBACK_TRANSPORT` from the environment, else auto].
    #[arg(long, value_name = "TRANSPORT", value_parser = choices())]
    transport: Option<TransportChoice>,

    /// Source address of connections [default: chosen by the system]. Several addresses are used in turn, because one address has only
    /// some 28 000 ports per server, and a server may limit each address.
    #[arg(long = "local-address", value_name = "IP", value_delimiter = ',', value_parser = own_address)]
    local_addresses: Vec<IpAddr>,

    /// Open a connection for every request, with `Connection: close`.
    #[arg(long, alias = "disable-keepalive", conflicts_with = "http2")]
    no_keepalive: bool,

    /// Send attempts as HTTP/2 streams, by prior knowledge or ALPN. Attempts beyond the server's stream limit wait, and are
    /// counted as waiting for a connection.
    #[arg(long)]
    http2: bool,

    /// Number of HTTP/2 connections that each thread opens.
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<u16>(1, 256), requires = "http2")]
    http2_connections: u16,
}

impl TransportArgs {
    pub fn sending(&self, threads: Option<u16>) -> anyhow::Result<Sending> {
        self.sending_unless_typed(threads, std::env::var(VARIABLE).ok().as_deref())
    }

    fn sending_unless_typed(
        &self,
        threads: Option<u16>,
        environment: Option<&str>,
    ) -> anyhow::Result<Sending> {
        let Self { transport, http2, http2_connections, no_keepalive, .. } = *self;
        let number = |given: u16| NonZero::new(given.into()).unwrap_or(NonZero::<usize>::MIN);
        let transport = match (transport, environment) {
            (Some(TransportChoice::Named(entry)), _) if http2 && entry.name == "reqwest" => {
                return Err(usage("`--transport reqwest` supports only HTTP/1.1; leave out one of `--transport` and `--http2`".to_owned()));
            }
            _ if http2 => TransportChoice::http2(),
            (Some(typed), _) => typed,
            (None, None | Some("")) => TransportChoice::Auto,
            (None, Some(name)) => named(name).ok_or_else(|| {
                usage(format!("`{name}` (in the environment, {VARIABLE}) is not a transport; write auto, hyper or reqwest"))
            })?,
        };
        Ok(Sending {
            transport,
            local_addresses: self.local_addresses.as_slice().into(),
            threads: number(threads.unwrap_or(1)),
            keep_alive: !no_keepalive,
            http2_connections: number(http2_connections),
        })
    }
}

fn own_address(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text.parse().map_err(|_| {
        "it must be an IP address such as 127.0.0.2 or ::1, or several separated by commas".to_owned()
    })?;
    let bound = UdpSocket::bind((address, 0));
    bound.map(|_| address).map_err(|error| format!("not an address of this machine: {error}"))
}

fn named(name: &str) -> Option<TransportChoice> {
    match name {
        TransportChoice::AUTO => Some(TransportChoice::Auto),
        name => {
            let name = current_transport_name(name);
            NAMES.contains(&name).then(|| TransportEntry::find(name)).flatten().map(TransportChoice::Named)
        }
    }
}

fn choices() -> impl TypedValueParser<Value = TransportChoice> {
    let auto = PossibleValue::new(TransportChoice::AUTO)
        .help("`hyper` towards a mockserver, `reqwest` towards any other server");
    let entry = |name| TransportEntry::find(name).expect("a test finds each");
    let listed = NAMES.map(|name| PossibleValue::new(name).help(entry(name).summary));
    // `lean`, the former name of `hyper`, is still accepted, but help texts do not list it.
    let listed = listed.map(|value| if value.get_name() == "hyper" { value.alias("lean") } else { value });
    PossibleValuesParser::new(std::iter::once(auto).chain(listed))
        .try_map(|name| named(&name).ok_or("unknown"))
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn sent(typed: &[&str], environment: Option<&str>) -> anyhow::Result<(&'static str, &'static str)> {
        let command = TransportArgs::augment_args(Command::new("loadgen").no_binary_name(true));
        let matches = command.try_get_matches_from(typed)?;
        let sending = TransportArgs::from_arg_matches(&matches)?.sending_unless_typed(None, environment)?;
        let towards = |is_mock| sending.transport.towards(is_mock).name;
        Ok((towards(true), towards(false)))
    }

    /// Unless the environment or, with precedence, the command line names a transport.
    #[test]
    fn hyper_is_for_mockservers_and_reqwest_for_other_servers() {
        let reqwest = Some("reqwest");
        assert_eq!(sent(&[], None).unwrap(), ("hyper", "reqwest"));
        assert_eq!(sent(&["--transport", "hyper"], reqwest).unwrap(), ("hyper", "hyper"));
        assert_eq!(sent(&[], reqwest).unwrap(), ("reqwest", "reqwest"));
        assert_eq!(sent(&["--http2"], reqwest).unwrap(), ("hyper-http2", "hyper-http2"));
    }

    #[test]
    fn the_former_name_of_hyper_is_accepted_and_not_listed() {
        assert_eq!(sent(&["--transport", "lean"], None).unwrap(), ("hyper", "hyper"));
        assert_eq!(sent(&[], Some("lean")).unwrap(), ("hyper", "hyper"));
        let help = TransportArgs::augment_args(Command::new("loadgen")).render_long_help().to_string();
        assert!(help.contains("hyper") && !help.contains("lean"), "{help}");
    }

    #[test]
    fn what_cannot_be_sent_like_this_is_refused() {
        for wrong in [
            &["--transport", "carrier-pigeon"][..],
            &["--transport", "hyper-http2"],
            &["--transport", "reqwest", "--http2"],
            &["--http2-connections", "2"],
            &["--http2", "--http2-connections", "0"],
        ] {
            sent(wrong, None).unwrap_err();
        }
        let error = sent(&[], Some("carrier-pigeon")).unwrap_err().to_string();
        assert!(error.contains("TAILBACK_TRANSPORT") && error.contains("reqwest"), "{error}");
    }
}
