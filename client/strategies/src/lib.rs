//! Retry and throttling strategies for clients of throttled servers.
