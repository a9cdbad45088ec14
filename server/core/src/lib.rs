//! Sans-IO throttling server: admission, service times, draws, ledger.
