//! The drivers that there are, and which one does the runs of a command.

use super::driver::Driver;
use super::over_http::OverHttp;
use super::virtual_time::VirtualTime;

/// What does the runs, and how many at once: in virtual time as many as there are `threads`, one on each core unless somebody
/// asks for another number; over HTTP one after the other.
///
/// # Errors
/// When nothing can be set up that does runs over HTTP.
pub fn driver(simulated: bool, threads: Option<u16>) -> anyhow::Result<(Box<dyn Driver>, usize)> {
    if !simulated {
        return Ok((Box::new(OverHttp::new()?), 1));
    }
    let driver = VirtualTime::on_threads(threads);
    let at_once = driver.threads;
    Ok((Box::new(driver), at_once))
}
