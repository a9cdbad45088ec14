//! Throttles under a test executor that polls, drops and delays calls as it likes, on a clock of its own.

mod calls;
mod contracts;
mod crowd;
mod replay;
mod world;
