//! Runs of candidate settings on plausible servers in virtual time, for `loadgen recommend`.

use std::cell::RefCell;
use std::time::Duration;

use experiments::Experiment;
use experiments::runs::driver::{Driver as _, Nobody, Task, Tasks};
use experiments::runs::stop::Stop as _;
use experiments::runs::virtual_time::VirtualTime;
use experiments::servers::server_under_test::ServerUnderTest;
use results::RunResult;
use shell::exit::{Exit, Fatal};
use shell::runner::interrupt::Interrupt;
use shell::text::figures::counted;
use shell::text::progress::Live;
use tailback::StrategySpec;
use vocabulary::Distribution;

use crate::budget::MAX_ATTEMPTS_PER_OP;
use crate::candidate::Candidate;
use crate::flags::Flags;
use crate::fresh::{FRESH_SEEDS, FRESH_SERVERS};
use crate::observed::{Goal, Observed, whole};
use crate::range::Range;
use crate::servers::{PlausibleServer, drawn, search_servers};

/// Place where candidates run: the plausible servers, and the seeds.
pub(super) struct Bench<'a> {
    flags: Flags,
    /// Usual network time, and the least deviation of a request from it; `None` if the network stays as it was typed.
    network: Option<(Distribution, Duration)>,
    pub ranges: Vec<Range>,
    pub goal: Goal,
    pub seed: u64,
    /// Servers on which the search tries candidates. The nominal server comes first.
    pub servers: Vec<PlausibleServer>,
    /// Capacity at each limit of these servers, in requests per second. Empty for a server whose capacity is unknown.
    pub limits_per_s: Vec<Vec<f64>>,
    pub instances: u32,
    /// Whether the nominal server advises a wait when it rejects.
    pub sends_advice: bool,
    /// Whether the nominal server limits concurrent requests, before all other limits.
    pub limits_slots: bool,
    /// Number of ops of the nominal run; an estimate if the run is limited by its duration.
    pub ops: u64,
    driver: VirtualTime,
    interrupt: &'a Interrupt,
    live: RefCell<Live>,
}

impl<'a> Bench<'a> {
    /// Chooses the servers of the search, and checks that each of them can be configured.
    ///
    /// # Errors
    /// Fails if a plausible value is not valid.
    pub(super) fn new(
        flags: Flags,
        ranges: Vec<Range>,
        goal: Goal,
        network: Option<(Distribution, Duration)>,
        (seed, threads): (u64, Option<u16>),
        interrupt: &'a Interrupt,
        live: Live,
    ) -> anyhow::Result<Self> {
        let servers = search_servers(&ranges, seed);
        let none = "none".parse()?;
        let mut limits_per_s = Vec::new();
        let (mut instances, mut ops) = (1, 0);
        let (mut sends_advice, mut limits_slots) = (false, false);
        for (number, server) in servers.iter().enumerate() {
            let (experiments, server) = flags.on_server(server, &ranges).experiments([(&none, None)])?;
            let experiment = &experiments[0];
            let limits = server.model().map(|model| experiments::limits_per_s(experiment, model));
            limits_per_s.push(limits.unwrap_or_default());
            if number == 0 {
                let run = &experiment.run;
                instances = if run.share_strategy { 1 } else { run.clients };
                ops = ops_of(experiment);
                if let Some(model) = server.model() {
                    let first = model.first_limit(Duration::ZERO);
                    sends_advice = model.sends_advice();
                    limits_slots = first.is_some_and(|limit| limit.slots().is_some());
                }
            }
        }
        Ok(Self {
            flags,
            network,
            ranges,
            goal,
            seed,
            servers,
            limits_per_s,
            instances,
            sends_advice,
            limits_slots,
            ops,
            driver: VirtualTime::on_threads(threads),
            interrupt,
            live: RefCell::new(live),
        })
    }

    pub(super) fn nominal_flags(&self) -> Flags {
        self.flags_of(&self.servers[0])
    }

    fn flags_of(&self, server: &PlausibleServer) -> Flags {
        let flags = self.flags.on_server(server, &self.ranges);
        match self.network {
            Some((usual, least)) => flags.with_drawn_network(usual, least),
            None => flags,
        }
    }

    /// Runs candidates on one server of the search. A run ends at [`MAX_ATTEMPTS_PER_OP`], so that hopeless candidates end early.
    pub(super) fn search(
        &self,
        server: usize,
        candidates: &[&Candidate],
        share: f64,
    ) -> anyhow::Result<Vec<Observed>> {
        let (number, servers) = (server + 1, self.servers.len());
        self.live.borrow_mut().line(|| {
            format!("server {number} of {servers}, {}", counted(candidates.len() as u64, "setting"))
        });
        self.on((&self.servers[server], self.seed), candidates, share)
    }

    /// Runs candidates on a server with a seed, as [`Bench::search`] does. Each run has a share of the ops, which may exceed 1.
    pub(super) fn on(
        &self,
        (server, seed): (&PlausibleServer, u64),
        candidates: &[&Candidate],
        share: f64,
    ) -> anyhow::Result<Vec<Observed>> {
        let (mut experiments, server) =
            self.flags_of(server).with_share(share, self.ops).experiments(settings(candidates))?;
        for experiment in &mut experiments {
            experiment.run.max_attempts_per_op = Some(MAX_ATTEMPTS_PER_OP);
        }
        self.drive(&experiments, &server, &[seed], |run| Observed::new(run, self.goal))
    }

    pub(super) fn fresh_servers(&self) -> Vec<PlausibleServer> {
        drawn(&self.ranges, self.seed, FRESH_SERVERS)
    }

    /// Returns the number of seeds on each fresh server. If no figure of the server is uncertain, all fresh servers are equal. Each of them
    /// then has one seed of its own.
    pub(super) fn fresh_seeds(&self) -> u32 {
        if self.ranges.is_empty() { 1 } else { FRESH_SEEDS }
    }

    /// Runs candidates on fresh servers. Returns for each candidate its means over seeds on each of them.
    pub(super) fn fresh(&self, candidates: &[&Candidate]) -> anyhow::Result<Vec<Vec<Observed>>> {
        let (servers, seeds) = (self.fresh_servers(), self.fresh_seeds());
        let mut rows = vec![Vec::new(); candidates.len()];
        for (number, server) in servers.iter().enumerate() {
            let count = servers.len();
            self.live.borrow_mut().line(|| format!("fresh server {} of {count}", number + 1));
            let (experiments, server) = self.flags_of(server).experiments(settings(candidates))?;
            let first = 1 + number as u64 * u64::from(seeds);
            let of_server = (first..first + u64::from(seeds)).map(|seed| self.seed.wrapping_add(seed));
            let of_server: Vec<u64> = of_server.collect();
            let observed =
                self.drive(&experiments, &server, &of_server, |run| Observed::new(run, self.goal))?;
            for (row, runs) in rows.iter_mut().zip(observed.chunks(seeds as usize)) {
                row.extend(Observed::mean(runs));
            }
        }
        Ok(rows)
    }

    /// Runs candidates on the nominal server with the seed of the search.
    pub(super) fn nominal(&self, candidates: &[&Candidate]) -> anyhow::Result<Vec<RunResult>> {
        let (experiments, server) = self.nominal_flags().experiments(settings(candidates))?;
        self.drive(&experiments, &server, &[self.seed], RunResult::clone)
    }

    /// Runs every experiment with every seed.
    ///
    /// # Errors
    /// Fails if the accounting of a run does not add up, or after an interrupt.
    fn drive<T>(
        &self,
        experiments: &[Experiment],
        server: &ServerUnderTest,
        seeds: &[u64],
        of: impl Fn(&RunResult) -> T,
    ) -> anyhow::Result<Vec<T>> {
        let task = |number: usize| Task {
            experiment: &experiments[number / seeds.len()],
            server_under_test: server,
            seed: seeds[number % seeds.len()],
            runs_of_file: u32::MAX,
        };
        let tasks = Tasks::new(experiments.len() * seeds.len(), task);
        let mut taken = Vec::with_capacity(tasks.count());
        self.driver.drive(&tasks, self.interrupt, &Nobody, &mut |number, outcome| {
            outcome.finished.sound(task(number).seed)?;
            taken.push(of(&outcome.finished.result));
            Ok(())
        })?;
        self.refuse_if_interrupted()?;
        Ok(taken)
    }

    pub(super) fn refuse_if_interrupted(&self) -> anyhow::Result<()> {
        if self.interrupt.asked_by().is_none() {
            return Ok(());
        }
        let exit = self.interrupt.exit().unwrap_or(Exit::Interrupted);
        Err(Fatal::error(exit, "interrupted before the search was complete; there is no answer"))
    }
}

fn settings<'a>(candidates: &'a [&Candidate]) -> impl Iterator<Item = (&'a StrategySpec, Option<u32>)> {
    candidates.iter().map(|candidate| (&candidate.spec, candidate.in_flight))
}

/// Returns the number of ops of a run, or the expected number if the run is limited by its duration.
fn ops_of(experiment: &Experiment) -> u64 {
    let workload = &experiment.run.workload;
    let of_time = workload.duration.zip(experiment.rate());
    let of_time = of_time.map(|(lasts, rate)| whole(lasts.as_secs_f64() * rate.per_s()));
    [workload.ops, of_time].into_iter().flatten().min().unwrap_or_default()
}
