//! Command line of the load generator: arguments, target, summary, result files.
