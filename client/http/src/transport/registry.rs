//! Registry of transports (HTTP clients). One is chosen by its name or, by default, by the kind of server.

use loadgen_core::Run;

use super::{Transport, http2, hyper, reqwest};
use crate::config::{TransportConfig, TransportError};
use crate::control::Control;
use crate::drive::{DriveError, DriveOptions, DriveReport, drive_on_this_thread};

/// All transports. The first one is the default for a mockserver.
pub static TRANSPORTS: &[TransportEntry] = &[
    TransportEntry::new::<hyper::HyperTransport>(),
    TransportEntry::new::<reqwest::ReqwestTransport>(),
    TransportEntry::new::<http2::Http2Transport>(),
];

#[derive(Clone, Copy, Debug)]
pub struct TransportEntry {
    pub name: &'static str,
    pub summary: &'static str,
    build: fn(TransportConfig) -> Result<ReadyTransport, TransportError>,
}

impl TransportEntry {
    const fn new<T: Transport>() -> Self {
        Self {
            name: T::NAME,
            summary: T::SUMMARY,
            build: |config| {
                let (scale, threads) = (config.scale, config.threads.get());
                let max_connections = (config.max_connections / threads).max(1);
                let transports =
                    (0..threads).map(|_| T::build(TransportConfig { max_connections, ..config.clone() }));
                let transports = transports.collect::<Result<Vec<_>, _>>()?;
                Ok(ReadyTransport {
                    drive: Box::new(move |run, control, options| {
                        drive_on_this_thread(run, transports, scale, control, options)
                    }),
                })
            },
        }
    }

    pub fn find(name: &str) -> Option<&'static Self> {
        TRANSPORTS.iter().find(|entry| entry.name == name)
    }

    /// Sets up the transport without opening a connection.
    ///
    /// # Errors
    /// Fails if the transport cannot be set up, for example because of certificates, headers, paths or source addresses.
    pub fn build(&self, config: TransportConfig) -> Result<ReadyTransport, TransportError> {
        (self.build)(config)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub enum TransportChoice {
    /// `hyper` for a mockserver; `reqwest` for any other server, because `reqwest` is used with more kinds of servers.
    #[default]
    Auto,
    Named(&'static TransportEntry),
}

impl TransportChoice {
    pub const AUTO: &'static str = "auto";

    // Not a constant: each crate that uses a constant with an element of a registry compiles what the registry points to again.
    pub fn http2() -> Self {
        Self::Named(&TRANSPORTS[2])
    }

    pub fn shares_connections(self) -> bool {
        matches!(self, Self::Named(entry) if entry.name == http2::Http2Transport::NAME)
    }

    pub fn towards(self, is_mock: bool) -> &'static TransportEntry {
        match self {
            Self::Named(entry) => entry,
            Self::Auto if is_mock => &TRANSPORTS[0],
            Self::Auto => &TRANSPORTS[1],
        }
    }
}

/// A transport of any kind, for one run. The driver's loop is compiled separately for each kind of transport. So the choice of the kind
/// costs nothing per attempt.
pub struct ReadyTransport {
    drive: Box<DriveOver>,
}

type DriveOver = dyn FnOnce(Run, &Control, DriveOptions) -> Result<(Run, DriveReport), DriveError> + Send;

impl ReadyTransport {
    /// Drives `run` to its end on the current thread, which must not belong to an async runtime. Returns the run.
    ///
    /// # Errors
    /// Fails if the system provides no runtime or timer, if the server answers on none of the connections during the warm-up, or if a
    /// worker panics.
    pub fn drive(
        self,
        run: Run,
        control: &Control,
        options: DriveOptions,
    ) -> Result<(Run, DriveReport), DriveError> {
        (self.drive)(run, control, options)
    }
}

impl std::fmt::Debug for ReadyTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadyTransport").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_is_found_by_name_and_has_a_summary() {
        for entry in TRANSPORTS {
            let found = TransportEntry::find(entry.name).expect("it is listed");
            assert_eq!(found.summary, entry.summary, "two have the name {}", entry.name);
            assert!(!entry.summary.is_empty() && !entry.summary.ends_with('.'), "{}", entry.name);
            assert!(entry.name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '-')));
        }
        assert!(TransportEntry::find("carrier-pigeon").is_none());
    }
}
