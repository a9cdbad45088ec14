//! One sleep to an absolute instant, precise to some ten microseconds.
//!
//! Tokio's own timer steps in milliseconds, which would show as send lag. On Linux a timerfd is used, which the
//! kernel fires without slack; elsewhere tokio's timer has to do.

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

    /// A timer that is set again only when it has to fire earlier than it is set to.
    #[derive(Debug)]
    pub struct Timer {
        fd: AsyncFd<OwnedFd>,
        armed: Option<RealInstant>,
        started: RealInstant,
        waking: EarlyWaking,
    }

    impl Timer {
        /// One that this runtime's reactor watches.
        ///
        /// # Errors
        /// When the system gives none.
        ///
        /// # Panics
        /// Outside of a runtime.
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

        /// Returns at `at` or earlier: the caller looks at its clock and calls again. It may be dropped before.
        ///
        /// # Errors
        /// When the system's timer fails.
        pub async fn wait_until(&mut self, at: RealInstant) -> io::Result<()> {
            let now = RealInstant::now();
            let (wait, ahead) = (at.saturating_duration_since(now), self.waking.ahead(now - self.started));
            if wait <= ahead {
                self.waking.stayed_awake(wait);
                while RealInstant::now() < at {
                    // Whatever comes meanwhile gets its turn.
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
            // Zero would disarm; what is past fires at once. The instant is made relative here and nowhere
            // else: `std`'s instants keep their count to themselves.
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

    /// Tokio's timer.
    #[derive(Debug)]
    pub struct Timer;

    impl Timer {
        /// One.
        ///
        /// # Errors
        /// None.
        pub fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Returns at `at`. It may be dropped before.
        ///
        /// # Errors
        /// None.
        pub async fn wait_until(&mut self, at: RealInstant) -> io::Result<()> {
            tokio::time::sleep_until(at.into()).await;
            Ok(())
        }
    }
}
