//! Yardstick for a load generator on hyper: one task per connection, which sends in a loop and counts responses.
//!
//! `benches/compare.py` runs it on one thread, as `loadgen` does. Usage: `bare_hyper_loop URL CONNECTIONS REQUESTS`.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::LocalSet;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(connections), Some(requests)) = (args.next(), args.next(), args.next()) else {
        eprintln!("usage: bare_hyper_loop URL CONNECTIONS REQUESTS");
        std::process::exit(2);
    };
    let uri: Uri = url.parse().expect("URL is one");
    let connections: u64 = connections.parse().expect("CONNECTIONS is a number");
    let requests: u64 = requests.parse().expect("REQUESTS is a number");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let left = Rc::new(Cell::new(requests));
    let started = Instant::now();
    let failed: u64 = LocalSet::new().block_on(&runtime, async {
        let tasks: Vec<_> =
            (0..connections).map(|_| tokio::task::spawn_local(send(uri.clone(), left.clone()))).collect();
        let mut failed = 0;
        for task in tasks {
            failed += task.await.expect("no task panics");
        }
        failed
    });
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{failed} failed");
    #[expect(clippy::print_stdout, reason = "the one line is the program's output")]
    {
        println!("{{\"requests\":{requests},\"seconds\":{seconds},\"failed\":{failed}}}");
    }
}

/// Sends on one connection until no request is left. Returns the number of failures.
async fn send(uri: Uri, left: Rc<Cell<u64>>) -> u64 {
    let authority = uri.authority().expect("the URL has a host").to_string();
    let stream = TcpStream::connect(&authority).await.expect("the server is there");
    stream.set_nodelay(true).expect("it is a TCP connection");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("a connection");
    tokio::task::spawn_local(connection);
    let mut failed = 0;
    while left.get() > 0 {
        left.set(left.get() - 1);
        let request = Request::get(uri.path()).header("host", &authority).body(Empty::<Bytes>::new());
        match sender.send_request(request.expect("it is a request")).await {
            Ok(response) => failed += u64::from(response.into_body().collect().await.is_err()),
            Err(_) => failed += 1,
        }
        if sender.ready().await.is_err() {
            break;
        }
    }
    failed
}
