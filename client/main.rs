//! Entry point of the load generator, `loadgen`.

/// Memory allocator of the program. One attempt allocates memory about fifty times inside the HTTP client. A faster allocator therefore
/// saves a tenth of the CPU time of an attempt.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    loadgen::main()
}
