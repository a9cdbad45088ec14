//! The throttling server.

fn main() {}
