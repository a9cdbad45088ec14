//! Choice of a run's server: one named on the command line, one found on the default port, or an embedded one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use loadgen_core::{Cause, ErrorKind as FailureKind, LeastCosts, RateLaw};
use loadgen_http::{MockServer, Probe, Target, TlsProblem, Trust, probe, refused_certificate, touch};
use mockserver::Embedded;
use mockserver::core::{Config, ConfigError};
use results::Warning;
use tailback::OracleSchedule;
use tokio::runtime::Runtime;

use crate::error::{Error, ErrorKind, refuse};
use crate::experiment::Experiment;
use crate::record::ServerRecord;
use crate::runs::stop::{Stop, unless_stopped};

pub struct ServerChoice<'a> {
    pub target: Option<&'a str>,
    pub ask: AskMock,
    /// Configuration for an embedded server.
    pub own: Result<Config, ConfigError>,
    /// Whether the configuration of the embedded server was given explicitly.
    pub own_is_described: bool,
}

/// Whether the server of `--target` is asked if it is a mockserver, by a request that it may count (`--mock`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskMock {
    /// Asked on this machine, at the port of mockservers, and with a token that was given for this server.
    #[default]
    Auto,
    /// Asked, and refused if it is not a mockserver.
    Yes,
    /// Never asked. The server receives only the requests of the run.
    No,
}

pub struct Server {
    pub kind: Kind,
    /// Target of requests; `None` if the server was not started.
    pub target: Option<Target>,
    pub mock: Option<Box<MockServer>>,
    pub model: Option<Config>,
    /// `Host` header that a gateway sends to the mockserver behind it, if the gateway changes this header. A target behind such a gateway
    /// counts as a foreign server.
    pub gateway_host: Option<String>,
    /// False if the server was not asked whether it is a mockserver. It then counts as a foreign server.
    pub is_asked: bool,
    /// Embedded server, which is kept only so that it runs as long as this `Server` exists.
    _embedded: Option<Embedded>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Embedded,
    /// A mockserver that answered on the default port.
    Found,
    Given(String),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Found => f.write_str("found"),
            Self::Given(url) => f.write_str(url),
        }
    }
}

impl Server {
    /// Chooses the server of a run. If an embedded server is chosen, it is started only if `start` is true.
    pub fn choose(
        choice: &ServerChoice<'_>,
        settings: &Experiment,
        runtime: &Runtime,
        start: bool,
    ) -> anyhow::Result<Self> {
        if let Some(named) = Self::named(choice, settings, runtime)? {
            return Ok(named);
        }
        let config = choice.own.clone().map_err(|error| {
            Error::because(ErrorKind::Usage, "the embedded server cannot be configured", error)
        })?;
        if !choice.own_is_described
            && let Some(found) = found(settings, runtime)?
        {
            return Ok(found);
        }
        if start { Self::start(config, settings, runtime) } else { Ok(Self::planned(config)) }
    }

    pub fn named(
        choice: &ServerChoice<'_>,
        settings: &Experiment,
        runtime: &Runtime,
    ) -> anyhow::Result<Option<Self>> {
        let Some(url) = choice.target else {
            return match choice.ask {
                AskMock::Auto => Ok(None),
                _ => refuse("`--mock` is about the server of `--target`; add its URL, or leave out `--mock`"),
            };
        };
        if choice.own_is_described {
            return refuse(
                "server flags such as `--max-busy` configure the embedded server, but `--target` names another; \
                 leave out one or the other",
            );
        }
        let server = given(url, choice.ask, settings, runtime)?;
        server.refuse_unpaced(settings)?;
        Ok(Some(server))
    }

    /// Replaces the default strategy of an experiment by `none` if this server is not a mockserver.
    ///
    /// # Errors
    /// Fails if a flag has no effect on `none`.
    pub fn choose_strategy(&self, settings: &mut Experiment) -> anyhow::Result<()> {
        if self.is_foreign() { settings.use_strategy_of_foreign_servers() } else { Ok(()) }
    }

    pub fn refuse_unusable(&self, settings: &Experiment) -> anyhow::Result<()> {
        self.refuse_unpaced(settings)?;
        match &self.model {
            Some(model) => settings.refuse_unplannable(model)?,
            None if settings.strategy.needs_foreknowledge() => {
                return Err(tailback::SpecError::NoForeknowledge.into());
            }
            None => {}
        }
        if self.mock.is_some() {
            settings.refuse_own_endpoints()?;
            return settings.refuse_request_of_its_own();
        }
        settings.refuse_sending_twice()?;
        if settings.strategy.names().any(|name| name == "ethernet") {
            let words = format!(
                "`ethernet` needs the number of free slots, which only a mockserver reports, and {} is not a mockserver; use \
                 another strategy, or leave out `--target`",
                self.url()
            );
            return refuse(words);
        }
        settings.refuse_request_of_its_own()
    }

    /// Rejects a server that is not a mockserver, unless the load was given explicitly. The server may belong to somebody who expects no
    /// load.
    fn refuse_unpaced(&self, settings: &Experiment) -> anyhow::Result<()> {
        if self.mock.is_some() || settings.paced {
            return Ok(());
        }
        let what = match &self.gateway_host {
            Some(host) => behind_gateway(host),
            None if !self.is_asked => NOT_ASKED.to_owned(),
            None => "it is not a mockserver".to_owned(),
        };
        let words = format!(
            "`{}` (--target): {what}, so there is no default load; add `--rate 10/s` (ten ops arrive per second) \
             or `--in-flight 5` (at most five unfinished ops)",
            self.url()
        );
        refuse(words)
    }

    pub fn start(config: Config, settings: &Experiment, runtime: &Runtime) -> anyhow::Result<Self> {
        let server = Embedded::start(config, settings.time_scale).map_err(|error| {
            Error::because(ErrorKind::Usage, "the embedded mockserver could not be started", error)
        })?;
        let target = Target::resolve(&server.address().to_string(), Trust::default(), &[])?;
        let Probe::Mock(mock) = runtime.block_on(probe(&target))? else {
            let words = "the embedded mockserver was started but does not respond";
            return Err(Error::new(ErrorKind::Unreachable, words).into());
        };
        recognised(Kind::Embedded, target, mock, Some(server), settings)
    }

    fn foreign(kind: Kind, target: Target, gateway_host: Option<String>, is_asked: bool) -> Self {
        let target = Some(target);
        Self { kind, target, mock: None, model: None, gateway_host, is_asked, _embedded: None }
    }

    /// Returns true if the server of `--target` is not a mockserver, or was not asked.
    pub fn is_foreign(&self) -> bool {
        self.mock.is_none() && matches!(self.kind, Kind::Given(_))
    }

    pub fn unasked_words(&self) -> Option<&'static str> {
        (!self.is_asked).then_some(NOT_ASKED)
    }

    /// Returns true if failures of this `kind` are usual where a TLS server receives plain HTTP. A server that was asked is known to
    /// speak plain HTTP.
    pub fn may_speak_tls(&self, kind: Cause) -> bool {
        let is_usual = matches!(
            kind,
            Cause::Status(400)
                | Cause::Error(FailureKind::Unreadable | FailureKind::Closed | FailureKind::Reset)
        );
        !self.is_asked && is_usual && self.url().starts_with("http://")
    }

    /// Returns a warning if the server asked for a client certificate, and failures of this `kind` are usual if it does not accept the
    /// certificate or its absence: the handshake fails, or the server ends the connection, or nginx responds with 400. If a certificate was
    /// sent, statuses such as 403 have other causes more often.
    pub fn certificate_refused(&self, kind: Cause) -> Option<Warning> {
        let target = self.target.as_ref().filter(|target| target.asks_for_certificate())?;
        let sent = target.has_certificate();
        let is_usual = match kind {
            Cause::Status(401 | 403) => !sent,
            Cause::Status(status) => status == 400,
            Cause::Error(kind) => {
                matches!(kind, FailureKind::Tls | FailureKind::Closed | FailureKind::Reset)
            }
        };
        is_usual.then_some(Warning::AsksForCertificate { sent })
    }

    pub fn counts_unknown(&self) -> Option<Warning> {
        self.gateway_host.as_deref().map(|host| Warning::CountsUnknown(behind_gateway(host)))
    }

    fn planned(config: Config) -> Self {
        Self {
            kind: Kind::Embedded,
            target: None,
            mock: None,
            model: Some(config),
            gateway_host: None,
            is_asked: true,
            _embedded: None,
        }
    }

    pub fn url(&self) -> String {
        self.target.as_ref().map_or_else(|| "http://127.0.0.1 (own port)".to_owned(), shown)
    }

    pub fn record(&self) -> ServerRecord<'_> {
        ServerRecord { kind: self.kind.to_string(), target: Some(self.url()), model: self.model.as_ref() }
    }

    pub fn describe(&self) -> String {
        let what = match (&self.kind, &self.model) {
            (Kind::Embedded, _) => "embedded mockserver",
            (Kind::Found, _) => "found mockserver",
            (Kind::Given(_), Some(_)) => "mockserver",
            (Kind::Given(_), None) if self.gateway_host.is_some() => "mockserver behind a gateway",
            (Kind::Given(_), None) => "server",
        };
        format!("{what} at {}", self.url().trim_end_matches('/'))
    }

    /// Reads the mockserver's configuration again. If this fails, keeps the previous configuration.
    pub fn refresh(&mut self, runtime: &Runtime, stop: &dyn Stop) {
        if let Some((mock, model)) = self.current(runtime, stop) {
            (self.mock, self.model) = (Some(mock), Some(model));
        }
    }

    /// Returns whether the mockserver still has the configuration that was read, and had no other configuration in between. Returns `None`
    /// if the mockserver cannot be queried or has been restarted since.
    pub fn is_as_it_was(&self, runtime: &Runtime, stop: &dyn Stop) -> Option<bool> {
        let before = self.mock.as_ref()?;
        let (mock, model) = self.current(runtime, stop)?;
        let (state, before) = (mock.state, before.state);
        let is_unchanged = state.changes == before.changes && Some(&model) == self.model.as_ref();
        (state.instance == before.instance).then_some(is_unchanged)
    }

    fn current(&self, runtime: &Runtime, stop: &dyn Stop) -> Option<(Box<MockServer>, Config)> {
        self.mock.as_ref()?;
        let probed = unless_stopped(stop, runtime, probe(self.target.as_ref()?))?;
        let Ok(Probe::Mock(mock)) = probed else { return None };
        let model = serde_json::from_value(mock.config.clone()).ok()?;
        Some((mock, model))
    }

    /// Returns the time since the mockserver started. It is needed because scheduled outages are relative to the server's start. Returns
    /// zero if the mockserver schedules no outages or cannot be queried.
    pub fn age(&self, runtime: &Runtime) -> Duration {
        let plans = self.model.as_ref().is_some_and(|model| !model.outages.is_empty());
        let Some(mock) = self.mock.as_ref().filter(|_| plans) else { return Duration::ZERO };
        let uptime_s = runtime.block_on(mock.stats(0)).map_or(0.0, |stats| stats.uptime_s);
        Duration::try_from_secs_f64(uptime_s).unwrap_or_default()
    }

    /// Returns the optimal schedule for this server, which the oracle strategy follows. `margin` is added to every start that has to wait
    /// for a slot.
    pub fn oracle_schedule(&self, seed: u64, margin: Duration) -> Option<OracleSchedule> {
        let model = self.model.as_ref().filter(|model| model.is_plain_cap())?;
        Some(model.oracle_schedule(seed, margin))
    }

    pub fn least_costs(&self, seed: u64) -> Option<Arc<dyn LeastCosts>> {
        loadgen_sim::least_costs(self.model.as_ref()?, seed)
    }

    pub fn rate_law(&self) -> Option<RateLaw> {
        loadgen_sim::rate_law(self.model.as_ref()?)
    }
}

fn given(url: &str, ask: AskMock, settings: &Experiment, runtime: &Runtime) -> anyhow::Result<Server> {
    let target = Target::resolve(url, settings.trust.clone(), &settings.connect_to).map_err(|error| {
        let exit = match error {
            loadgen_http::TargetError::Unresolved { .. } => ErrorKind::Unreachable,
            _ => ErrorKind::Usage,
        };
        let flag =
            if settings.connect_to.is_empty() { "`--target`" } else { "`--target` and `--connect-to`" };
        Error::because(exit, format!("cannot use {flag}"), error)
    })?;
    // Any server can claim to be a mockserver. A token that was not given for this target is therefore sent only to targets where nobody
    // else can read it.
    let admin = settings.admin.as_ref().filter(|admin| admin.typed || target.is_private());
    let withheld = settings.admin.is_some() && admin.is_none();
    let is_likely = target.is_loopback()
        || target.url().port_or_known_default() == Some(wire::DEFAULT_PORT)
        || admin.is_some_and(|admin| admin.typed);
    let target = target.with_admin(admin.map(|admin| admin.authorization.clone()));
    let kind = Kind::Given(shown(&target));
    let is_asked = ask == AskMock::Yes || ask == AskMock::Auto && is_likely;
    let probed = if is_asked { runtime.block_on(probe(&target)) } else { runtime.block_on(touch(&target)) };
    match probed? {
        Probe::Mock(mock) => recognised(kind, target, mock, None, settings),
        Probe::Gateway(host) if ask == AskMock::Yes => {
            let words = format!("{}: {}", named(&target), behind_gateway(&host));
            refuse(words)
        }
        Probe::Other if ask == AskMock::Yes => {
            let words = format!(
                "{} is not a mockserver, contrary to `--mock yes`; leave out `--mock yes`, or check the URL",
                named(&target)
            );
            refuse(words)
        }
        Probe::Other | Probe::NotAsked => Ok(Server::foreign(kind, target, None, is_asked)),
        Probe::Gateway(host) => Ok(Server::foreign(kind, target, Some(host), is_asked)),
        Probe::Refused(words) => refuse(format!(
            "the mockserver at {} refuses this client: {words}{}",
            named(&target),
            if withheld { WITHHELD } else { "" }
        )),
        Probe::SpeaksTls => {
            let words = format!(
                "{} speaks TLS, and plain HTTP was sent to it; write `https://` instead of `http://`",
                named(&target)
            );
            Err(Error::new(ErrorKind::Unreachable, words).into())
        }
        Probe::Unreachable(error, kind) => {
            let words = unreachable_words(&target, kind, TlsProblem::of(&*error));
            Err(match refused_certificate(&*error) {
                Some(wrong) => Error::new(ErrorKind::Unreachable, format!("{words}: {wrong}")),
                None if is_refused_connection(&*error) => {
                    Error::new(ErrorKind::Unreachable, format!("{words}: Connection refused"))
                }
                None => Error::because(ErrorKind::Unreachable, words, error),
            }
            .into())
        }
    }
}

fn is_refused_connection(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |cause| cause.source());
    let refused = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::ConnectionRefused;
    causes.any(|cause| cause.downcast_ref().is_some_and(refused))
}

pub(super) fn behind_gateway(host: &str) -> String {
    format!(
        "a gateway changes `Host` to `{host}`, for which the mockserver behind it refuses its admin endpoints; let the gateway pass \
         `Host` on (nginx: `proxy_set_header Host $http_host`), or give `--admin-remote TOKEN` to the mockserver and `--admin-token` to loadgen"
    )
}

/// Reason why a target counts as a foreign server, although nothing is known about it.
const NOT_ASKED: &str = "not asked whether it is a mockserver (--mock yes)";

const WITHHELD: &str = "; the token in `TAILBACK_ADMIN_TOKEN` is sent automatically only to this machine, or over https to a \
                        server with a verified certificate; use `--admin-token @FILE` to send one to this server";

fn shown(target: &Target) -> String {
    url(target.url().as_str())
}

/// Names the target, and the address to which `--connect-to` leads.
fn named(target: &Target) -> String {
    let url = shown(target);
    match target.addresses() {
        [address, ..] if target.is_redirected() => {
            format!("`{url}` (--target, at {address} by --connect-to)")
        }
        _ => format!("`{url}` (--target)"),
    }
}

fn unreachable_words(target: &Target, kind: FailureKind, problem: Option<TlsProblem>) -> String {
    let place = named(target);
    let is_trusted = problem != Some(TlsProblem::ServerCertificate);
    match kind {
        FailureKind::Tls if is_trusted && target.asks_for_certificate() && !target.has_certificate() => {
            format!(
                "no TLS connection to {place}: the server asked for a client certificate, and none was sent; add \
                 `--cert FILE --key FILE`"
            )
        }
        FailureKind::Tls if problem == Some(TlsProblem::ClientCertificate) && target.has_certificate() => {
            format!(
                "no TLS connection to {place}: the server refused the client certificate; check the dates of \
                 `--cert`, its key, and the authority that signed it"
            )
        }
        FailureKind::PlainHttp => {
            format!("{place} responds in plain HTTP, not TLS; write `http://` instead of `https://`")
        }
        FailureKind::Tls => format!(
            "no TLS connection to {place}; if its certificate is self-signed, add `--cacert FILE` or \
             `--insecure`; if it speaks plain HTTP, write `http://`"
        ),
        _ if target.is_redirected() => {
            format!("no server responds at {place}; start the server, or check `--connect-to`")
        }
        _ => format!("no server responds at {place}; start the server, or leave out `--target`"),
    }
}

fn found(settings: &Experiment, runtime: &Runtime) -> anyhow::Result<Option<Server>> {
    let target = Target::resolve(wire::DEFAULT_ADDRESS, Trust::default(), &[])?;
    match runtime.block_on(probe(&target))? {
        Probe::Mock(mock) => recognised(Kind::Found, target, mock, None, settings).map(Some),
        _ => Ok(None),
    }
}

fn recognised(
    kind: Kind,
    target: Target,
    mock: Box<MockServer>,
    embedded: Option<Embedded>,
    settings: &Experiment,
) -> anyhow::Result<Server> {
    let scale = mock.state.time_scale.unwrap_or(1.0);
    if (scale - settings.time_scale.factor()).abs() > 1e-9 {
        return refuse(format!(
            "the mockserver at {} runs at time scale {scale} and this run at {}; start it with `--time-scale {}`, \
                 or give this run `--time-scale {scale}`",
            shown(&target),
            settings.time_scale,
            settings.time_scale
        ));
    }
    let model = serde_json::from_value(mock.config.clone()).map_err(|error| {
        Error::because(
            ErrorKind::Unreachable,
            format!("the mockserver at {} is of another version", shown(&target)),
            error,
        )
    })?;
    Ok(Server {
        kind,
        target: Some(target),
        mock: Some(mock),
        model: Some(model),
        gateway_host: None,
        is_asked: true,
        _embedded: embedded,
    })
}

/// Formatting of server URLs for output. The user name, the password and query values of a URL may be secrets, so they are hidden.
const HIDDEN: &str = "…";

pub fn url(typed: &str) -> String {
    let typed = typed.split('#').next().unwrap_or_default();
    let (place, query) = typed.split_at(typed.find('?').unwrap_or(typed.len()));
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let separator = if scheme.is_empty() { "" } else { "://" };
    let host = host.rsplit_once('@').map_or_else(|| host.to_owned(), |(_, host)| format!("{HIDDEN}@{host}"));
    let shown = format!("{scheme}{separator}{host}{path}");
    let Some(query) = query.strip_prefix('?') else { return shown };
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None => HIDDEN.to_owned(),
    };
    format!("{shown}?{}", query.split('&').map(hidden).collect::<Vec<_>>().join("&"))
}
