//! Load test beside a crowd of idle and slow clients: whether a run still works, and the memory that they cost.
//!
//! `cargo build --release && cargo run --release --example crowd [IDLE [SLOW]]` starts a mockserver and measures a run
//! alone. It then opens 10 000 idle connections and 1000 that send their request's head at one byte a second (slow
//! loris), and measures the same run beside them. It exits with 1 if that run fails or the server's memory grows beyond
//! its bound. Linux only.

#![expect(clippy::print_stdout, reason = "its figures are its output")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

/// Maximum growth of the server's memory per connection.
const MAX_PER_CONNECTION_KIB: u64 = 32;

/// Maximum makespan beside the crowd, as a multiple of the makespan alone.
const MAX_FACTOR: f64 = 2.0;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let idle = args.next().transpose()?.unwrap_or(10_000);
    let slow = args.next().transpose()?.unwrap_or(1000);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    if limit.maximum.is_some_and(|most| most < (idle + slow + 100) as u64) {
        return Err(
            format!("{limit:?} open files are too few: raise `ulimit -Hn`, or name a smaller crowd").into()
        );
    }

    let server = Server::start(idle + slow + 1000)?;
    let alone = server.run()?;
    let before = server.memory_kib()?;
    println!(
        "alone:  {} ops succeeded, makespan {:.2} s, p99 {:.1} ms; server {before} KiB",
        alone.succeeded, alone.makespan_s, alone.p99_ms
    );

    let mut crowd = Vec::with_capacity(idle);
    for number in 0..idle {
        let mut stream = TcpStream::connect(server.address)?;
        // Every second connection is served once before it falls idle.
        if number % 2 == 0 {
            stream.write_all(b"GET /_mock/capacity HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
            if stream.read(&mut [0; 1024])? == 0 {
                return Err("the server closed a connection that it should keep".into());
            }
        }
        crowd.push(stream);
    }
    let feeder = Feeder::start(server.address, slow)?;
    let beside = server.run()?;
    let after = server.memory_kib()?;
    let closed = feeder.closed.load(Ordering::Relaxed);
    println!(
        "beside: {} ops succeeded, makespan {:.2} s, p99 {:.1} ms; server {after} KiB",
        beside.succeeded, beside.makespan_s, beside.p99_ms
    );
    let grown = after.saturating_sub(before);
    let each = grown as f64 / (idle + slow).max(1) as f64;
    println!(
        "crowd:  {idle} idle, {slow} slow ({closed} of them closed by the server), {grown} KiB, {each:.1} KiB each"
    );

    drop(feeder);
    drop(crowd);
    server.run()?;
    println!("after:  a run still works; server {} KiB", server.memory_kib()?);
    if beside.succeeded != alone.succeeded || beside.makespan_s > alone.makespan_s * MAX_FACTOR {
        return Err("the run suffered from the crowd".into());
    }
    if grown > MAX_PER_CONNECTION_KIB * (idle + slow) as u64 {
        return Err(format!("a connection costs more than {MAX_PER_CONNECTION_KIB} KiB").into());
    }
    Ok(())
}

struct Figures {
    succeeded: u64,
    makespan_s: f64,
    p99_ms: f64,
}

/// Mockserver in its own process; killed when dropped.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(connections: usize) -> Result<Self> {
        let mut child = Command::new(program("mockserver")?)
            .args([
                "--listen",
                "127.0.0.1:0",
                "--network-delay",
                "0",
                "--reject-time",
                "0",
                "--service-time",
                "20ms",
            ])
            .args(["--max-connections", &connections.to_string()])
            .stderr(Stdio::piped())
            .spawn()?;
        let mut said = BufReader::new(child.stderr.take().ok_or("no stderr")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        // Drains stderr, so that the server can still write to it when it ends.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let address = line.trim().rsplit('/').next().unwrap_or_default().parse();
        let server = Self { child, address: address.map_err(|_| format!("the mockserver said: {line}"))? };
        Ok(server)
    }

    /// Runs 3000 ops at 1000 a second, which the server can serve.
    fn run(&self) -> Result<Figures> {
        let url = format!("http://{}/", self.address);
        let output = Command::new(program("loadgen")?)
            .args([
                "--target",
                &url,
                "--strategy",
                "aimd",
                "--ops",
                "3000",
                "--rate",
                "1000/s",
                "-q",
                "--json",
                "-",
            ])
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("loadgen ended with {}", output.status).into());
        }
        let result: Value = serde_json::from_slice(&output.stdout)?;
        let figure =
            |pointer: &str| result.pointer(pointer).and_then(Value::as_f64).ok_or(format!("no `{pointer}`"));
        Ok(Figures {
            succeeded: result["ops"]["succeeded"].as_u64().ok_or("no `ops.succeeded`")?,
            makespan_s: figure("/makespan_s")?,
            p99_ms: figure("/op_latency_ms/p99")?,
        })
    }

    fn memory_kib(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory in /proc")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Thread that sends one byte a second on every slow connection.
struct Feeder {
    stop: Arc<AtomicBool>,
    closed: Arc<AtomicUsize>,
}

impl Feeder {
    fn start(address: SocketAddr, count: usize) -> Result<Self> {
        let (stop, closed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let mut streams: Vec<TcpStream> =
            (0..count).map(|_| TcpStream::connect(address)).collect::<std::io::Result<_>>()?;
        for stream in &mut streams {
            stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ")?;
        }
        let (asked, counted) = (stop.clone(), closed.clone());
        std::thread::spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                let open = streams.len();
                streams.retain_mut(|stream| stream.write_all(b"y").is_ok());
                counted.fetch_add(open - streams.len(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        Ok(Self { stop, closed })
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn program(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(|examples| examples.parent()).ok_or("this example has no folder")?;
    let path = folder.join(name);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("`{}` is not built: `cargo build` first", path.display()).into())
    }
}
