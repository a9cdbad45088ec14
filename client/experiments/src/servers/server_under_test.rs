//! Server under test: a mockserver that is started for every run, or the server that `--target` names.

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

#[derive(Clone)]
pub enum ServerUnderTest {
    /// Mockserver with this configuration: simulated in virtual time, or started for every run over HTTP.
    Own(Box<Config>),
    /// Server that `--target` names, for all runs.
    Given(Arc<GivenServer>),
    /// Server of runs that were completed earlier. It can no longer be queried.
    Past(Box<PastServer>),
}

#[derive(Clone)]
pub struct PastServer {
    /// `embedded`, `found` or the URL.
    pub kind: String,
    pub target: Option<String>,
    pub words: String,
    pub model: Option<Config>,
}

pub struct GivenServer {
    server: Mutex<Server>,
    /// Whether a run has used the server. The first run uses the configuration that was announced and checked.
    met: AtomicBool,
    runtime: Runtime,
    room: ConnectionRoom,
    /// Kind, address and description, as read at the time of the probe. For a mockserver, also its configuration at
    /// that time.
    kind: String,
    url: String,
    words: String,
    model: Option<Config>,
}

impl ServerUnderTest {
    pub fn model(&self) -> Option<&Config> {
        match self {
            Self::Own(model) => Some(model),
            Self::Given(given) => given.model.as_ref(),
            Self::Past(past) => past.model.as_ref(),
        }
    }

    pub fn words(&self, simulated: bool) -> String {
        match self {
            Self::Own(_) if simulated => "simulated server".to_owned(),
            Self::Own(_) => "embedded mock server, a fresh one for every run".to_owned(),
            Self::Given(given) => given.words.clone(),
            Self::Past(past) => past.words.clone(),
        }
    }

    pub fn described(&self, simulated: bool, between: &str) -> String {
        let model = self.model().map(|model| format!("{between}{}", model.describe()));
        self.words(simulated) + &model.unwrap_or_default()
    }

    pub fn record(&self, simulated: bool) -> ServerRecord<'_> {
        let (kind, target) = match self {
            Self::Own(_) => (if simulated { "simulated" } else { "embedded" }, None),
            Self::Given(given) => (given.kind.as_str(), Some(given.url.clone())),
            Self::Past(past) => (past.kind.as_str(), past.target.clone()),
        };
        ServerRecord { kind: kind.to_owned(), target, model: self.model() }
    }

    /// Replaces the seed of a mockserver that is started for every run.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        match &mut self {
            Self::Own(model) => model.seed = seed,
            Self::Past(past) if past.kind == "embedded" => {
                past.model.iter_mut().for_each(|model| model.seed = seed);
            }
            Self::Past(_) | Self::Given(_) => {}
        }
        self
    }

    /// Describes the population that confidence intervals refer to.
    pub fn intervals(&self) -> &'static str {
        if self.model().is_some() {
            "over seeds, for this server model"
        } else {
            "over runs against this server, which may have changed between runs"
        }
    }

    pub fn refuse_unusable(&self, settings: &Experiment) -> anyhow::Result<()> {
        match self {
            Self::Own(model) => {
                settings.refuse_unplannable(model)?;
                Ok(settings.refuse_own_endpoints()?)
            }
            Self::Given(given) => given.server().refuse_unusable(settings),
            // Accepted without a check, because completed runs have already used this server.
            Self::Past(_) => Ok(()),
        }
    }

    pub fn choose_strategy(&self, settings: &mut Experiment) -> anyhow::Result<()> {
        let Self::Given(given) = self else { return Ok(()) };
        given.server().choose_strategy(settings)
    }

    /// Returns the words for a server that was not asked whether it is a mockserver, with a separator before them; otherwise nothing.
    pub fn unasked_words(&self) -> String {
        let Self::Given(given) = self else { return String::new() };
        given.server().unasked_words().map_or_else(String::new, |words| format!(" · {words}"))
    }

    pub fn warning_before(&self, workload: &Workload) -> Option<String> {
        let Self::Given(given) = self else { return None };
        given.room.warning_before(workload, given.model.as_ref())
    }

    pub fn counts_unknown(&self) -> Option<Warning> {
        let Self::Given(given) = self else { return None };
        given.server().counts_unknown()
    }

    pub fn changed(&self) -> Option<String> {
        let Self::Given(given) = self else { return None };
        let (server, words) = (given.server(), &given.words);
        (server.model != given.model).then(|| {
            format!(
                "the configuration of the {words} was changed meanwhile, so not all runs used the same server"
            )
        })
    }
}

impl GivenServer {
    pub fn reach(choice: &ServerChoice<'_>, settings: &Experiment) -> anyhow::Result<Option<Self>> {
        let runtime = mockserver::runtime()?;
        let files = loadgen_http::raise_open_files();
        let server = Server::named(choice, settings, &runtime)?;
        Ok(server.map(|server| Self::new(server, runtime, files)))
    }

    /// Wraps an existing server. The number of connections that the limit on open files allows is computed now, for all
    /// runs.
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

    /// Calls `run` with the server's current state. The first run uses the configuration that was announced. For later
    /// runs, the configuration is read again. If it changed before the first run, this is noticed at the end of that
    /// run.
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

    /// The cap changes from 50 to 20 before the first run.
    #[test]
    fn the_first_run_uses_the_announced_model_the_second_the_new() {
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
