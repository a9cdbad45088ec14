//! The load generator.

fn main() -> std::process::ExitCode {
    loadgen::main()
}
