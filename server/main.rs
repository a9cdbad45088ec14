//! The `mockserver` binary.

/// Memory allocator of the server: `mimalloc`, as in `loadgen`, where the effect of the allocator is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    mockserver::main()
}
