//! What is to be run, against whom, and what is written and checked: all refusals are made here.

use std::sync::Arc;

use experiments::record::{ServerRecord, config_record};
use experiments::runs::driver::Driver;
use experiments::runs::over_http::OverHttp;
use experiments::runs::virtual_time::VirtualTime;
use experiments::servers::opponent::{GivenServer, Opponent};
use experiments::servers::target::Server;
use mockserver::core::Config;
use results::{ConfigRecord, Mode};
use vocabulary::TimeScale;

use crate::args::RunArgs;
use crate::checks::Checks;
use crate::exit::{Exit, Fatal};
use crate::files::exporter::{Layout, Source};
use crate::files::exports::Exports;
use crate::interrupt::Interrupt;
use crate::settings::{self, Settings};
use crate::text::summary;

/// What was typed, checked.
pub(super) struct Plan<'a> {
    pub(super) settings: Settings,
    pub(super) opponent: Opponent,
    pub(super) driver: Box<dyn Driver>,
    pub(super) exports: Exports,
    pub(super) checks: Checks<'a>,
    pub(super) interrupt: Interrupt,
    /// What is said before anything runs.
    pub(super) announcement: String,
    /// What is to be doubted before anything runs.
    pub(super) warning: Option<String>,
}

/// What a run would use, without any run.
pub(super) fn described(args: &RunArgs) -> anyhow::Result<ConfigRecord> {
    let settings = settings::settings(args)?;
    if args.simulate {
        let server = simulated_server(args, &settings)?;
        return Ok(config_record(&settings, &of_simulated(&server), settings.run.seed));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Server::choose(&settings::server_choice(args, &settings), &settings, &runtime, false)?;
    Ok(config_record(&settings, &server.record(), settings.run.seed))
}

impl<'a> Plan<'a> {
    /// Checks everything; listens for signals before anything is begun that would have to be cleaned up.
    pub(super) fn new(args: &'a RunArgs) -> anyhow::Result<Self> {
        let settings = settings::settings(args)?;
        if args.simulate { Self::simulated(args, settings) } else { Self::over_http(args, settings) }
    }

    fn simulated(args: &'a RunArgs, mut settings: Settings) -> anyhow::Result<Self> {
        let server = simulated_server(args, &settings)?;
        settings.refuse_unplannable(&server)?;
        let (mut exports, checks) = prepared(args, &mut settings)?;
        let config = config_record(&settings, &of_simulated(&server), settings.run.seed);
        checks.same_experiment(Mode::Simulated, &config)?;
        let interrupt = Interrupt::listen()?;
        exports.begin()?;
        // Lines of several runs at once would be in an order that depends on the threads.
        let threads = if exports.want(Source::Attempts) { Some(1) } else { args.output.threads };
        Ok(Self {
            announcement: summary::announcement(&settings, "simulated server", Some(&server)),
            warning: None,
            driver: Box::new(VirtualTime::on_threads(threads)),
            opponent: Opponent::Own(Box::new(server)),
            settings,
            exports,
            checks,
            interrupt,
        })
    }

    /// One server for all runs.
    fn over_http(args: &'a RunArgs, mut settings: Settings) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut exports, checks) = prepared(args, &mut settings)?;
        let interrupt = Interrupt::listen()?;
        exports.begin()?;
        let driver = OverHttp::new()?;
        let server = Server::choose(&settings::server_choice(args, &settings), &settings, &runtime, true)?;
        checks.same_experiment(Mode::Http, &config_record(&settings, &server.record(), settings.run.seed))?;
        server.refuse_unusable(&settings)?;
        let announcement = summary::announcement(&settings, &server.describe(), server.model.as_ref());
        let given = GivenServer::new(server, runtime, driver.files());
        let opponent = Opponent::Given(Arc::new(given));
        let warning = opponent.warning_before(&settings.run.workload);
        let driver = Box::new(driver);
        Ok(Self { settings, opponent, driver, exports, checks, interrupt, announcement, warning })
    }
}

/// Makes sure that everything can be written and checked that was asked for.
fn prepared<'a>(args: &'a RunArgs, settings: &mut Settings) -> anyhow::Result<(Exports, Checks<'a>)> {
    let baseline = args.checks.save_baseline.as_ref().map(|name| name.0.as_path());
    let exports = Exports::prepare(&args.output.exports.asked, &Layout::default(), baseline)?;
    settings.keep_latencies = exports.want(Source::Latencies);
    let checks = Checks::prepare(&args.checks, &[&settings.strategy.to_string()])?;
    Ok((exports, checks))
}

fn simulated_server(args: &RunArgs, settings: &Settings) -> anyhow::Result<Config> {
    if settings.time_scale != TimeScale::default() {
        let words =
            "`--time-scale` means nothing in virtual time: nobody waits; leave it out with `--simulate`";
        return Err(Fatal::error(Exit::Usage, words));
    }
    let server = args.server.to_config(settings.run.seed);
    server.map_err(|error| Fatal::because(Exit::Usage, "the simulated server cannot be configured so", error))
}

fn of_simulated(server: &Config) -> ServerRecord<'_> {
    ServerRecord { kind: "simulated".to_owned(), target: None, model: Some(server) }
}
