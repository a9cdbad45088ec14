//! Records libraries of Rust: notes the delays that they ask for instead of waiting, and drives them against a scripted server.
//!
//! Usage: clients LIBRARY OLD.json NEW.json MAX_OPS SERIES.json VERSION
//!
//! Takes the scenarios of the recording OLD.json, and writes their measurements with the installed version to NEW.json. `record` in this
//! folder builds and starts this program. The delays come from the sleep interface of the AWS SDK, from the policy of reqwest-retry, from
//! the iterator of backon, and from the paused clock of tokio for tower.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use aws_sdk_sqs::config::retry::{RetryConfig, RetryPartition};
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::config::{
    AsyncSleep, BehaviorVersion, Credentials, IdentityCache, Region, Sleep, StalledStreamProtectionConfig,
};
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_types::retry::RetrySpec;
use backon::{BackoffBuilder, ExponentialBuilder, FibonacciBuilder};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::RetryTransientMiddleware;
use retry_policies::policies::ExponentialBackoff;
use retry_policies::{Jitter, RetryDecision, RetryPolicy};
use serde_json::{Map, Value, json};
use tower::retry::backoff::{Backoff, ExponentialBackoffMaker, MakeBackoff};
use tower::retry::budget::{Budget, TpsBudget};
use tower::util::rng::HasherRng;

/// Delays that the library asked for in the current operation, in seconds.
static DELAYS: Mutex<Vec<f64>> = Mutex::new(Vec::new());

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, source, target, max_ops, series, version] = arguments.as_slice() else {
        panic!("usage: clients LIBRARY OLD.json NEW.json MAX_OPS SERIES.json VERSION");
    };
    let read = |path: &String| {
        serde_json::from_str::<Value>(&std::fs::read_to_string(path).expect(path)).expect(path)
    };
    let old = read(source);
    let mut scripts = read(series);
    scripts.as_object_mut().expect(series).extend(old["series"].as_object().cloned().unwrap_or_default());
    let recorder = Recorder {
        library,
        max_ops: max_ops.parse().expect("MAX_OPS is a number"),
        scripts,
        server: Server::start(),
    };
    let (mut scenarios, mut unknown) = (Vec::new(), Vec::new());
    for scenario in old["scenarios"].as_array().expect("a list of scenarios") {
        match recorder.scenario(scenario).await {
            Some(measured) => {
                let mut kept = picked(scenario, &["id", "config", "method", "steps", "kind", "ops"]);
                kept.extend(measured);
                scenarios.push(kept);
            }
            None => unknown.push(format!("{} · {}", text(&scenario["id"]), text(&scenario["config"]))),
        }
    }
    let mut new = picked(&old, &["library", "language", "runtime", "interception", "series"]);
    new.extend(object(json!({ "version": version, "not_recorded": unknown, "scenarios": scenarios })));
    std::fs::write(target, Value::Object(new).to_string()).expect(target);
}

struct Recorder<'a> {
    library: &'a str,
    max_ops: usize,
    scripts: Value,
    server: Server,
}

impl Recorder<'_> {
    /// Records a scenario. Returns `None` if its configuration or its script is not known.
    async fn scenario(&self, old: &Value) -> Option<Map<String, Value>> {
        let (config, is_series) = (text(&old["config"]), old["kind"] == "series");
        let ops = if is_series { number(&old["ops"]) } else { number(&old["n"]).min(self.max_ops) };
        match self.library {
            "backon" => Some(iterated((0..ops).map(|_| backon_delays(config)).collect::<Option<_>>()?)),
            "tower" if is_series => {
                Some(object(json!({ "retries_granted_after_each_100": granted(config, ops)? })))
            }
            "tower" => {
                let mut samples = Vec::new();
                for _ in 0..ops {
                    samples.push(tower_delays(config).await?);
                }
                let mut fields = iterated(samples);
                fields.remove("attempts");
                Some(fields)
            }
            _ if is_series => self.series(old, ops).await,
            _ => {
                let (mut samples, mut outcomes) = (Vec::new(), BTreeMap::new());
                let steps = old["steps"].as_array()?;
                for _ in 0..ops {
                    let (requests, delays, outcome) = self.operation(&self.client(old)?, steps).await;
                    assert_eq!(requests, delays.len() + 1, "each retry has a delay: {delays:?}");
                    samples.push(delays);
                    *outcomes.entry(outcome.to_string()).or_default() += 1;
                }
                Some(measured(samples, outcomes))
            }
        }
    }

    /// Records consecutive operations of one client.
    async fn series(&self, old: &Value, ops: usize) -> Option<Map<String, Value>> {
        let client = self.client(old)?;
        let (mut attempts, mut waits, mut endings) = (Vec::new(), Vec::new(), Vec::<(String, usize)>::new());
        for steps in listed(self.scripts.get(text(&old["id"]))?, ops) {
            let (requests, mut delays, outcome) = self.operation(&client, &steps).await;
            attempts.push(requests);
            // No wait before the first request.
            delays.insert(0, 0.0);
            waits.push(delays);
            let ending = if outcome["type"] == "success" { "ok".to_owned() } else { kind(&outcome) };
            match endings.last_mut() {
                Some((last, count)) if *last == ending => *count += 1,
                _ => endings.push((ending, 1)),
            }
        }
        let fields =
            json!({ "attempts_per_op": attempts, "waits_per_op": waits, "outcomes_per_op": endings });
        Some(object(fields))
    }

    fn client(&self, old: &Value) -> Option<Client> {
        let (config, url) = (text(&old["config"]), &self.server.url);
        match self.library {
            "aws-sdk-rust-sqs" => Client::sqs(config, url, text(&old["id"]).ends_with("-receive")),
            "reqwest-retry" => Client::reqwest(config, url, text(&old["method"])),
            _ => None,
        }
    }

    /// Does one operation. Returns the number of requests, the delays, and the outcome.
    async fn operation(&self, client: &Client, steps: &[Value]) -> (usize, Vec<f64>, Value) {
        self.server.play(steps);
        DELAYS.lock().unwrap().clear();
        let outcome = client.operation().await;
        (self.server.script.lock().unwrap().number, DELAYS.lock().unwrap().clone(), outcome)
    }
}

enum Client {
    Sqs { client: aws_sdk_sqs::Client, queue: String, receives: bool },
    Reqwest { client: ClientWithMiddleware, method: reqwest::Method, url: String },
}

impl Client {
    fn sqs(config: &str, url: &str, receives: bool) -> Option<Self> {
        let setting =
            ["SendMessage", "one client"].iter().find_map(|end| config.strip_suffix(end)?.strip_suffix(", "));
        let retries = match setting.unwrap_or(config) {
            "default" => None,
            "RetryConfig::disabled()" => Some(RetryConfig::disabled()),
            "RetryConfig::standard().with_max_attempts(10)" => {
                Some(RetryConfig::standard().with_max_attempts(10))
            }
            "RetryConfig::standard().with_retry_spec(v2_1)" => {
                Some(RetryConfig::standard().with_retry_spec(RetrySpec::v2_1()))
            }
            _ => return None,
        };
        // Clients of one partition share a budget of retries.
        let partition = format!("{:?}", std::time::Instant::now());
        let mut settings = aws_sdk_sqs::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url(url)
            .credentials_provider(Credentials::new("key", "secret", None, None, "recorder"))
            .retry_partition(RetryPartition::new(partition))
            // The timers of time-outs would fire at once.
            .identity_cache(IdentityCache::no_cache())
            .timeout_config(TimeoutConfig::disabled())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .sleep_impl(Noted(()));
        settings.set_retry_config(retries);
        Some(Self::Sqs {
            client: aws_sdk_sqs::Client::from_conf(settings.build()),
            queue: format!("{url}/1/queue"),
            receives,
        })
    }

    fn reqwest(config: &str, url: &str, method: &str) -> Option<Self> {
        let mut builder = ExponentialBackoff::builder();
        let mut retries = None;
        for setting in config.split("), ").map(|setting| setting.trim_end_matches(')')) {
            let setting = setting.trim_start_matches("ExponentialBackoff::builder().");
            builder = match setting.split_once('(').unwrap_or((setting, "")) {
                ("build_with_max_retries", count) => {
                    retries = Some(count.parse().ok()?);
                    builder
                }
                ("retry_bounds", "100 ms, 5 s") => {
                    builder.retry_bounds(Duration::from_millis(100), Duration::from_secs(5))
                }
                ("Jitter::None", _) => builder.jitter(Jitter::None),
                ("Jitter::Bounded", _) => builder.jitter(Jitter::Bounded),
                _ => return None,
            };
        }
        let retry =
            RetryTransientMiddleware::new_with_policy(Noted(builder.build_with_max_retries(retries?)));
        let client = ClientBuilder::new(reqwest::Client::new()).with(retry).build();
        Some(Self::Reqwest { client, method: method.parse().ok()?, url: format!("{url}/x") })
    }

    async fn operation(&self) -> Value {
        match self {
            Self::Sqs { client, queue, receives: true } => {
                outcome(client.receive_message().queue_url(queue).send().await)
            }
            Self::Sqs { client, queue, receives: false } => {
                outcome(client.send_message().queue_url(queue).message_body("x").send().await)
            }
            Self::Reqwest { client, method, url } => match client.request(method.clone(), url).send().await {
                Ok(answer) if answer.status().is_success() => json!({ "type": "success" }),
                Ok(answer) => json!({ "type": "response", "status": answer.status().as_u16() }),
                Err(_) => json!({ "type": "error without answer" }),
            },
        }
    }
}

fn outcome<T, E: ProvideErrorMetadata>(result: Result<T, SdkError<E>>) -> Value {
    match result {
        Ok(_) => json!({ "type": "success" }),
        Err(error) => match error.raw_response() {
            Some(answer) => json!({ "type": "error", "status": answer.status().as_u16() }),
            None => json!({ "type": "error without answer" }),
        },
    }
}

/// Policy or sleep interface that notes the delays and does not wait.
#[derive(Debug)]
struct Noted<T>(T);

impl AsyncSleep for Noted<()> {
    fn sleep(&self, duration: Duration) -> Sleep {
        note(duration);
        Sleep::new(std::future::ready(()))
    }
}

impl<T: RetryPolicy> RetryPolicy for Noted<T> {
    fn should_retry(&self, start: SystemTime, n_past_retries: u32) -> RetryDecision {
        let now = SystemTime::now();
        let decision = self.0.should_retry(start, n_past_retries);
        let RetryDecision::Retry { execute_after } = decision else {
            return decision;
        };
        note(execute_after.duration_since(now).unwrap_or_default());
        RetryDecision::Retry { execute_after: now }
    }
}

fn note(delay: Duration) {
    DELAYS.lock().unwrap().push(rounded(delay));
}

fn rounded(delay: Duration) -> f64 {
    (delay.as_secs_f64() * 1e4).round() / 1e4
}

fn backon_delays(config: &str) -> Option<Vec<f64>> {
    let exponential = ExponentialBuilder::default();
    let fibonacci = FibonacciBuilder::default().with_max_times(8);
    let delays: Box<dyn Iterator<Item = Duration>> = match config {
        "ExponentialBuilder::default()" => Box::new(exponential.build()),
        "ExponentialBuilder::default().with_max_times(9).with_jitter()" => {
            Box::new(exponential.with_max_times(9).with_jitter().build())
        }
        "ExponentialBuilder::default().with_max_times(9).with_total_delay(20 s)" => {
            Box::new(exponential.with_max_times(9).with_total_delay(Some(Duration::from_secs(20))).build())
        }
        "FibonacciBuilder::default().with_max_times(8)" => Box::new(fibonacci.build()),
        "FibonacciBuilder::default().with_max_times(8).with_jitter()" => {
            Box::new(fibonacci.with_jitter().build())
        }
        _ => return None,
    };
    Some(delays.map(rounded).collect())
}

async fn tower_delays(config: &str) -> Option<Vec<f64>> {
    const COUNT: usize = 10;
    let mut maker = match config {
        "ExponentialBackoffMaker::default()" => ExponentialBackoffMaker::default(),
        "new(100 ms, 5 s, 0.5)" => ExponentialBackoffMaker::new(
            Duration::from_millis(100),
            Duration::from_secs(5),
            0.5,
            HasherRng::default(),
        )
        .ok()?,
        _ => return None,
    };
    // The paused clock jumps to the next timer.
    tokio::time::pause();
    let (mut backoff, mut delays) = (maker.make_backoff(), Vec::new());
    for _ in 0..COUNT {
        let start = tokio::time::Instant::now();
        backoff.next_backoff().await;
        delays.push(rounded(start.elapsed()));
    }
    tokio::time::resume();
    Some(delays)
}

/// Returns how many retries a budget has granted after each 100 failed requests, which all come at once.
fn granted(config: &str, ops: usize) -> Option<Vec<usize>> {
    let ttl = Duration::from_secs(10);
    let budget = match config {
        "TpsBudget::new(10 s, 0, 0.2)" => TpsBudget::new(ttl, 0, 0.2),
        "TpsBudget::new(10 s, 0, 0.6)" => TpsBudget::new(ttl, 0, 0.6),
        "TpsBudget::new(10 s, 10, 0.2)" => TpsBudget::new(ttl, 10, 0.2),
        _ => return None,
    };
    let mut total = 0;
    let totals = (0..ops).map(|_| {
        budget.deposit();
        total += usize::from(budget.withdraw());
        total
    });
    Some(totals.collect::<Vec<_>>().chunks(100).filter_map(|chunk| chunk.last().copied()).collect())
}

/// Scripted server. It answers request number n with step n; the last step repeats.
struct Server {
    url: String,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    steps: Vec<Value>,
    number: usize,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("the address of the listener"));
        let script = Arc::new(Mutex::new(Script::default()));
        let shared = Arc::clone(&script);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let script = Arc::clone(&shared);
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(connection.try_clone()?);
                    while answer(&mut reader, &connection, &script)? {}
                    std::io::Result::Ok(())
                });
            }
        });
        Self { url, script }
    }

    fn play(&self, steps: &[Value]) {
        *self.script.lock().unwrap() = Script { steps: steps.to_vec(), number: 0 };
    }
}

/// Reads a request and answers it. Returns whether the connection stays open.
fn answer(
    reader: &mut BufReader<TcpStream>,
    mut connection: &TcpStream,
    script: &Mutex<Script>,
) -> std::io::Result<bool> {
    let mut length = 0;
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(false);
    }
    while line.trim() != "" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some((name, value)) = line.split_once(':') {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().map_err(std::io::Error::other)?;
            }
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let step = {
        let mut script = script.lock().unwrap();
        script.number += 1;
        let index = script.number.min(script.steps.len()) - 1;
        script.steps[index].clone()
    };
    let Some(status) = step["status"].as_u64() else {
        connection.shutdown(Shutdown::Both)?;
        return Ok(false);
    };
    let body = step["body"].as_str().unwrap_or(if status < 300 { "{}" } else { "" });
    let mut head = format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in step["headers"].as_object().into_iter().flatten() {
        head += &format!("{name}: {}\r\n", text(value));
    }
    connection.write_all(format!("{head}\r\n{body}").as_bytes())?;
    Ok(true)
}

/// Returns the steps of each operation of a series.
fn listed(script: &Value, ops: usize) -> Vec<Vec<Value>> {
    let groups = script["ops"].as_array().expect("the groups of a series");
    let mut steps = Vec::new();
    while steps.len() < ops {
        for (index, group) in groups.iter().enumerate() {
            let is_last = index + 1 == groups.len() && script["repeat"] != true;
            let count =
                if is_last { ops } else { group["count"].as_u64().map_or(ops, |count| count as usize) };
            steps.extend(vec![
                group["steps"].as_array().expect("the steps of a group").clone();
                count.min(ops - steps.len())
            ]);
        }
    }
    steps
}

/// Returns the measurements of delays that come from no operation.
fn iterated(samples: Vec<Vec<f64>>) -> Map<String, Value> {
    let outcomes = BTreeMap::from([(json!({ "type": "iterator" }).to_string(), samples.len())]);
    measured(samples, outcomes)
}

fn measured(samples: Vec<Vec<f64>>, outcomes: BTreeMap<String, usize>) -> Map<String, Value> {
    let mut fields = Map::new();
    let attempts: Vec<_> = samples.iter().map(|delays| delays.len() + 1).collect();
    let is_same = attempts.iter().all(|count| *count == attempts[0]);
    fields.insert("n".to_owned(), json!(samples.len()));
    fields.insert("attempts".to_owned(), if is_same { json!(attempts[0]) } else { json!(attempts) });
    let is_same = samples.iter().all(|delays| *delays == samples[0]);
    fields.insert("samples".to_owned(), if is_same { json!([samples[0]]) } else { json!(samples) });
    match outcomes.keys().next() {
        Some(only) if outcomes.len() == 1 => {
            fields.insert("outcome".to_owned(), serde_json::from_str(only).expect("an outcome"))
        }
        _ => {
            let kind_of = |outcome: &String| kind(&serde_json::from_str(outcome).expect("an outcome"));
            let counts: BTreeMap<String, usize> =
                outcomes.iter().map(|(outcome, count)| (kind_of(outcome), *count)).collect();
            fields.insert("outcomes".to_owned(), json!(counts))
        }
    };
    fields
}

/// Returns the kind of an outcome in one text, such as `error 503`.
fn kind(outcome: &Value) -> String {
    match outcome["status"].as_u64() {
        Some(status) => format!("{} {status}", text(&outcome["type"])),
        None => text(&outcome["type"]).to_owned(),
    }
}

fn picked(value: &Value, names: &[&str]) -> Map<String, Value> {
    names.iter().filter_map(|name| Some(((*name).to_owned(), value.get(name)?.clone()))).collect()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_default() as usize
}
