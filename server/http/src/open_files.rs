//! The system's limit on open files. Every connection counts as an open file, so the limit is raised as far as the system allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub(crate) fn raise() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
