//! Experiments that are restored from the configuration of their runs, as documents contain it. A merge of documents needs them.

use std::num::NonZero;

use anyhow::{Context as _, anyhow, ensure};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use loadgen_core::ArrivalRate;
use loadgen_http::{RequestTemplate, TransportChoice, TransportEntry};
use mockserver::core::Config;
use results::{ConfigRecord, Mode, RequestRecord, RunResult, TransportRecord};
use tailback::StrategySpec;

use crate::experiment::{Experiment, Sending};
use crate::record::config_record;
use crate::servers::server_under_test::{PastServer, ServerUnderTest};
use crate::workload::{PARAMETERS, Spelling, WorkloadSpec};

const MAX_ATTEMPTS: &str = "max-attempts";
/// Maximum size of a request body, in bytes. A document with a larger body is rejected, because no real run sends so much.
const MAX_BODY: usize = 64 << 20;

/// Restores the experiment of a run. It cannot be run over HTTP, because documents leave out the secrets of requests, such as header values.
///
/// # Errors
/// Fails if the configuration is not one that this program would write.
pub fn experiment(run: &RunResult) -> anyhow::Result<Experiment> {
    let config = &run.config.record();
    let strategy: StrategySpec =
        run.strategy.parse().with_context(|| format!("`{}` is not a strategy", run.strategy))?;
    let mut workload = workload(config)?;
    // `--max-attempts` replaces the limit of a strategy, but not in its text.
    let limit =
        strategy.describe().pop().and_then(|(_, rules)| rules.into_iter().find(|it| it.key == MAX_ATTEMPTS));
    if limit.is_some_and(|limit| limit.value != config.max_attempts) {
        let words = || format!("`config.max_attempts` is `{}`", config.max_attempts);
        workload.max_attempts = Some(config.max_attempts.parse().with_context(words)?);
    }
    let mut experiment = Experiment {
        sending: config.transport.as_ref().map(sending).transpose()?.unwrap_or_default(),
        request: request(&config.request)?,
        command_line: config.command_line.clone(),
        ..Experiment::new(strategy, &workload, Spelling::Flags)?
    };
    experiment.repeats = config.repeats;
    let server = server(run)?;
    server.refuse_unusable(&experiment)?;
    experiment.refuse_request_of_its_own()?;
    let again = config_record(&experiment, &server.record(run.mode == Mode::Simulated), run.seed);
    let keys = |record: &ConfigRecord| serde_json::to_value(record).unwrap_or_default();
    let (again, there) = (keys(&again), keys(config));
    let different =
        there.as_object().into_iter().flatten().find(|(key, value)| again.get(key) != Some(value));
    if let Some((key, value)) = different {
        let again = again.get(key).map_or_else(|| "nothing".to_owned(), ToString::to_string);
        return Err(anyhow!("`config.{key}` is {value}, which this program would write as {again}"));
    }
    Ok(experiment)
}

/// Restores the server of a run.
///
/// # Errors
/// Fails if the configuration of the server is not that of a mockserver, or if a simulated run has none.
pub fn server(run: &RunResult) -> anyhow::Result<ServerUnderTest> {
    let ConfigRecord { server: kind, target, server_model, .. } = run.config.record();
    let read = |model: results::ServerModel| {
        let config =
            model.read::<Config>().context("the server's configuration is not that of a mockserver")?;
        config.validate().context("the server cannot be configured")?;
        anyhow::Ok(config)
    };
    let model = server_model.map(read).transpose()?;
    if run.mode == Mode::Simulated {
        return Ok(ServerUnderTest::Own(Box::new(model.context("no server is described")?)));
    }
    let what = match (&*kind, &target, &model) {
        ("embedded", None, _) => "embedded mock server, a fresh one for every run",
        ("embedded", ..) => "embedded mockserver",
        ("found", ..) => "found mockserver",
        (_, _, Some(_)) => "mockserver",
        _ => "server",
    };
    let at = target.as_ref().map(|url| format!(" at {}", url.trim_end_matches('/'))).unwrap_or_default();
    let words = format!("{what}{at}");
    Ok(ServerUnderTest::Past(Box::new(PastServer { kind, target, words, model })))
}

fn workload(config: &ConfigRecord) -> anyhow::Result<WorkloadSpec> {
    let of_workload = &config.workload;
    let has_list = ["scatter", "at"].iter().any(|key| of_workload.more.contains_key(*key));
    let ops = of_workload.ops.filter(|_| !has_list && !of_workload.more.contains_key("ops_per_client"));
    let rate = of_workload.rate.clone().or(of_workload.rate_per_s.map(|rate| format!("{rate}/s")));
    // Stages have times of their own, and their sum is recorded as the duration.
    let has_stages = rate.as_ref().and_then(|rate| rate.parse::<ArrivalRate>().ok()?.lasts()).is_some();
    let arrivals = Some(&*of_workload.arrivals).filter(|name| ["uniform", "burst"].contains(name));
    let switch = |is_on: bool, usual: bool| (is_on != usual).then(|| is_on.to_string());
    let mut texts: Vec<(&str, Option<String>)> = vec![
        ("ops", ops.map(|ops| ops.to_string())),
        ("duration", of_workload.duration.clone().filter(|_| !has_stages)),
        ("drain", of_workload.drain.clone()),
        ("rate", rate),
        ("arrivals", arrivals.map(ToOwned::to_owned)),
        ("in_flight", of_workload.in_flight.map(|count| count.to_string())),
        ("clients", Some(of_workload.clients.to_string())),
        ("share_strategy", switch(of_workload.share_strategy, false)),
        ("timeout", Some(config.timeout.clone())),
        ("deadline", config.deadline.clone()),
        ("within", config.within.clone()),
        ("warm_up", Some(config.warm_up.clone())),
        ("retry_failed", switch(config.retry_failed, true)),
        ("delay_noise", config.delay_noise.clone()),
        ("kind", Some(of_workload.kind.clone())),
        ("seed", Some(config.seed.to_string())),
        ("time_scale", Some(config.time_scale.to_string())),
    ];
    texts.extend(of_workload.more.iter().map(|(key, value)| (key.as_str(), Some(value.to_string()))));
    let mut workload = WorkloadSpec::default();
    for (key, text) in texts {
        let Some(text) = text else { continue };
        let parameter = PARAMETERS.iter().find(|parameter| parameter.key == key);
        let parameter = parameter.with_context(|| format!("`{key}` is not a workload parameter"))?;
        parameter.set(&mut workload, &text).map_err(|why| anyhow!("`{key}` is `{text}`; {why}"))?;
    }
    Ok(workload)
}

/// Builds a request from its record in a document. Documents contain neither header values nor the content of the body. The header values
/// are therefore left empty, and the body is filled with zeros.
fn request(record: &RequestRecord) -> anyhow::Result<RequestTemplate> {
    let method = record
        .method
        .parse::<Method>()
        .with_context(|| format!("`{}` is not a valid HTTP method", record.method))?;
    let mut headers = HeaderMap::new();
    for name in &record.headers {
        let name = name.parse::<HeaderName>().with_context(|| format!("`{name}` is not a valid header"))?;
        headers.append(name, HeaderValue::from_static(""));
    }
    ensure!(record.body_bytes <= MAX_BODY, "a body of {} bytes is too long", record.body_bytes);
    let body = vec![0; record.body_bytes].into();
    Ok(RequestTemplate { method, headers, body })
}

fn sending(record: &TransportRecord) -> anyhow::Result<Sending> {
    let entry = TransportEntry::find(&record.name)
        .with_context(|| format!("`{}` is not a transport", record.name))?;
    let threads = NonZero::new(record.threads).context("the number of threads must be at least 1")?;
    let keep_alive = !record.no_keepalive;
    Ok(Sending { transport: TransportChoice::Named(entry), threads, keep_alive, ..Sending::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::driver::{Driver as _, Nobody, Task, Tasks};
    use crate::runs::stop::Never;
    use crate::runs::virtual_time::VirtualTime;
    use crate::workload::testing::said_of_each;

    fn run_of(experiment: &Experiment) -> RunResult {
        let server = ServerUnderTest::Own(Box::default());
        let task =
            Task { experiment, server_under_test: &server, seed: experiment.run.seed, runs_of_file: 1 };
        let mut found = None;
        VirtualTime::on_threads(Some(1))
            .drive(&Tasks::new(1, |_| task), &Never, &Nobody, &mut |_, outcome| {
                found = Some(outcome.finished.result);
                Ok(())
            })
            .unwrap();
        found.unwrap()
    }

    /// The run is short, and its configuration is that of the whole experiment.
    fn run(strategy: &str, workload: &WorkloadSpec) -> (Experiment, RunResult) {
        let new = |strategy: &str, workload: &WorkloadSpec| {
            Experiment::new(strategy.parse().unwrap(), workload, Spelling::Flags).unwrap()
        };
        let short = WorkloadSpec { ops: Some(1), ..WorkloadSpec::default() };
        let experiment = new(strategy, workload);
        let server = ServerUnderTest::Own(Box::default());
        let config = config_record(&experiment, &server.record(true), experiment.run.seed).into();
        let (strategy, seed) = (experiment.strategy.to_string(), experiment.run.seed);
        (experiment, RunResult { strategy, seed, config, ..run_of(&new("none", &short)) })
    }

    #[test]
    fn every_workload_parameter_is_restored_from_a_document() {
        for (parameter, spec) in said_of_each() {
            let (before, run) = run("aimd:beta=0.7+retry-budget", &spec);
            let json = serde_json::to_string(&run).unwrap();
            let run: RunResult = serde_json::from_str(&json).unwrap();
            let after = experiment(&run).unwrap_or_else(|error| panic!("{}: {error:#}", parameter.key));
            assert_eq!(format!("{:?}", after.run), format!("{:?}", before.run), "`{}`", parameter.key);
        }
    }

    #[test]
    fn every_strategy_and_preset_is_restored_from_a_document() {
        let presets = tailback::preset_names().map(|name| format!("preset:{name}"));
        let names = tailback::STRATEGIES.iter().map(|entry| entry.name.to_owned());
        for name in names.chain(presets) {
            // Some entries are parts that cannot be a strategy alone.
            if name.parse::<tailback::StrategySpec>().is_err() {
                continue;
            }
            let workload = WorkloadSpec { max_attempts: Some(3), ..WorkloadSpec::default() };
            let (_, run) = run(&name, &workload);
            experiment(&run).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
    }

    #[test]
    fn configurations_that_no_command_writes_are_refused() {
        let (_, good) = run("aimd", &WorkloadSpec::default());
        let refused = |wrong: &dyn Fn(&mut RunResult)| {
            let mut run = good.clone();
            wrong(&mut run);
            format!("{:#}", experiment(&run).err().unwrap())
        };
        for (refusal, words) in [
            (
                refused(&|run| _ = run.config.workload.more.insert("hops".into(), "3".into())),
                "`hops` is not a workload parameter",
            ),
            (
                refused(&|run| run.config.timeout = "many".into()),
                "`timeout` is `many`; `many` is not a duration",
            ),
            (refused(&|run| run.strategy = "ful-jitter".into()), "`ful-jitter` is not a strategy"),
            (refused(&|run| run.config.server_model = None), "no server is described"),
            (
                refused(&|run| run.config.server_model = Some(results::ServerModel::default())),
                "is not that of a mockserver",
            ),
            (refused(&|run| run.config.request.method = "G E T".into()), "is not a valid HTTP method"),
            (refused(&|run| run.config.request.body_bytes = usize::MAX), "is too long"),
            (refused(&|run| run.config.workload.arrivals = "novel".into()), "`config.workload` is "),
        ] {
            assert!(refusal.contains(words), "{refusal}");
        }
    }
}
