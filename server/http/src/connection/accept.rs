//! Accepts connections up to a limit, and ends them when the server stops.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::app::App;
use crate::connection::{self, Bounds};

/// Pause after an error of `accept`, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Maximum number of open connections. Further connections wait to be accepted.
    pub(crate) connections: u32,
    pub(crate) bounds: Bounds,
    /// Maximum real time for which the shutdown waits for requests in flight.
    pub(crate) grace: Duration,
}

pub(crate) async fn serve(listener: TcpListener, app: App, limits: Limits, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(limits.connections as usize));
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            _ = stop.changed() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let connection = connection::serve(stream, peer.ip(), app.clone(), limits.bounds);
        tokio::spawn(async move {
            connection.await;
            drop(place);
        });
    }
    drop(listener);
    app.stopping.stop();
    // After the grace period, requests in flight are not awaited any longer, because the process or the runtime ends then.
    drop(tokio::time::timeout(limits.grace, places.acquire_many(limits.connections)).await);
}

#[cfg(test)]
mod tests {
    use mockserver_core::Config;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use vocabulary::TimeScale;

    use super::*;
    use crate::admin::access::Access;
    use crate::shared::Shared;

    /// The time limit applies to connections of every protocol.
    #[test]
    fn a_connection_silent_for_too_long_is_closed() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let bounds = Bounds { head_patience: Duration::from_millis(20), ..Bounds::default() };
            let limits = Limits { connections: 9, bounds, grace: Duration::ZERO };
            let shared = Arc::new(Shared::new(Config::default(), TimeScale::default(), 1));
            let app = App::new(&shared, Access::default());
            let (_stop, stopped) = watch::channel(false);
            tokio::spawn(serve(listener, app, limits, stopped));
            let settings = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0";
            // An incomplete request head: the start of a HEADERS frame.
            let half_a_head = format!("{settings}\0\0\u{9}\u{1}\0\0\0\0\u{1}\u{2}");
            for said in [
                "",
                "PRI",
                "GET / HTTP/1.1\r\nhost",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                settings,
                &half_a_head,
            ] {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(said.as_bytes()).await.unwrap();
                let mut rest = Vec::new();
                let end = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest));
                // A reset is an end, too.
                drop(end.await.unwrap_or_else(|_| panic!("{said:?} is never left alone")));
            }
        });
    }
}
