//! Timer for sleeping until an absolute instant, precise to some ten microseconds.
//!
//! Tokio's own timer has steps of a millisecond, which would show as send lag. On Linux, this timer uses a timerfd,
//! which the kernel fires without slack. On other systems it uses tokio's timer.

use std::io;
use std::time::Instant as RealInstant;

#[cfg(target_os = "linux")]
pub use linux::Timer;
#[cfg(not(target_os = "linux"))]
pub use portable::Timer;

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::unix::AsyncFd;

    use super::{RealInstant, io};
    use crate::early_waking::EarlyWaking;

    /// Timer based on a timerfd. The timerfd is set again only if it has to fire earlier than the instant for which it
    /// is set.
    #[derive(Debug)]
    pub struct Timer {
        fd: AsyncFd<OwnedFd>,
        armed: Option<RealInstant>,
        started: RealInstant,
        waking: EarlyWaking,
    }

    impl Timer {
        /// Creates a timer that is registered with the current runtime's reactor.
        ///
        /// # Errors
        /// Fails if the system cannot create a timerfd.
        ///
        /// # Panics
        /// Panics outside of a runtime.
        pub fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            #[expect(
                deprecated,
                reason = "its successor is unsafe for types that may lie about their descriptor; an `OwnedFd` cannot"
            )]
            let fd = AsyncFd::new(fd)?;
            Ok(Self { fd, armed: None, started: RealInstant::now(), waking: EarlyWaking::default() })
        }

        /// Waits until `at`, but may return earlier. After each return, the caller must compare its clock with `at`,
        /// and call this function again if `at` has not been reached. The future may be dropped at any time.
        ///
        /// # Errors
        /// Fails if the system's timer fails.
        pub async fn wait_until(&mut self, at: RealInstant) -> io::Result<()> {
            let now = RealInstant::now();
            let (wait, ahead) = (at.saturating_duration_since(now), self.waking.ahead(now - self.started));
            if wait <= ahead {
                self.waking.stayed_awake(wait);
                while RealInstant::now() < at {
                    tokio::task::yield_now().await;
                }
                return Ok(());
            }
            let wake_at = at.checked_sub(ahead).unwrap_or(at);
            if self.armed.is_none_or(|armed| wake_at < armed) {
                self.arm(wake_at)?;
            }
            let mut ready = self.fd.readable().await?;
            if let Some(meant) = self.armed.take() {
                self.waking.woken(meant.saturating_duration_since(self.started), self.started.elapsed());
            }
            let mut expirations = [0_u8; 8];
            match rustix::io::read(self.fd.get_ref(), &mut expirations) {
                Ok(_) | Err(rustix::io::Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
            ready.clear_ready();
            Ok(())
        }

        fn arm(&mut self, at: RealInstant) -> io::Result<()> {
            // A value of zero would disarm the timerfd. An instant in the past is therefore replaced by a wait of 1 ns,
            // so that the timer fires at once. The timer is set relative to the current time, because the absolute
            // value of `std`'s instants is not accessible.
            let wait = at.saturating_duration_since(RealInstant::now()).max(Duration::from_nanos(1));
            let it_value = Timespec {
                tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(wait.subsec_nanos()),
            };
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value })?;
            self.armed = Some(at);
            Ok(())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use super::{RealInstant, io};

    #[derive(Debug)]
    pub struct Timer;

    impl Timer {
        pub fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits until `at`. The future may be dropped at any time.
        pub async fn wait_until(&mut self, at: RealInstant) -> io::Result<()> {
            tokio::time::sleep_until(at.into()).await;
            Ok(())
        }
    }
}
