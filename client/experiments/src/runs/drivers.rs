//! Choice between the driver in virtual time and the driver over HTTP for the runs of a command.

use super::driver::Driver;
use super::over_http::OverHttp;
use super::virtual_time::VirtualTime;

/// Returns a driver and the number of runs that it executes at once. In virtual time, this number is `threads`, by default one per CPU
/// core. Over HTTP, the number is 1, because runs are executed one after another.
///
/// # Errors
/// Fails if the driver over HTTP cannot be set up.
pub fn driver(simulated: bool, threads: Option<u16>) -> anyhow::Result<(Box<dyn Driver>, usize)> {
    if !simulated {
        return Ok((Box::new(OverHttp::new()?), 1));
    }
    let driver = VirtualTime::on_threads(threads);
    let at_once = driver.threads;
    Ok((Box::new(driver), at_once))
}
