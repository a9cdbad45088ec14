//! Drives the client state machine in real time over HTTP.
