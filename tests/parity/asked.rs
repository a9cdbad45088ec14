//! Parity tests of ops of several kinds with several keys, at a server that counts by them: requests have the same
//! properties over HTTP as in virtual time, and both drivers decide the same.

use std::collections::BTreeMap;
use std::num::NonZero;

use loadgen_core::{OperationKind, Requests};

use crate::real_run::Setting;
use crate::replayed::{overload, rejected, replayed};

fn asked(strategy: &'static str, mix: &str, api_keys: u32, policy: &str) -> Setting {
    let mut setting = overload(strategy);
    let mix = Some(mix).filter(|mix| !mix.is_empty()).map(|mix| mix.parse().expect("it is a mix"));
    setting.config.requests = Requests { mix, api_keys: NonZero::new(api_keys), ..Requests::default() };
    setting.server.policy = policy.parse().expect("it is a policy");
    setting.server.retry_after = None;
    setting
}

const MIX: &str = "GET /repos 3; POST /issues cost=5 used=2; PUT /a/b 0.5";

#[test]
fn slots_by_kind_and_key() {
    for (strategy, key) in [
        ("aimd:initial=40+full-jitter:base=50ms,cap=1s", "header:authorization"),
        ("preset:openai", "method&path:1"),
        ("full-jitter:base=50ms,cap=1s", "header:x-tailback-cost|header:x-tailback-client&address"),
    ] {
        let mut setting = asked(strategy, MIX, 4, &format!("concurrency-cap:key={key}"));
        setting.config.clients = 3;
        setting.server.max_busy = 4;
        let real = replayed(&setting);
        assert!(rejected(&real) > 0, "{strategy}: {key}");
        assert!(real.run.measurements().ops.succeeded > 0, "{strategy}: {key}");
    }
}

#[test]
fn conditional_writes_with_keys() {
    let mut setting =
        asked("full-jitter:base=50ms,cap=1s", "", 2, "concurrency-cap:key=method&header:authorization");
    setting.config.workload.ops = Some(100);
    setting.config.kind = OperationKind::ReadModifyWrite;
    setting.server.max_busy = 5;
    assert!(rejected(&replayed(&setting)) > 0);
}

#[test]
fn costs_in_bodies() {
    let policy = "token-bucket:rate=60/s,burst=30,cost=body:units|1";
    let mut setting = asked("full-jitter:base=50ms,cap=1s", "POST /a @five.json; POST /b", 1, policy);
    let few = rejected(&replayed(&setting));
    setting.config.requests.bodies = BTreeMap::from([(0, (*b"{\"units\": 5}").into())]);
    let real = replayed(&setting);
    assert!(rejected(&real) > few, "{} instead of {few}", rejected(&real));
    assert!(real.run.measurements().ops.succeeded > 0);
}

#[test]
fn rates_by_key_and_by_cost() {
    for (strategy, policy) in [
        (
            "aimd:initial=40+full-jitter:base=50ms,cap=1s",
            "token-bucket:rate=20/s,burst=5,key=header:authorization",
        ),
        (
            "full-jitter:base=50ms,cap=1s",
            "token-bucket:rate=200/s,burst=30,cost=header:x-tailback-cost|1,refund=header:x-tailback-used",
        ),
        ("preset:urllib3", "fixed-window:limit=20,window=1s,key=method&path:1,cost=PUT 3|1"),
    ] {
        let setting = asked(strategy, MIX, 4, policy);
        let real = replayed(&setting);
        assert!(rejected(&real) > 0, "{strategy}: {policy}");
        assert!(real.run.measurements().ops.succeeded > 0, "{strategy}: {policy}");
    }
}
