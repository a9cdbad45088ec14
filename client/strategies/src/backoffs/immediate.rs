//! `immediate`: every failed op is ready again at once, queued after the ops that are already ready.
//!
//! Sources: the documents of the scenarios `occ` ("no backoff"), `exploring-backoff` (NB) and `ethernet` ("fixed"). If
//! each rejection occupies a slot of the server for some time, immediate retries can keep the server busy with
//! rejections forever. After a transport error, and after a budget has shed the launch, the retry still waits 50 ms.

use crate::part_config::part;
use crate::shape::Shape;
use vocabulary::parameters;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct Immediate = "immediate" {}
    summary = "retries at once, without a delay";
    rule = "a failed op is retried at once";
    source = "scenarios occ, exploring-backoff and ethernet, where it is called no backoff, NB and fixed";
}

part!(Immediate: BackOff, |_| Shape::default());

#[cfg(test)]
mod tests {
    use crate::testing::delays_ms;

    #[test]
    fn no_retry_waits() {
        assert_eq!(delays_ms::<3>("immediate", 0.999_999), [0, 0, 0]);
    }
}
