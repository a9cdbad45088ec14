//! `GET /metrics`: counts since the server's start in Prometheus' text format
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>). Counters never decrease, because a reset affects only the counts that
//! clients see.

use std::fmt::{Display, Write as _};

use mockserver_core::Account;
use vocabulary::TimeScale;
use wire::{PolicyCounts, ServerStats};

use crate::admin::answer_times::{AnswerTimes, BOUNDS};

pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(crate) struct Metrics {
    pub(crate) lifetime: Account,
    /// Counts of the server since the last reset of the counts.
    pub(crate) stats: ServerStats,
    pub(crate) capacity: Option<u32>,
    /// Number of request keys whose state the current policies have evicted.
    pub(crate) evicted_keys: u64,
    pub(crate) answer_times: AnswerTimes,
    pub(crate) time_scale: TimeScale,
}

impl Metrics {
    pub(crate) fn text(&self) -> String {
        let mut text = Text(String::with_capacity(8192));
        self.requests(&mut text);
        self.slots(&mut text);
        self.answers(&mut text);
        text.gauge(
            "uptime_seconds",
            "Time since the server started, in seconds of the experiment.",
            self.stats.uptime_s,
        );
        text.gauge(
            "time_scale_ratio",
            "Number of real seconds per second of the experiment (time scale).",
            self.time_scale.factor(),
        );
        text.family("build_info", "gauge", "Version of the server.");
        text.sample("build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        text.0
    }

    fn requests(&self, text: &mut Text) {
        let Account { conflicts, outages, forced, revoked, .. } = self.lifetime;
        let counts = &self.lifetime.counts;
        text.counter("requests_received_total", "Requests that reached the policies.", counts.received);
        // A request that a change of policy rejects after it was accepted still counts as accepted in this counter, because a counter must
        // not decrease.
        text.counter("requests_accepted_total", "Requests that were accepted.", counts.accepted + revoked);
        text.counters(
            "requests_rejected_total",
            "Requests that were rejected, by reason.",
            "reason",
            [
                ("throttled", counts.rejected.saturating_sub(conflicts + outages + forced + revoked)),
                ("conflict", conflicts),
                ("outage", outages),
                ("reject_first", forced),
                ("policy_change", revoked),
            ],
        );
        if !counts.by_policy.is_empty() {
            text.family(
                "policy_requests_total",
                "counter",
                "Requests that each policy accepted or rejected, by name of the policy.",
            );
        }
        for PolicyCounts { name, accepted, rejected } in &counts.by_policy {
            for (verdict, count) in [("accepted", accepted), ("rejected", rejected)] {
                text.sample("policy_requests_total", &[("policy", name), ("verdict", verdict)], count);
            }
        }
        text.counter(
            "requests_failed_total",
            "Requests that failed because of an injected fault (--fault) before their work was done.",
            counts.failed,
        );
        text.counters(
            "answers_disturbed_total",
            "Answers that were changed by injected faults (--fault), by kind of fault.",
            "how",
            [("spoiled", self.lifetime.spoiled), ("slowed", self.lifetime.slowed)],
        );
        text.counter("reads_received_total", "Reads that preceded conditional writes.", counts.reads);
        text.counter(
            "reads_rejected_total",
            "Rejected reads: the GET requests of ops that read, then write.",
            counts.reads_rejected,
        );
        text.counters(
            "messages_lost_total",
            "Requests and answers that were lost on purpose (--loss).",
            "way",
            [("to_server", self.lifetime.lost_requests), ("to_client", self.lifetime.lost_answers)],
        );
        text.counter(
            "crashes_total",
            "Number of times that the service crashed under its load.",
            counts.crashes,
        );
        text.counter(
            "wasted_seconds_total",
            "Time for which slots were held by rejected or abandoned requests, in seconds of the experiment.",
            self.lifetime.wasted.as_secs_f64(),
        );
        text.counter("resets_total", "Number of resets of the counts at /_mock/stats.", self.stats.epoch);
    }

    fn slots(&self, text: &mut Text) {
        let ServerStats { counts, busy, .. } = &self.stats;
        if let Some(capacity) = self.capacity {
            text.gauge(
                "capacity_slots",
                "Capacity of the server: number of slots, queue places or descriptors.",
                capacity,
            );
        }
        text.gauge("busy_slots", "Number of busy slots, including slots held by rejections.", busy);
        text.gauge(
            "busy_slots_max",
            "Maximum number of busy slots since the start or the last reset.",
            counts.max_busy_seen,
        );
        text.gauge(
            "accepted_in_service_max",
            "Maximum number of accepted requests in service since the start or the last reset.",
            counts.max_accepted_seen,
        );
        text.gauge(
            "policy_keys_forgotten",
            "Keys that the current policies have evicted; the limit of an evicted key starts anew.",
            self.evicted_keys,
        );
    }

    fn answers(&self, text: &mut Text) {
        text.family(
            "answer_seconds",
            "histogram",
            "Time from the arrival of a request to its answer, including the artificial network, in seconds of the experiment.",
        );
        let AnswerTimes { accepted, rejected, failed } = &self.answer_times;
        for (verdict, buckets) in [("accepted", accepted), ("rejected", rejected), ("failed", failed)] {
            let bounds = BOUNDS.iter().map(|bound| bound.as_secs_f64().to_string());
            let mut count = 0;
            for (bound, up_to) in bounds.chain(["+Inf".to_owned()]).zip(buckets.cumulative()) {
                text.sample("answer_seconds_bucket", &[("verdict", verdict), ("le", &bound)], up_to);
                count = up_to;
            }
            text.sample("answer_seconds_sum", &[("verdict", verdict)], buckets.sum.as_secs_f64());
            text.sample("answer_seconds_count", &[("verdict", verdict)], count);
        }
    }
}

struct Text(String);

impl Text {
    /// Writes the head of a metric: its help text and its type. The help text is written unescaped, because none needs escaping.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP mockserver_{name} {help}\n# TYPE mockserver_{name} {kind}\n");
    }

    /// Writes one value of a metric. The labels are written unescaped, because none needs escaping.
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "mockserver_{name}{labels} {value}");
    }

    /// Writes a counter with a value for each value of a label.
    fn counters<const N: usize>(&mut self, name: &str, help: &str, label: &str, counts: [(&str, u64); N]) {
        self.family(name, "counter", help);
        for (value, count) in counts {
            self.sample(name, &[(label, value)], count);
        }
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "counter", help);
        self.sample(name, &[], value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }
}
