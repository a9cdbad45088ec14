//! Yardstick for a load generator on reqwest: tasks that send in a loop and count responses.
//!
//! Used by `benches/compare.py`. Usage: `bare_reqwest_loop URL CONNECTIONS REQUESTS`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(connections), Some(requests)) = (args.next(), args.next(), args.next()) else {
        eprintln!("usage: bare_reqwest_loop URL CONNECTIONS REQUESTS");
        std::process::exit(2);
    };
    let connections: u64 = connections.parse().expect("CONNECTIONS is a number");
    let requests: u64 = requests.parse().expect("REQUESTS is a number");
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    let client = reqwest::Client::builder()
        .no_proxy()
        .http1_only()
        .pool_max_idle_per_host(usize::MAX)
        .retry(reqwest::retry::never())
        .build()
        .expect("a client is made");
    let left = Arc::new(AtomicU64::new(requests));
    let started = Instant::now();
    let failed: u64 = runtime.block_on(async {
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let (client, url, left) = (client.clone(), url.clone(), left.clone());
                tokio::spawn(async move {
                    let mut failed = 0_u64;
                    while left
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                        .is_ok()
                    {
                        match client.get(&url).send().await {
                            Ok(response) => failed += u64::from(response.bytes().await.is_err()),
                            Err(_) => failed += 1,
                        }
                    }
                    failed
                })
            })
            .collect();
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
