//! Entry point of the load generator, `loadgen`.

/// Allocator of the program. An attempt allocates about fifty times inside the HTTP client, so a faster allocator saves a tenth of the
/// attempt's cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    loadgen::main()
}
