//! What several strategies run against: a mock server of their own for every run, or the server that `--target` names.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loadgen_core::Bins;
use mockserver::core::Config;

use crate::args::RunArgs;
use crate::interrupt::Interrupt;
use crate::one_run::{Finished, Underway};
use crate::own_server::OwnServer;
use crate::record::ServerRecord;
use crate::settings::Settings;
use crate::target::Server;

/// The server of several strategies.
#[derive(Clone)]
pub(crate) enum Opponent {
    /// A mock server of this configuration: in virtual time, or a fresh one for every run.
    Own(Box<Config>),
    /// The server that `--target` names, for all runs.
    Given(Arc<GivenServer>),
}

/// A server that was there before, and asked once what it is.
pub(crate) struct GivenServer {
    http: OwnServer,
    server: Mutex<Server>,
    /// Where it is, what it is and, of a mockserver, how it was configured when it was asked.
    kind: String,
    url: String,
    words: String,
    model: Option<Config>,
}

impl Opponent {
    /// How it behaves, as far as that is known.
    pub(crate) fn model(&self) -> Option<&Config> {
        match self {
            Self::Own(model) => Some(model),
            Self::Given(given) => given.model.as_ref(),
        }
    }

    /// Who is asked.
    pub(crate) fn words(&self, simulated: bool) -> String {
        match self {
            Self::Own(_) if simulated => "simulated server".to_owned(),
            Self::Own(_) => "embedded mock server, a fresh one for every run".to_owned(),
            Self::Given(given) => given.words.clone(),
        }
    }

    /// Who is asked, and how it is configured; `between` stands before the latter.
    pub(crate) fn described(&self, simulated: bool, between: &str) -> String {
        let model = self.model().map(|model| format!("{between}{}", model.describe()));
        self.words(simulated) + &model.unwrap_or_default()
    }

    /// The server as it is written down, before any run.
    pub(crate) fn record(&self, simulated: bool) -> ServerRecord<'_> {
        let (kind, target) = match self {
            Self::Own(_) => (if simulated { "simulated" } else { "embedded" }, None),
            Self::Given(given) => (given.kind.as_str(), Some(given.url.clone())),
        };
        ServerRecord { kind: kind.to_owned(), target, model: self.model() }
    }

    /// What intervals are over.
    pub(crate) fn intervals(&self) -> &'static str {
        if self.model().is_some() {
            "over seeds, for this server model"
        } else {
            "over runs against this server, which is not known to be the same in each"
        }
    }

    /// Refuses what cannot be run against it.
    pub(crate) fn refuse_unusable(&self, settings: &Settings) -> anyhow::Result<()> {
        match self {
            Self::Own(model) => Ok(settings.refuse_unplannable(model)?),
            Self::Given(given) => given.server().refuse_unusable(settings),
        }
    }

    /// That the mockserver was given another configuration since it was asked first.
    pub(crate) fn changed(&self) -> Option<String> {
        let Self::Given(given) = self else { return None };
        let (server, words) = (given.server(), &given.words);
        (server.model != given.model).then(|| {
            format!("the {words} was given another configuration meanwhile: not all runs met the same server")
        })
    }
}

impl GivenServer {
    /// Asks the server that `--target` names what it is; nothing when none is named.
    pub(crate) fn reach(args: &RunArgs, settings: &Settings) -> anyhow::Result<Option<Self>> {
        let http = OwnServer::new()?;
        let Some(server) = Server::named(args, settings, http.runtime())? else { return Ok(None) };
        Ok(Some(Self {
            kind: server.kind.to_string(),
            url: server.url(),
            words: server.describe(),
            model: server.model.clone(),
            server: Mutex::new(server),
            http,
        }))
    }

    /// Does one run; see [`OwnServer::run`].
    pub(crate) fn run(
        &self,
        settings: &Settings,
        seed: u64,
        interrupt: &Interrupt,
        waiting: impl FnMut(&Underway),
    ) -> anyhow::Result<(Finished, Option<Bins>)> {
        let mut server = self.server();
        // It may have been changed since.
        server.refresh(self.http.runtime());
        self.http.run_against(&server, settings, seed, None, interrupt, waiting)
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
