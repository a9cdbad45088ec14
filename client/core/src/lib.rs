//! Sans-IO client state machine, workload and measurements.
