//! The load generator.

/// An attempt allocates some fifty times inside the HTTP client, so a faster allocator saves a tenth of its cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    loadgen::main()
}
