//! Parity tests of policies that let requests wait, lock clients out, reject by chance, slow down or grow: the results
//! over HTTP are those of virtual time.

use crate::replayed::{overload, rejected, replayed};

#[test]
fn policies_that_wait_lock_out_draw_slow_down_and_grow() {
    for (strategy, policy) in [
        ("full-jitter:base=50ms,cap=1s", "leaky-queue:rate=40/s,burst=10"),
        (
            "aimd:initial=40+full-jitter:base=50ms,cap=1s",
            "leaky-queue:rate=100/s,burst=20,delay=10 then concurrency:cap=30",
        ),
        ("preset:urllib3", "reserve:rate=50/s,burst=5"),
        ("full-jitter:base=50ms,cap=2s", "penalty:lock=300ms then token-bucket:rate=50/s,burst=30"),
        (
            "full-jitter:base=50ms,cap=2s",
            "penalty:lock=100ms,early=only,ban-after=40,ban-window=1s,ban=500ms then fixed-window:limit=30,window=500ms",
        ),
        ("full-jitter:base=50ms,cap=1s", "random:p=0.3 then slow-down:knee=10,factor=0.5,most=5"),
        (
            "aimd:initial=40+full-jitter:base=50ms,cap=1s",
            "growing-concurrency:start=5,by=5,most=40,every=500ms,idle=10s",
        ),
        (
            "full-jitter:base=50ms,cap=1s",
            "growing-rate:start=10,by=10,most=100,per=1s,every=500ms,idle=10s then daily:limit=250,later=keep",
        ),
    ] {
        let mut setting = overload(strategy);
        setting.config.workload.ops = Some(200);
        setting.server.policy = policy.parse().expect("it is a policy");
        setting.server.retry_after = None;
        let real = replayed(&setting);
        assert!(rejected(&real) > 0, "{strategy}: {policy}");
        assert!(real.run.measurements().ops.succeeded > 0, "{strategy}: {policy}");
    }
}
