//! Which server a run uses: the one that was named, one that was found, or one of its own.

use std::fmt::{self, Write as _};
use std::time::Duration;

use loadgen_http::{MockServer, Probe, Target, Trust, probe};
use loadgen_sim::Foresight;
use mockserver::Embedded;
use mockserver::core::{Config, Ideal, Policy};
use tailback::Foreknowledge;
use tokio::runtime::Runtime;
use vocabulary::wire;

use crate::args::RunArgs;
use crate::exit::{Exit, Fatal};
use crate::record::ServerRecord;
use crate::settings::Settings;

/// The server of a run.
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) target: Option<Target>,
    /// Present when the target was recognised as a mockserver.
    pub(crate) mock: Option<Box<MockServer>>,
    /// How that mockserver is configured.
    pub(crate) model: Option<Config>,
    /// Kept alive for as long as the run needs it.
    _embedded: Option<Embedded>,
}

/// Where the server came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Started in this process.
    Embedded,
    /// A mockserver that answered on the default port.
    Found,
    /// Named by `--target`.
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
    /// Chooses the server; an embedded one is started only when `start` says so.
    pub(crate) fn choose(
        args: &RunArgs,
        settings: &Settings,
        runtime: &Runtime,
        start: bool,
    ) -> anyhow::Result<Self> {
        if let Some(url) = &args.target.target {
            if args.server.any_given() {
                return Err(Fatal::error(
                    Exit::Usage,
                    "server flags such as `--max-busy` configure the embedded server, but `--target` names another; \
                     leave out one or the other",
                ));
            }
            return given(url, settings, runtime);
        }
        let config = args.server.to_config(settings.run.seed).map_err(|error| {
            Fatal::because(Exit::Usage, "the embedded server cannot be configured so", error)
        })?;
        if !args.server.any_given()
            && let Some(found) = found(settings, runtime)?
        {
            return Ok(found);
        }
        if start { embedded(config, settings, runtime) } else { Ok(Self::planned(config)) }
    }

    /// An embedded server of this configuration, whatever else there is.
    pub(crate) fn start(config: Config, settings: &Settings, runtime: &Runtime) -> anyhow::Result<Self> {
        embedded(config, settings, runtime)
    }

    /// An embedded server that is not started: it is only to be described.
    fn planned(config: Config) -> Self {
        Self { kind: Kind::Embedded, target: None, mock: None, model: Some(config), _embedded: None }
    }

    /// Where attempts go.
    pub(crate) fn url(&self) -> String {
        self.target
            .as_ref()
            .map_or_else(|| "http://127.0.0.1 (own port)".to_owned(), |target| target.url().to_string())
    }

    /// The server as it is written down.
    pub(crate) fn record(&self) -> ServerRecord<'_> {
        ServerRecord { kind: self.kind.to_string(), target: Some(self.url()), model: self.model.as_ref() }
    }

    /// The server in a few words.
    pub(crate) fn describe(&self) -> String {
        let what = match (&self.kind, &self.model) {
            (Kind::Embedded, _) => "embedded mockserver",
            (Kind::Found, _) => "found mockserver",
            (Kind::Given(_), Some(_)) => "mockserver",
            (Kind::Given(_), None) => "server",
        };
        format!("{what} at {}", self.url().trim_end_matches('/'))
    }

    /// Reads the mockserver's configuration anew; what cannot be read stays as it was.
    pub(crate) fn refresh(&mut self, runtime: &Runtime) {
        if let Some((mock, model)) = self.current(runtime) {
            (self.mock, self.model) = (Some(mock), Some(model));
        }
    }

    /// Whether the mockserver behaves otherwise than when its configuration was read.
    pub(crate) fn changed(&self, runtime: &Runtime) -> bool {
        self.current(runtime).is_some_and(|(_, model)| Some(&model) != self.model.as_ref())
    }

    fn current(&self, runtime: &Runtime) -> Option<(Box<MockServer>, Config)> {
        self.mock.as_ref()?;
        let Ok(Probe::Mock(mock)) = runtime.block_on(probe(self.target.as_ref()?)) else { return None };
        let model = serde_json::from_value(mock.config.clone()).ok()?;
        Some((mock, model))
    }

    /// Perfect knowledge of this server; `margin` is added to every start that has to wait for a slot.
    pub(crate) fn foreknowledge(&self, seed: u64, margin: Duration) -> Option<Box<dyn Foreknowledge>> {
        let model = self.model.as_ref().filter(|model| model.is_plain_cap())?;
        Some(Box::new(Foresight(Ideal::new(model, seed).with_margin(margin))))
    }
}

/// A mockserver's model in a few words.
pub(crate) fn describe_model(model: &Config) -> String {
    let slot = if model.rejects_occupy { ", holds a slot" } else { "" };
    let mut text = match &model.policy {
        Policy::ConcurrencyCap => format!(
            "cap {}, service {}, reject {} ({}{slot})",
            model.max_busy, model.service_time, model.reject_time, model.reject_status
        ),
        other => other.to_string(),
    };
    // Writing to a string cannot fail.
    let _ = write!(text, ", network {}", model.network_delay);
    if !model.return_delay.is_zero() {
        let _ = write!(text, ", back {}", model.return_delay);
    }
    if model.loss > 0.0 {
        let _ = write!(text, ", loss {}", model.loss);
    }
    if !model.outages.is_empty() {
        let _ = write!(text, ", down {}", model.outages);
    }
    if model.reject_first > 0 {
        let _ = write!(text, ", first {} attempts rejected", model.reject_first);
    }
    text
}

fn given(url: &str, settings: &Settings, runtime: &Runtime) -> anyhow::Result<Server> {
    let target = Target::resolve(url, settings.trust.clone()).map_err(|error| {
        let exit = match error {
            loadgen_http::TargetError::Unresolved { .. } => Exit::Unreachable,
            _ => Exit::Usage,
        };
        Fatal::because(exit, "cannot use `--target`", error)
    })?;
    let kind = Kind::Given(target.url().to_string());
    match runtime.block_on(probe(&target))? {
        Probe::Mock(mock) => recognised(kind, target, mock, None, settings),
        Probe::Other => Ok(Server { kind, target: Some(target), mock: None, model: None, _embedded: None }),
        Probe::Unreachable(error) => {
            Err(Fatal::because(Exit::Unreachable, unreachable_words(&target), error))
        }
    }
}

fn unreachable_words(target: &Target) -> String {
    let url = target.url();
    if url.scheme() == "https" {
        format!(
            "no connection to `{url}` (--target); start the server, or, when its certificate is its own, give \
             `--cacert FILE` or `--insecure`"
        )
    } else {
        format!("nothing answers at `{url}` (--target); start the server, or leave out `--target`")
    }
}

fn found(settings: &Settings, runtime: &Runtime) -> anyhow::Result<Option<Server>> {
    let target = Target::resolve(wire::DEFAULT_ADDRESS, Trust::default())?;
    match runtime.block_on(probe(&target))? {
        Probe::Mock(mock) => recognised(Kind::Found, target, mock, None, settings).map(Some),
        Probe::Other | Probe::Unreachable(_) => Ok(None),
    }
}

fn embedded(config: Config, settings: &Settings, runtime: &Runtime) -> anyhow::Result<Server> {
    let server = Embedded::start(config, settings.time_scale).map_err(|error| {
        Fatal::because(Exit::Usage, "the embedded mockserver could not be started", error)
    })?;
    let target = Target::resolve(&server.address().to_string(), Trust::default())?;
    match runtime.block_on(probe(&target))? {
        Probe::Mock(mock) => recognised(Kind::Embedded, target, mock, Some(server), settings),
        Probe::Other | Probe::Unreachable(_) => {
            Err(Fatal::error(Exit::Unreachable, "the embedded mockserver was started but does not answer"))
        }
    }
}

fn recognised(
    kind: Kind,
    target: Target,
    mock: Box<MockServer>,
    embedded: Option<Embedded>,
    settings: &Settings,
) -> anyhow::Result<Server> {
    let told = mock.config.get("time_scale").and_then(serde_json::Value::as_f64).unwrap_or(1.0);
    if (told - settings.time_scale.factor()).abs() > 1e-9 {
        return Err(Fatal::error(
            Exit::Usage,
            format!(
                "the mockserver at {} runs at time scale {told} and this run at {}; start it with `--time-scale {}`, \
                 or give this run `--time-scale {told}`",
                target.url(),
                settings.time_scale,
                settings.time_scale
            ),
        ));
    }
    let model = serde_json::from_value(mock.config.clone()).map_err(|error| {
        Fatal::because(
            Exit::Unreachable,
            format!("the mockserver at {} is of another version", target.url()),
            error,
        )
    })?;
    Ok(Server { kind, target: Some(target), mock: Some(mock), model: Some(model), _embedded: embedded })
}
