//! Drives the client state machine and the server core in virtual time. Sans-IO: nothing here waits.
