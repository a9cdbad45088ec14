//! The throttling server.

fn main() -> std::process::ExitCode {
    mockserver::main()
}
