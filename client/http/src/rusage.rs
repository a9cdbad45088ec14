//! Resources of the load generator itself: processor time, peak memory, and the limit of open files.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time of this thread, and the time for which it ran or, where the system reports it, waited for a processor.
pub(crate) fn thread_times() -> Option<[Duration; 2]> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = times.split(' ').nth(1).and_then(|ns| ns.parse().ok()).unwrap_or_default();
    let cpu = cpu(ClockId::ThreadCPUTime)?;
    Some([cpu, cpu + Duration::from_nanos(waited)])
}

/// Returns the processor time of the whole process. It includes the server, if one is embedded.
pub fn process_cpu() -> Option<Duration> {
    cpu(ClockId::ProcessCPUTime)
}

fn cpu(clock: ClockId) -> Option<Duration> {
    let time = clock_gettime(clock);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_and_processor_time_are_reported() {
        assert!(peak_rss_bytes().is_some_and(|bytes| bytes > 100_000));
        assert!(thread_times().is_some());
    }
}

/// Raises the soft limit on open files to the hard limit. Returns the limit that is now in force; `None` means
/// unlimited.
pub fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}
