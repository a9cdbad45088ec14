//! The throttling server over HTTP: routes, admin endpoints, command line.
