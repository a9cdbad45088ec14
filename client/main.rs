//! The load generator.

/// An attempt allocates some fifty times inside the HTTP client: a faster allocator saves a tenth of its cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    loadgen::main()
}
