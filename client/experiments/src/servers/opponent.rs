//! What several strategies run against: a mock server of their own for every run, or the server that `--target` names.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loadgen_core::Workload;
use mockserver::core::Config;
use results::Warning;
use tokio::runtime::Runtime;

use crate::experiment::Experiment;
use crate::record::ServerRecord;
use crate::runs::stop::Stop;
use crate::servers::connection_room::ConnectionRoom;
use crate::servers::target::{Server, ServerChoice};

/// The server of several strategies.
#[derive(Clone)]
pub enum Opponent {
    /// A mock server of this configuration: in virtual time, or a fresh one for every run.
    Own(Box<Config>),
    /// The server that `--target` names, for all runs.
    Given(Arc<GivenServer>),
    /// One that runs met which are over: nobody asks it any more.
    Past(Box<PastServer>),
}

/// A server as documents have it.
#[derive(Clone)]
pub struct PastServer {
    /// `embedded`, `found` or the URL.
    pub kind: String,
    /// Where it was.
    pub target: Option<String>,
    /// The same for people.
    pub words: String,
    /// How it was configured, of a mockserver.
    pub model: Option<Config>,
}

/// A server that was there before, and asked once what it is.
pub struct GivenServer {
    server: Mutex<Server>,
    /// Whether a run has met it: the first meets what was announced and was found usable.
    met: AtomicBool,
    /// What it is asked on.
    runtime: Runtime,
    room: ConnectionRoom,
    /// Where it is, what it is and, of a mockserver, how it was configured when it was asked.
    kind: String,
    url: String,
    words: String,
    model: Option<Config>,
}

impl Opponent {
    /// How it behaves, as far as that is known.
    pub fn model(&self) -> Option<&Config> {
        match self {
            Self::Own(model) => Some(model),
            Self::Given(given) => given.model.as_ref(),
            Self::Past(past) => past.model.as_ref(),
        }
    }

    /// Who is asked.
    pub fn words(&self, simulated: bool) -> String {
        match self {
            Self::Own(_) if simulated => "simulated server".to_owned(),
            Self::Own(_) => "embedded mock server, a fresh one for every run".to_owned(),
            Self::Given(given) => given.words.clone(),
            Self::Past(past) => past.words.clone(),
        }
    }

    /// Who is asked, and how it is configured; `between` stands before the latter.
    pub fn described(&self, simulated: bool, between: &str) -> String {
        let model = self.model().map(|model| format!("{between}{}", model.describe()));
        self.words(simulated) + &model.unwrap_or_default()
    }

    /// The server as it is written down, before any run.
    pub fn record(&self, simulated: bool) -> ServerRecord<'_> {
        let (kind, target) = match self {
            Self::Own(_) => (if simulated { "simulated" } else { "embedded" }, None),
            Self::Given(given) => (given.kind.as_str(), Some(given.url.clone())),
            Self::Past(past) => (past.kind.as_str(), past.target.clone()),
        };
        ServerRecord { kind: kind.to_owned(), target, model: self.model() }
    }

    /// What intervals are over.
    pub fn intervals(&self) -> &'static str {
        if self.model().is_some() {
            "over seeds, for this server model"
        } else {
            "over runs against this server, which is not known to be the same in each"
        }
    }

    /// Refuses what cannot be run against it.
    pub fn refuse_unusable(&self, settings: &Experiment) -> anyhow::Result<()> {
        match self {
            Self::Own(model) => {
                settings.refuse_unplannable(model)?;
                Ok(settings.refuse_own_endpoints()?)
            }
            Self::Given(given) => given.server().refuse_unusable(settings),
            // Runs met it.
            Self::Past(_) => Ok(()),
        }
    }

    /// What is to be said before a run against a server that is there, if it may want more connections than there is room for.
    pub fn warning_before(&self, workload: &Workload) -> Option<String> {
        let Self::Given(given) = self else { return None };
        given.room.warning_before(workload, given.model.as_ref())
    }

    /// Why the counts of a server that is there cannot be compared, if that is known before any run.
    pub fn counts_unknown(&self) -> Option<Warning> {
        let Self::Given(given) = self else { return None };
        given.server().counts_unknown()
    }

    /// That the mockserver was given another configuration since it was asked first.
    pub fn changed(&self) -> Option<String> {
        let Self::Given(given) = self else { return None };
        let (server, words) = (given.server(), &given.words);
        (server.model != given.model).then(|| {
            format!("the {words} was given another configuration meanwhile: not all runs met the same server")
        })
    }
}

impl GivenServer {
    /// The server that `--target` names, asked what it is; nothing when none is named.
    pub fn reach(choice: &ServerChoice<'_>, settings: &Experiment) -> anyhow::Result<Option<Self>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let files = loadgen_http::raise_open_files();
        let server = Server::named(choice, settings, &runtime)?;
        Ok(server.map(|server| Self::new(server, runtime, files)))
    }

    /// A server that is there. All runs against it share what the limit on open files leaves room for now.
    pub fn new(server: Server, runtime: Runtime, files: Option<u64>) -> Self {
        Self {
            kind: server.kind.to_string(),
            url: server.url(),
            words: server.describe(),
            model: server.model.clone(),
            room: ConnectionRoom::within(files, &server),
            server: Mutex::new(server),
            met: AtomicBool::new(false),
            runtime,
        }
    }

    /// The server of the next run: as it was announced for the first, and from the second on as it is by now. A change before
    /// the first is noticed when that is over.
    pub fn with_current<T>(
        &self,
        stop: &dyn Stop,
        run: impl FnOnce(&Server, ConnectionRoom, &Runtime) -> T,
    ) -> T {
        let mut server = self.server();
        if self.met.swap(true, Ordering::Relaxed) {
            server.refresh(&self.runtime, stop);
        }
        run(&server, self.room, &self.runtime)
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use loadgen_core::RunConfig;

    use super::*;
    use crate::runs::stop::Never;

    #[test]
    fn the_first_run_meets_what_was_announced_and_the_second_what_is_there_by_then() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let experiment = Experiment::of_run("none".parse().unwrap(), RunConfig::default());
        let server = Server::start(Config::default(), &experiment, &runtime).unwrap();
        let mock = server.mock.as_ref().unwrap();
        runtime.block_on(mock.change(&vocabulary::wire::ConfigChange::Cap { max_busy: 20 })).unwrap();
        let given = GivenServer::new(server, runtime, None);
        let slots =
            || given.with_current(&Never, |server, _, _| server.model.as_ref().map(|model| model.max_busy));
        assert_eq!([slots(), slots()], [Some(50), Some(20)]);
    }
}
