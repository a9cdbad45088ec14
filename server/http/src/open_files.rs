//! The limit on open files: every connection is one, so it is raised as far as the system allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub(crate) fn raise() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
