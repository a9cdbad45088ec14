//! The `mockserver` binary.

/// Memory allocator of the server. It is `mimalloc`, as in `loadgen`; its effect was measured there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    mockserver::main()
}
