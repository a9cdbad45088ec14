//! The `mockserver` binary.

/// As in `loadgen`, where its effect is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    mockserver::main()
}
