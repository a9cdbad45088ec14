//! Files that keep the failed cases of property tests.

use proptest::test_runner::{Config, FileFailurePersistence};

/// Returns a configuration with the file of failed cases. By default, proptest looks for the nearest `main.rs`, which is the program's, and
/// keeps the file at the root of the project.
pub(crate) fn kept_in(file: &'static str) -> Config {
    let kept = FileFailurePersistence::Direct(file);
    Config { failure_persistence: Some(Box::new(kept)), ..Config::default() }
}
