//! Checked plan of a run: experiment, server, outputs and checks. Usage errors are reported while the plan is made.

use std::sync::Arc;

use experiments::Experiment;
use experiments::record::config_record;
use experiments::runs::driver::{Driver, Task, Tasks};
use experiments::runs::over_http::OverHttp;
use experiments::runs::past::Past;
use experiments::runs::point::Point;
use experiments::runs::shard::of_shard;
use experiments::runs::virtual_time::VirtualTime;
use experiments::servers::server_under_test::{GivenServer, ServerUnderTest};
use experiments::servers::target::Server;
use mockserver::core::Config;
use results::{ConfigRecord, Incomplete, Mode, ShardRecord};
use shell::runner::experiment;
use shell::text::summary;
use shell::{Checks, Exports, Interrupt, Merging, RunArgs, shards, usage, usage_because};

use crate::run::Plan;

pub(super) fn described(args: &RunArgs) -> anyhow::Result<ConfigRecord> {
    let mut experiment = experiment::of_flags(args)?;
    if args.simulate {
        let server = ServerUnderTest::Own(Box::new(simulated_server(args, &experiment)?));
        return Ok(config_record(&experiment, &server.record(true), experiment.run.seed));
    }
    let runtime = mockserver::runtime()?;
    let server = Server::choose(&experiment::server_choice(args, &experiment), &experiment, &runtime, false)?;
    server.choose_strategy(&mut experiment)?;
    Ok(config_record(&experiment, &server.record(), experiment.run.seed))
}

impl<'a> Plan<'a> {
    /// Checks all command-line arguments and plans the runs. During the checks a signal still ends the program, because there is no result
    /// to keep.
    pub(super) fn new(args: &'a RunArgs) -> anyhow::Result<Self> {
        let to_stdout = args.output.exports.asked.iter().find(|(_, path)| path.as_os_str() == "-");
        if let (Some((format, _)), Some(_)) = (to_stdout, args.output.progress) {
            return Err(usage(format!(
                "`{} -` and `--progress` would both be on stdout; write one to a file",
                format.flag
            )));
        }
        shards::refuse_conflicts(args.shard.shard, &args.output.exports.asked, Some(&args.checks))?;
        let experiment = experiment::of_flags(args)?;
        if args.simulate { Self::simulated(args, experiment) } else { Self::over_http(args, experiment) }
    }

    fn simulated(args: &'a RunArgs, experiment: Experiment) -> anyhow::Result<Self> {
        let server = simulated_server(args, &experiment)?;
        experiment.refuse_unplannable(&server)?;
        experiment.refuse_request_of_its_own()?;
        experiment.refuse_own_endpoints()?;
        Self::without_server(args, experiment, ServerUnderTest::Own(Box::new(server)), None)
    }

    /// Plans runs that need no connection to a server: simulated ones, or the past runs of merged documents.
    fn without_server(
        args: &'a RunArgs,
        mut experiment: Experiment,
        server_under_test: ServerUnderTest,
        past: Option<(Past, Option<Incomplete>)>,
    ) -> anyhow::Result<Self> {
        let (mut exports, checks) = prepared(args, &mut experiment)?;
        let record = server_under_test.record(args.simulate);
        let config = config_record(&experiment, &record, experiment.run.seed);
        checks.same_experiment(Mode::new(args.simulate), &config)?;
        let interrupt = Interrupt::listen()?;
        exports.begin()?;
        // A file of attempts requires a single thread, because several threads would write its lines in an order that depends on
        // scheduling.
        let threads = if exports.samples().is_some() { Some(1) } else { args.output.threads };
        let is_past = past.is_some();
        let (driver, incomplete): (Box<dyn Driver>, _) = match past {
            Some((past, incomplete)) => (Box::new(past), incomplete),
            None => (of_shard(Box::new(VirtualTime::on_threads(threads)), args.shard.shard, 1), None),
        };
        let model = server_under_test.model();
        let words = server_under_test.words(args.simulate);
        Ok(Self {
            announcement: summary::announcement(&experiment, None, &words, model),
            warnings: doubts(None, model, &experiment),
            shard: shard(args, &experiment),
            driver,
            is_past,
            incomplete,
            server_under_test,
            experiment,
            exports,
            checks,
            interrupt,
        })
    }

    fn over_http(args: &'a RunArgs, mut experiment: Experiment) -> anyhow::Result<Self> {
        let runtime = mockserver::runtime()?;
        let (mut exports, checks) = prepared(args, &mut experiment)?;
        exports.begin()?;
        let driver = OverHttp::new()?;
        let choice = experiment::server_choice(args, &experiment);
        let server = Server::choose(&choice, &experiment, &runtime, true)?;
        server.choose_strategy(&mut experiment)?;
        checks.same_experiment(
            Mode::Http,
            &config_record(&experiment, &server.record(), experiment.run.seed),
        )?;
        server.refuse_unusable(&experiment)?;
        let announcement = summary::announcement(
            &experiment,
            server.unasked_words(),
            &server.describe(),
            server.model.as_ref(),
        );
        let model = server.model.clone();
        let given = GivenServer::new(server, runtime, driver.files());
        let server_under_test = ServerUnderTest::Given(Arc::new(given));
        let known = server_under_test.warning_before(&experiment.run.workload);
        let warnings = doubts(known, model.as_ref(), &experiment);
        let driver = of_shard(Box::new(driver), args.shard.shard, 1);
        let shard = shard(args, &experiment);
        Ok(Self {
            interrupt: Interrupt::listen()?,
            experiment,
            server_under_test,
            driver,
            exports,
            checks,
            announcement,
            warnings,
            is_past: false,
            incomplete: None,
            shard,
        })
    }

    pub(super) fn merged(args: &'a RunArgs, merging: Merging<'_>) -> anyhow::Result<Self> {
        let (Point { experiments, server_under_test, .. }, past) = merging.point()?;
        let Ok([experiment]) = <[Experiment; 1]>::try_from(experiments) else {
            return Err(usage("these documents have runs of several strategies"));
        };
        Self::without_server(args, experiment, server_under_test, Some(past))
    }
}

pub(super) fn tasks<'a>(experiment: &'a Experiment, server_under_test: &'a ServerUnderTest) -> Tasks<'a> {
    Tasks::new(experiment.repeats as usize, move |repeat| {
        let seed = experiment.seed(repeat);
        Task { experiment, server_under_test, seed, runs_of_file: experiment.repeats }
    })
}

/// Returns warnings about server settings that are probably mistakes. If there is a warning `known`, it comes first.
fn doubts(known: Option<String>, server: Option<&Config>, experiment: &Experiment) -> Vec<String> {
    let mut doubts: Vec<String> = known.into_iter().collect();
    if let Some(server) = server {
        doubts.extend(server.notes());
        let has_keys = experiment.run.requests.api_keys.is_some();
        if has_keys && !server.counts_by_header("authorization") {
            doubts.push(
                "`--api-keys` changes nothing here, because no policy counts by `header:authorization`"
                    .to_owned(),
            );
        }
    }
    doubts
}

fn prepared<'a>(args: &'a RunArgs, experiment: &mut Experiment) -> anyhow::Result<(Exports, Checks<'a>)> {
    let exports = Exports::prepare(&args.output.exports.asked, &args.checks.files())?;
    experiment.keep_latencies = exports.has_latencies;
    let checks = Checks::prepare(&args.checks, &[&experiment.strategy.to_string()])?;
    Ok((exports, checks))
}

fn shard(args: &RunArgs, experiment: &Experiment) -> Option<ShardRecord> {
    args.shard.shard.map(|shard| shard.record(experiment.repeats as usize))
}

fn simulated_server(args: &RunArgs, experiment: &Experiment) -> anyhow::Result<Config> {
    let server = args.server.to_config(experiment.run.seed);
    server.map_err(|error| usage_because("the simulated server cannot be configured", error))
}
