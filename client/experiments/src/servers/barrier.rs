//! Connection to the mockserver that holds the barrier. The shards of a run wait for one another at this barrier.

use std::time::Duration;

use loadgen_http::{Probe, Target, probe};
use tokio::runtime::Runtime;
use vocabulary::wire::RunId;

use super::target::behind_gateway;
use super::url::url;
use crate::error::{ErrorKind, refusal, refusal_because};
use crate::experiment::Experiment;
use crate::sharded::BarrierChoice;

/// Probes the mockserver at `address`. This server holds the barrier at which the shards of a run wait for one another.
///
/// # Errors
/// Fails if the address is invalid, if no server answers at the address, or if the server is not a mockserver that accepts this client.
pub fn reach_barrier(
    address: &str,
    patience: Duration,
    name: Option<RunId>,
    settings: &Experiment,
    runtime: &Runtime,
) -> anyhow::Result<BarrierChoice> {
    let target = Target::resolve(address, settings.trust.clone()).map_err(|error| {
        let kind = match error {
            loadgen_http::TargetError::Unresolved { .. } => ErrorKind::Unreachable,
            _ => ErrorKind::Usage,
        };
        refusal_because(kind, "cannot use `--barrier`", error)
    })?;
    let admin = settings.admin.as_ref().filter(|admin| admin.typed || target.is_private());
    let target = target.with_admin(admin.map(|admin| admin.authorization.clone()));
    let url = url(target.url().as_str());
    match runtime.block_on(probe(&target))? {
        Probe::Mock(server) => {
            Ok(BarrierChoice { server: *server, url, patience, name, plan: String::new() })
        }
        Probe::Refused(words) => {
            let words = format!("the mockserver at `{url}` (--barrier) refuses this client: {words}");
            Err(refusal(ErrorKind::Usage, words))
        }
        Probe::Gateway(host) => {
            let words =
                format!("the mockserver at `{url}` (--barrier) cannot be used: {}", behind_gateway(&host));
            Err(refusal(ErrorKind::Usage, words))
        }
        Probe::Other | Probe::NotAsked | Probe::SpeaksTls => {
            let words = format!(
                "`{url}` (--barrier) is not a mockserver: start one, or let shards start at a time, with `--start-at`"
            );
            Err(refusal(ErrorKind::Usage, words))
        }
        Probe::Unreachable(error, _) => {
            let words = format!("no server responds at `{url}` (--barrier); start the mockserver");
            Err(refusal_because(ErrorKind::Unreachable, words, error))
        }
    }
}
