//! One run over HTTP in this process, with the logs of both sides.

use std::num::NonZero;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use loadgen_core::{Classifier, Input, OperationKind, Output, RequestKind, Run, RunConfig, RunLog, Snapshot};
use loadgen_http::{
    Command, Control, DriveOptions, RequestTemplate, RunHeaders, TRANSPORTS, Target, TransportConfig,
    TransportEntry, Trust,
};
use loadgen_sim::least_costs;
use mockserver::Embedded;
use mockserver_core::{Config, ServerLog};
use tailback::StrategySpec;
use vocabulary::TimeScale;

use crate::replay::{Difference, replay_between, replay_client, replay_server};

/// A run that must be alone holds the write lock, any other run the read lock.
static MACHINE: RwLock<()> = RwLock::new(());

#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) strategy: &'static str,
    pub(crate) config: RunConfig,
    pub(crate) server: Config,
    pub(crate) time_scale: &'static str,
    pub(crate) transport: &'static TransportEntry,
    pub(crate) max_connections: usize,
    pub(crate) threads: NonZero<usize>,
    /// Attempts after which another thread stops the run.
    pub(crate) stop_after: Option<u64>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            strategy: "aimd",
            config: RunConfig::default(),
            server: Config::default(),
            time_scale: "0.1",
            transport: &TRANSPORTS[0],
            max_connections: 256,
            threads: NonZero::<usize>::MIN,
            stop_after: None,
        }
    }
}

pub(crate) struct RealRun {
    pub(crate) run: Run,
    pub(crate) client: RunLog,
    pub(crate) server: ServerLog,
}

impl Setting {
    pub(crate) fn client(&self) -> Run {
        let mut spec: StrategySpec = self.strategy.parse().expect("it is in the registry");
        if let Some(mix) = &self.config.requests.mix {
            spec = spec.with_methods(mix.kinds().iter().map(RequestKind::rules_method));
        }
        let seed = self.config.seed;
        let schedule = || self.server.oracle_schedule(seed, Duration::from_millis(20));
        let schedule = || self.server.is_plain_cap().then(schedule);
        Run::new(self.config.clone(), |_| spec.build(seed, schedule()), least_costs(&self.server, seed))
            .expect("it starts")
    }

    /// Runs the setting over HTTP, perhaps beside other runs.
    pub(crate) fn run(&self) -> RealRun {
        let _beside_others = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
        self.run_now()
    }

    /// Runs the setting over HTTP without other runs of these tests, because their load would show in figures.
    pub(crate) fn run_alone(&self) -> RealRun {
        let _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
        self.run_now()
    }

    fn run_now(&self) -> RealRun {
        let scale = TimeScale::parse(self.time_scale).expect("it is a scale");
        let server = Embedded::start(self.server.clone(), scale).expect("a port and threads");
        server.record_log();
        let mut run = self.client();
        let transport = TransportConfig {
            target: Target::resolve(&server.address().to_string(), Trust::default(), &[])
                .expect("an address"),
            request: RequestTemplate::default(),
            run: Some(RunHeaders { run: 7, seed: self.config.seed, anchor: server.anchor() }),
            classifier: Classifier::new(
                &self.config.rejected_when,
                self.server.reject_statuses(),
                self.config.kind == OperationKind::ReadModifyWrite,
            ),
            last_head: Arc::default(),
            reading: run.reading(),
            kind: self.config.kind,
            requests: self.config.requests.clone(),
            seed: self.config.seed,
            timeout: scale.to_real(self.config.timeout),
            max_connections: self.max_connections,
            threads: self.threads,
            local_addresses: Arc::default(),
            keep_alive: true,
            http2_connections: NonZero::<usize>::MIN,
            scale,
            searched: Arc::default(),
        };
        let transport = self.transport.build(transport).expect("it needs nothing");
        run.record_log();
        let control = Control::default();
        let options =
            DriveOptions { warm_connections: 32.min(self.max_connections), ..DriveOptions::default() };
        let watched = &control;
        let (mut run, _) = std::thread::scope(|scope| {
            if let Some(attempts) = self.stop_after {
                scope.spawn(move || stop_after(attempts, watched));
            }
            transport.drive(run, &control, options).expect("the system gives a timer")
        });
        let client = run.take_log().expect("it was recorded");
        RealRun { run, client, server: server.take_log().expect("it was recorded") }
    }
}

/// Watches a run, stops it and then aborts it.
fn stop_after(attempts: u64, control: &Control) {
    let mut snapshot = Snapshot::default();
    loop {
        control.ask(Command::Snapshot);
        let (_, over) = control.latest(&mut snapshot);
        if over {
            return;
        }
        if snapshot.attempts.total >= attempts {
            control.ask(Command::Stop);
            control.ask(Command::Abort);
            return;
        }
        std::thread::yield_now();
    }
}

impl RealRun {
    /// Replays both logs and compares them with each other.
    pub(crate) fn replay(&self, setting: &Setting) -> Result<(), Difference> {
        let replayed = replay_client(&self.client, setting.client())?;
        let counts =
            |run: &Run| (run.measurements().ops, run.measurements().attempts, run.measurements().makespan());
        assert_eq!(counts(&self.run), counts(&replayed), "the same decisions, but other counts");
        replay_server(&self.server)?;
        replay_between(&self.client, &self.server, &replayed)
    }

    pub(crate) fn withdrawn(&self) -> usize {
        self.client.outputs.iter().filter(|output| matches!(output, Output::Cancel(_))).count()
    }

    pub(crate) fn stopped(&self) -> bool {
        self.client.inputs.iter().any(|(_, input)| *input == Input::Stop)
    }
}
