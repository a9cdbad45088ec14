//! The `mockserver` binary.

/// Memory allocator of the server: `mimalloc`, as in `loadgen`. Its effect was measured in `loadgen`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    mockserver::main()
}
