//! Plans of points, as recorded in the documents of shards. A point consists of experiments that differ only in their strategies, and of
//! their common server. When shards are merged, the planned experiments are restored from the plans.

use std::num::NonZero;

use anyhow::{Context as _, anyhow, ensure};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use loadgen_http::{RequestTemplate, TransportChoice, TransportEntry};
use mockserver::core::Config;
use results::{Mode, PlannedPoint, PlannedServer, RequestRecord, ServerModel, TransportRecord};

use crate::experiment::{Experiment, Sending};
use crate::record::{ServerRecord, config_record, server_model};
use crate::servers::server_under_test::{PastServer, ServerUnderTest};
use crate::workload::{PARAMETERS, Spelling, WorkloadSpec};

const EMBEDDED: &str = "embedded";

/// Maximum size of a request body in a plan, in bytes. A plan with a larger body is rejected, because no real run sends so much.
const MAX_BODY: usize = 64 << 20;

/// Returns the plan of one point (one combination of varied values). It contains the point's experiments, which differ only in their
/// strategies, and the server under test.
///
/// # Errors
/// Fails if there is no experiment, or if restoring the plan would yield different experiments.
pub fn written(
    at: &[String],
    experiments: &[Experiment],
    server_under_test: &ServerUnderTest,
    mode: Mode,
) -> anyhow::Result<PlannedPoint> {
    let simulated = mode == Mode::Simulated;
    let first = experiments.first().context("no strategy is named")?;
    let server = server_under_test.record(simulated);
    let record = config_record(first, &server, first.run.seed);
    let shown = PARAMETERS
        .iter()
        .filter_map(|parameter| Some((parameter.key.to_owned(), parameter.show(&first.workload)?)));
    let point = PlannedPoint {
        at: at.to_vec(),
        strategies: experiments.iter().map(|experiment| experiment.strategy.to_string()).collect(),
        workload: shown.collect(),
        server: PlannedServer {
            words: words(server_under_test, &server, simulated),
            target: server.target.filter(|_| server.kind != EMBEDDED),
            kind: server.kind,
            model: server.model.map(server_model),
        },
        request: record.request,
        idempotent: first.idempotent,
        transport: record.transport,
    };
    let (again, opponent_again) =
        restored(&point, mode, &first.command_line).context("this command cannot be divided into shards")?;
    for (experiment, again) in experiments.iter().zip(&again) {
        let mut before = config_record(experiment, &server_under_test.record(simulated), experiment.run.seed);
        before.target.clone_from(&point.server.target);
        let after = config_record(again, &opponent_again.record(simulated), again.run.seed);
        ensure!(before == after, "{} cannot be stored in a shard; this is a bug", experiment.strategy);
    }
    Ok(point)
}

/// Returns a description of the server for human readers. An embedded server is described by its kind and not by its address, because the
/// address changes with each start.
fn words(server_under_test: &ServerUnderTest, server: &ServerRecord<'_>, simulated: bool) -> String {
    match server_under_test {
        ServerUnderTest::Given(_) if server.kind == EMBEDDED => {
            "embedded mockserver, one for each shard".to_owned()
        }
        other => other.words(simulated),
    }
}

/// Restores the experiments of a point and the server under test from the point's plan. Restored experiments cannot be run over HTTP,
/// because documents leave out the secrets of requests, such as header values.
///
/// # Errors
/// Fails if the plan is not one that this program would write.
pub fn restored(
    point: &PlannedPoint,
    mode: Mode,
    command_line: &[String],
) -> anyhow::Result<(Vec<Experiment>, ServerUnderTest)> {
    let mut workload = WorkloadSpec::default();
    for (key, text) in &point.workload {
        let parameter = PARAMETERS.iter().find(|parameter| parameter.key == key);
        let parameter = parameter.with_context(|| format!("`{key}` is not a workload parameter"))?;
        parameter.set(&mut workload, text).map_err(|why| anyhow!("`{key}` is `{text}`; {why}"))?;
    }
    let request = request(&point.request)?;
    let sending = point.transport.as_ref().map(sending).transpose()?.unwrap_or_default();
    let server_under_test = server_under_test(&point.server, mode)?;
    let experiment = |text: &String| {
        let strategy = text.parse().with_context(|| format!("`{text}` is not a strategy"))?;
        let experiment = Experiment {
            sending: sending.clone(),
            request: request.clone(),
            idempotent: point.idempotent,
            command_line: command_line.to_vec(),
            ..Experiment::new(strategy, &workload, Spelling::Flags)?
        };
        server_under_test.refuse_unusable(&experiment)?;
        experiment.refuse_request_of_its_own()?;
        Ok(experiment)
    };
    let experiments = point.strategies.iter().map(experiment).collect::<anyhow::Result<Vec<_>>>()?;
    ensure!(!experiments.is_empty(), "no strategy is named");
    Ok((experiments, server_under_test))
}

fn server_under_test(server: &PlannedServer, mode: Mode) -> anyhow::Result<ServerUnderTest> {
    let read = |model: &ServerModel| {
        let config =
            model.read::<Config>().context("the server's configuration is not that of a mockserver")?;
        config.validate().context("the server cannot be configured")?;
        anyhow::Ok(config)
    };
    let model = server.model.as_ref().map(read).transpose()?;
    if mode == Mode::Simulated {
        return Ok(ServerUnderTest::Own(Box::new(model.context("no server is described")?)));
    }
    let PlannedServer { kind, target, words, .. } = server.clone();
    Ok(ServerUnderTest::Past(Box::new(PastServer { kind, target, words, model })))
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
    Ok(RequestTemplate { method, headers, body: vec![0; record.body_bytes].into() })
}

fn sending(record: &TransportRecord) -> anyhow::Result<Sending> {
    let entry = TransportEntry::find(&record.name)
        .with_context(|| format!("`{}` is not a transport", record.name))?;
    let threads = NonZero::new(record.threads).context("the number of threads must be at least 1")?;
    Ok(Sending { transport: TransportChoice::Named(entry), threads, ..Sending::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::said_of_each;

    fn experiment(workload: &WorkloadSpec) -> Experiment {
        Experiment::new("aimd:beta=0.7+retry-budget".parse().unwrap(), workload, Spelling::Flags).unwrap()
    }

    #[test]
    fn every_workload_parameter_is_restored_from_the_plan() {
        for (parameter, said) in said_of_each() {
            let server_under_test = ServerUnderTest::Own(Box::default());
            let before = experiment(&said);
            let point =
                written(&[], std::slice::from_ref(&before), &server_under_test, Mode::Simulated).unwrap();
            let json = serde_json::to_string(&point).unwrap();
            let point: PlannedPoint = serde_json::from_str(&json).unwrap();
            let (after, _) = restored(&point, Mode::Simulated, &[]).unwrap();
            assert_eq!(format!("{:?}", after[0].run), format!("{:?}", before.run), "`{}`", parameter.key);
            assert_eq!(after[0].workload, said, "`{}`", parameter.key);
        }
    }

    #[test]
    fn every_strategy_and_preset_is_restored_from_the_plan() {
        let server_under_test = ServerUnderTest::Own(Box::default());
        let presets = tailback::preset_names().map(|name| format!("preset:{name}"));
        let names = tailback::STRATEGIES.iter().map(|entry| entry.name.to_owned());
        for name in names.chain(presets) {
            // Some entries are parts that cannot be a strategy alone.
            let Ok(strategy) = name.parse() else { continue };
            let workload = WorkloadSpec { max_attempts: Some(3), ..WorkloadSpec::default() };
            let Ok(experiment) = Experiment::new(strategy, &workload, Spelling::Flags) else { continue };
            let point = written(&[], &[experiment], &server_under_test, Mode::Simulated);
            point.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
    }

    #[test]
    fn invalid_points_are_refused_with_a_message() {
        let server_under_test = ServerUnderTest::Own(Box::default());
        let good = written(&[], &[experiment(&WorkloadSpec::default())], &server_under_test, Mode::Simulated)
            .unwrap();
        let refused = |wrong: &dyn Fn(&mut PlannedPoint)| {
            let mut point = good.clone();
            wrong(&mut point);
            format!("{:#}", restored(&point, Mode::Simulated, &[]).err().unwrap())
        };
        for (told, words) in [
            (
                refused(&|point| _ = point.workload.insert("hops".into(), "3".into())),
                "`hops` is not a workload parameter",
            ),
            (
                refused(&|point| _ = point.workload.insert("ops".into(), "many".into())),
                "`ops` is `many`; it must",
            ),
            (refused(&|point| point.strategies[0] = "ful-jitter".into()), "`ful-jitter` is not a strategy"),
            (refused(&|point| point.strategies.clear()), "no strategy is named"),
            (refused(&|point| point.server.model = None), "no server is described"),
            (
                refused(&|point| point.server.model = Some(ServerModel::default())),
                "is not that of a mockserver",
            ),
            (refused(&|point| point.request.method = "G E T".into()), "is not a valid HTTP method"),
            (refused(&|point| point.request.body_bytes = usize::MAX), "is too long"),
        ] {
            assert!(told.contains(words), "{told}");
        }
    }
}
