//! Server under test: a mockserver that is started for every run, or the server that `--target` names.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loadgen_core::{ArrivalProcess, Workload};
use mockserver::core::Config;
use results::Warning;
use results::numbers::thousands;
use tokio::runtime::Runtime;

use crate::experiment::Experiment;
use crate::record::ServerRecord;
use crate::runs::stop::Stop;
use crate::servers::target::{Kind, Server, ServerChoice};

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
                settings.refuse_own_endpoints()
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

/// Number of files that an experiment opens in addition to connections to the server: timers, runtimes, administrative connections and
/// outputs.
const OPENED_LATER: u64 = 16;

/// Assumed number of files that the program already has open, used if the system does not report the number.
const USUALLY_OPEN: u64 = 48;

/// Assumed number of concurrent connections of a client whose server is unknown.
const USUALLY_WANTED: u64 = 128;

/// Number of connections that the program can have open at once. If a run needs more, some attempts must wait in the client for a file
/// descriptor. Such a wait would change the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionRoom {
    pub most: usize,
    limit: Option<u64>,
    /// Number of open files that the program needs for everything except connections.
    others: u64,
    /// Number of files that one connection opens in this process. An embedded server runs in the same process, so each connection opens 2
    /// files, one for each end. With any other server, it opens 1.
    ends: u64,
}

impl ConnectionRoom {
    /// Computes the number of connections that the limit on open files allows. If `limit` is `None`, open files are not limited. With an
    /// embedded server, both ends of each connection count towards the limit.
    pub fn within(limit: Option<u64>, server: &Server) -> Self {
        let open = std::fs::read_dir("/proc/self/fd").map_or(USUALLY_OPEN, |files| files.count() as u64);
        let ends = if server.kind == Kind::Embedded { 2 } else { 1 };
        Self::new(limit, open + OPENED_LATER, ends)
    }

    fn new(limit: Option<u64>, others: u64, ends: u64) -> Self {
        let room = limit.map(|limit| limit.saturating_sub(others) / ends);
        let most = room.map_or(usize::MAX, |room| usize::try_from(room).unwrap_or(usize::MAX).max(1));
        Self { most, limit, others, ends }
    }

    pub fn warning_before(&self, workload: &Workload, model: Option<&Config>) -> Option<String> {
        let wanted = match workload.arrivals {
            ArrivalProcess::Closed { in_flight } => u64::from(in_flight),
            _ => USUALLY_WANTED.max(model.map_or(0, |model| 2 * u64::from(model.max_busy))),
        };
        let wanted = workload.ops.map_or(wanted, |ops| ops.min(wanted));
        (wanted > self.most as u64).then(|| {
            format!(
                "the limit of {} open files allows {} connections, and this run may use {} at once, so further attempts wait in the client; run `ulimit -n {}` first, or use `--simulate`",
                thousands(self.limit.unwrap_or_default()),
                thousands(self.most as u64),
                thousands(wanted),
                self.files_for(wanted)
            )
        })
    }

    /// Returns a warning if more attempts were in flight (`in_flight`) than connections are possible. Each attempt uses a connection of its
    /// own, so some attempts had to wait. The number of opened connections would not show these waits, because faults may have closed most
    /// connections.
    pub fn warning_after(&self, in_flight: u64) -> Option<Warning> {
        (in_flight > self.most as u64).then(|| Warning::FewConnections {
            most: self.most as u64,
            open_files: self.limit.unwrap_or_default(),
            in_flight,
            enough_files: self.files_for(in_flight),
        })
    }

    fn files_for(&self, connections: u64) -> u64 {
        (self.others + self.ends * connections).next_multiple_of(64)
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
        runtime.block_on(mock.change(&wire::ConfigChange::Cap { max_busy: 20 })).unwrap();
        let given = GivenServer::new(server, runtime, None);
        let slots =
            || given.with_current(&Never, |server, _, _| server.model.as_ref().map(|model| model.max_busy));
        assert_eq!([slots(), slots()], [Some(50), Some(20)]);
    }

    fn open_loop(ops: u64) -> Workload {
        Workload { ops: Some(ops), ..Workload::default() }
    }

    #[test]
    fn open_files_reduce_the_room_and_an_embedded_server_halves_it() {
        assert_eq!(ConnectionRoom::new(Some(64), 30, 2).most, 17);
        assert_eq!(ConnectionRoom::new(Some(64), 30, 1).most, 34);
        assert_eq!(ConnectionRoom::new(Some(16), 30, 1).most, 1);
        assert_eq!(ConnectionRoom::new(None, 30, 2).most, usize::MAX);
    }

    #[test]
    fn a_warning_about_a_low_limit_names_a_sufficient_one() {
        let room = ConnectionRoom::new(Some(64), 30, 2);
        let words = room.warning_before(&open_loop(2000), Some(&Config::default())).unwrap();
        assert!(words.contains("limit of 64") && words.contains("allows 17 conn"), "{words}");
        assert!(words.contains("`ulimit -n 320`"), "30 + 2 · 128, {words}");
        assert_eq!(room.warning_before(&open_loop(17), None), None);
        let closed = Workload { arrivals: ArrivalProcess::Closed { in_flight: 18 }, ..open_loop(2000) };
        assert!(room.warning_before(&closed, None).is_some());
        assert_eq!(ConnectionRoom::new(Some(1024), 30, 2).warning_before(&open_loop(2000), None), None);
        assert_eq!(room.warning_after(17), None);
        assert!(room.warning_after(80).unwrap().to_string().contains("`ulimit -n 192`"));
    }
}
