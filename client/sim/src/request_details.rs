//! Details of requests (such as headers and path) in virtual time, for servers that need them. The details are the same as those of
//! requests over HTTP to a mockserver on this machine.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use loadgen_core::{Requests, SentAttempt, authorization};
use mockserver_core::{FieldSelection, RequestFields, Step};

/// Maximum number of cached request details. If there are more combinations of request kind, API key and step, new entries replace older
/// ones.
const MAX_KEPT: u64 = 1 << 14;

/// Headers whose values differ between attempts or clients. Request details with one of these headers are not cached.
const OF_ATTEMPTS: [&str; 3] = [wire::OP, wire::ATTEMPT, wire::CLIENT];

/// Source and cache of request details, such as headers and path. All ops with the same request kind and API key share their details.
#[derive(Debug)]
pub struct RequestDetails {
    requests: Requests,
    seed: u64,
    /// HTTP method of requests that belong to no kind of a request mix.
    method: Box<str>,
    wants: FieldSelection,
    /// Direct-mapped cache of request details by request kind, API key and step. Several combinations can share an entry, so each entry
    /// contains the number of the combination to which it belongs.
    kept: Vec<Option<(u64, Arc<RequestFields>)>>,
}

#[derive(Clone, Copy, Debug)]
struct AttemptRequest {
    kind: Option<usize>,
    api_key: Option<u32>,
    step: Step,
}

impl RequestDetails {
    pub fn new(requests: Requests, seed: u64, method: &str, wants: FieldSelection) -> Option<Self> {
        wants.any.then(|| {
            let kinds = requests.mix.as_ref().map_or(1, |mix| mix.kinds().len() as u64);
            let keys = u64::from(requests.api_keys.map_or(1, Into::into));
            let differ = OF_ATTEMPTS.iter().any(|name| wants.headers.contains(*name));
            let kept = if differ { 0 } else { (kinds * keys * STEPS).min(MAX_KEPT) };
            let kept = (0..kept).map(|_| None).collect();
            Self { requests, seed, method: method.into(), wants, kept }
        })
    }

    pub fn of(&mut self, launched: &SentAttempt, step: Step) -> Arc<RequestFields> {
        let asked = AttemptRequest {
            kind: self.requests.mix.as_ref().map(|mix| mix.kind_of(self.seed, launched.op)),
            api_key: self.requests.api_key_of(self.seed, launched.op),
            step,
        };
        let places = self.kept.len() as u64;
        if places == 0 {
            return Arc::new(self.made(asked, launched));
        }
        let number = self.number(asked);
        let place = usize::try_from(number % places).unwrap_or_default();
        if let Some((kept, details)) = &self.kept[place]
            && *kept == number
        {
            return details.clone();
        }
        let details = Arc::new(self.made(asked, launched));
        self.kept[place] = Some((number, details.clone()));
        details
    }

    /// Returns a number that is unique for each combination of request kind, API key and step.
    fn number(&self, asked: AttemptRequest) -> u64 {
        let keys = u64::from(self.requests.api_keys.map_or(1, Into::into));
        let kind = asked.kind.unwrap_or_default() as u64;
        let step = match asked.step {
            Step::Work => 0,
            Step::Read => 1,
            Step::Write { .. } => 2,
        };
        (kind * keys + u64::from(asked.api_key.unwrap_or_default())) * STEPS + step
    }

    fn made(&self, asked: AttemptRequest, launched: &SentAttempt) -> RequestFields {
        let kind = asked.kind.zip(self.requests.mix.as_ref()).and_then(|(kind, mix)| mix.kinds().get(kind));
        let method = match (asked.step, kind) {
            (Step::Read, _) => "GET",
            (Step::Write { .. }, _) => "PUT",
            (Step::Work, Some(kind)) => &kind.method,
            (Step::Work, None) => &self.method,
        };
        let value = |name: &str| -> Option<String> {
            match name {
                "authorization" => asked.api_key.map(authorization),
                wire::COST => kind?.cost.map(|cost| cost.to_string()),
                wire::USED => kind?.used.map(|used| used.to_string()),
                wire::SEED => Some(self.seed.to_string()),
                wire::OP => Some(launched.op.to_string()),
                wire::ATTEMPT => Some(launched.ordinal.to_string()),
                wire::CLIENT => Some(launched.client.to_string()),
                wire::STEP if asked.step == Step::Read => Some(wire::STEP_READ.to_owned()),
                _ => None,
            }
        };
        let body = asked.kind.and_then(|kind| self.requests.bodies.get(&kind));
        let headers = self.wants.headers.iter();
        let headers = headers.filter_map(|name| Some((name.as_str().into(), value(name)?.into())));
        RequestFields {
            method: method.into(),
            path: kind.map_or("/", |kind| &*kind.path).into(),
            address: Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            headers: headers.collect(),
            fields: body.map(|body| self.wants.fields_in(body)).unwrap_or_default(),
        }
    }
}

const STEPS: u64 = 3;

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use loadgen_core::AttemptKey;
    use vocabulary::Instant;

    use super::*;

    fn wants(headers: &[&str]) -> FieldSelection {
        let headers = headers.iter().map(|name| (*name).to_owned()).collect();
        FieldSelection { any: true, headers, ..FieldSelection::default() }
    }

    fn details(mix: &str, api_keys: u32, headers: &[&str]) -> RequestDetails {
        let mix = Some(mix).filter(|mix| !mix.is_empty()).map(|mix| mix.parse().unwrap());
        let requests = Requests { mix, api_keys: NonZero::new(api_keys), ..Requests::default() };
        RequestDetails::new(requests, 1, "POST", wants(headers)).unwrap()
    }

    fn launched(op: u64) -> SentAttempt {
        let attempt = AttemptKey { slot: 0, serial: 0 };
        SentAttempt { attempt, client: 4, op, ordinal: 2, due: Instant::ORIGIN, min_free: 0 }
    }

    #[test]
    fn a_server_that_needs_no_details_gets_none() {
        assert!(RequestDetails::new(Requests::default(), 1, "GET", FieldSelection::default()).is_none());
    }

    /// The two halves of a conditional write have methods of their own.
    #[test]
    fn without_a_mix_requests_use_the_method_of_the_run() {
        let mut details = details("", 0, &["authorization", "user-agent"]);
        for (step, method) in
            [(Step::Work, "POST"), (Step::Read, "GET"), (Step::Write { if_match: 7 }, "PUT")]
        {
            let said = details.of(&launched(0), step);
            assert_eq!((&*said.method, &*said.path, said.headers.len()), (method, "/", 0));
            assert_eq!(said.address, Some("127.0.0.1".parse().unwrap()));
        }
    }

    #[test]
    fn requests_carry_the_drawn_details_that_the_server_needs() {
        let wanted = ["authorization", "x-tailback-cost"];
        let mut details = details("GET /a cost=5 used=2; PUT /b", 1000, &wanted);
        let requests = details.requests.clone();
        for op in 0..200 {
            let said = details.of(&launched(op), Step::Work);
            let kind = requests.kind_of(1, op).unwrap();
            assert_eq!((&*said.method, &*said.path), (&*kind.method, &*kind.path));
            assert_eq!(
                said.header("authorization"),
                Some(&*authorization(requests.api_key_of(1, op).unwrap()))
            );
            assert_eq!(said.header("x-tailback-cost"), kind.cost.map(|_| "5"));
            assert_eq!(said.header("x-tailback-used"), None, "nobody asked");
        }
    }

    #[test]
    fn ops_with_equal_details_share_them_in_bounded_memory() {
        let mut few = details("GET /a; PUT /b", 3, &["authorization"]);
        let mut seen: Vec<Arc<RequestFields>> = Vec::new();
        for op in 0..1000 {
            let said = few.of(&launched(op), Step::Work);
            if !seen.iter().any(|other| Arc::ptr_eq(other, &said)) {
                seen.push(said);
            }
        }
        assert_eq!(seen.len(), 6);
        let many = details("GET /a; PUT /b", 1_000_000, &["authorization"]);
        assert_eq!(many.kept.len() as u64, MAX_KEPT);
    }

    #[test]
    fn what_differs_from_attempt_to_attempt_is_made_for_each() {
        let wanted = [
            "x-tailback-attempt",
            "x-tailback-client",
            "x-tailback-op",
            "x-tailback-seed",
            "x-tailback-step",
        ];
        let mut details = details("", 0, &wanted);
        for op in [3, 9] {
            let said = details.of(&launched(op), Step::Read);
            let values: Vec<&str> = said.headers.iter().map(|(_, value)| &**value).collect();
            assert_eq!(values, ["2", "4", &op.to_string(), "1", "read"]);
        }
    }
}
