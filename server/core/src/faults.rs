//! Injected faults: broken connections, unreadable answers and slow answers. Each fault affects a share of the requests.
//!
//! The notation follows fortio's lists of values with probabilities (`status=503:10,504:20`: fortio/fortio, README.md, "echo"). In our
//! notation, a share needs a percent sign, because a number without one is ambiguous. A bare `1` means one percent in fortio, but a
//! probability of 1 in other programs.

use std::fmt;
use std::time::Duration;

use vocabulary::{Purpose, did_you_mean, duration_text};

use crate::{List, Listed, Request, ServerDecision, quoted};

/// Time after which the connection of a hanging request is closed, if its client has not disconnected by then. Slow answers are delayed by
/// at most this time, too.
const LONGEST: Duration = Duration::from_hours(1);

/// A share of 100 %. Shares are stored in units of a ten-millionth of a percent.
const ALL: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Reset,
    /// Fault: the server closes the connection without an answer.
    Close,
    /// Fault: the server sends no answer until the client disconnects.
    Hang,
    /// The connection is closed in the middle of the answer.
    Truncate,
    Garbage,
    /// The start of the answer, and with it the whole answer, is delayed by this time.
    SlowHeaders(Duration),
    /// The status and headers are sent at once. The body is sent in small parts over this time.
    SlowBody(Duration),
    /// The answer has this status, 400 to 599, regardless of the outcome of the request.
    Status(u16),
}

const PLAIN: [(&str, Fault); 5] = [
    ("reset", Fault::Reset),
    ("close", Fault::Close),
    ("hang", Fault::Hang),
    ("truncate", Fault::Truncate),
    ("garbage", Fault::Garbage),
];

const SLOW: [(&str, Slow); 2] = [("slow-headers", Fault::SlowHeaders), ("slow-body", Fault::SlowBody)];

type Slow = fn(Duration) -> Fault;

impl Fault {
    pub const fn is_slow(self) -> bool {
        matches!(self, Self::SlowHeaders(_) | Self::SlowBody(_))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        PLAIN.iter().find(|(known, _)| *known == name).map(|(_, fault)| *fault)
    }

    pub(crate) const fn answer_delay(self) -> Duration {
        match self {
            Self::SlowHeaders(delay) => delay,
            Self::Hang => LONGEST,
            _ => Duration::ZERO,
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        let (name, time) = match text.split_once('(') {
            Some((name, rest)) => {
                let time = rest.strip_suffix(')').ok_or_else(|| format!("`{text}` has no closing `)`"))?;
                (name.trim(), Some(time))
            }
            None => (text, None),
        };
        if let Some((_, slow)) = SLOW.iter().find(|(known, _)| *known == name) {
            let time =
                time.ok_or_else(|| format!("`{name}` needs a time in parentheses, such as `{name}(2s)`"))?;
            let time = duration_text::parse(time.trim()).map_err(|error| error.to_string())?;
            if time > LONGEST {
                let longest = duration_text::format(LONGEST);
                return Err(format!("`{text}` is longer than the maximum of {longest}"));
            }
            return Ok(slow(time));
        }
        let Some(fault) = Self::named(name).or_else(|| name.parse().ok().map(Self::Status)) else {
            let known = PLAIN.iter().map(|(name, _)| *name).chain(SLOW.iter().map(|(name, _)| *name));
            let suggestion = did_you_mean(name, known.clone());
            return Err(format!(
                "unknown fault `{name}`{suggestion}; the faults are {} and every status from 400 to 599",
                quoted(known)
            ));
        };
        match fault {
            _ if time.is_some() => Err(format!("`{name}` does not take a time; leave out the parentheses")),
            Self::Status(code) if !(400..=599).contains(&code) => {
                Err(format!("`{code}` is not an error status from 400 to 599"))
            }
            fault => Ok(fault),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = PLAIN.iter().find(|(_, fault)| fault == self);
        match (plain, self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Self::Status(code)) => write!(f, "{code}"),
            (None, Self::SlowHeaders(time)) => write!(f, "slow-headers({})", duration_text::format(*time)),
            (None, Self::SlowBody(time)) => write!(f, "slow-body({})", duration_text::format(*time)),
            (None, _) => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The fault occurs before the server works on the request. The request is not charged to any limit and takes no slot.
    Before,
    /// The fault occurs after the server has done the work of the request. Rejections are not affected, because no work was done for them.
    After,
    /// The fault slows down the sending of the answer, whatever the outcome of the request.
    Slowing,
}

impl When {
    pub(crate) fn suffix(self) -> &'static str {
        if self == Self::After { ":after" } else { "" }
    }
}

/// Fault with the share of requests that it affects. With `:after`, it occurs after the server has done the work of the request. Without
/// `:after`, it occurs in place of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedFault {
    fault: Fault,
    when: When,
    /// Share of the requests that have this fault; [`ALL`] means all requests.
    share: u64,
}

/// Faults, each with the share of requests that it affects, written `reset:1%,500:2%:after`. A request has at most one fault. The fault
/// depends only on seed, op and attempt.
pub type Faults = List<WeightedFault>;

impl List<WeightedFault> {
    pub(crate) fn strike_before(&self, request: &Request) -> bool {
        !self.is_empty() && self.drawn(request).is_some_and(|striking| striking.when == When::Before)
    }

    pub(crate) fn of_answer(&self, request: &Request, verdict: ServerDecision) -> Option<Fault> {
        if self.is_empty() {
            return None;
        }
        let WeightedFault { fault, when, .. } = self.drawn(request)?;
        let strikes = match when {
            When::Before => verdict == ServerDecision::Failed,
            When::After => verdict == ServerDecision::Accepted,
            When::Slowing => true,
        };
        strikes.then_some(*fault)
    }

    fn drawn(&self, request: &Request) -> Option<&WeightedFault> {
        let drawn = request.drawn(Purpose::Fault) * ALL as f64;
        let mut up_to = 0;
        self.iter().find(|striking| {
            up_to += striking.share;
            drawn < up_to as f64
        })
    }
}

impl Listed for WeightedFault {
    const PLURAL: &'static str = "faults";
    const EXAMPLES: &'static str = "`reset:1%,slow-headers(2s):0.5%,500:2%:after`";

    fn read(text: &str) -> Result<Self, String> {
        let (fault, rest) = text
            .split_once(':')
            .ok_or_else(|| format!("`{text}` has no share of requests; write for example `{text}:1%`"))?;
        let (share, when) = match rest.split_once(':') {
            None => (rest, When::Before),
            Some((share, when)) if when.trim() == "after" => (share, When::After),
            Some((_, when)) => {
                return Err(format!("`{when}` is not known; only `after` may follow the share"));
            }
        };
        let fault = Fault::read(fault.trim())?;
        let when = if fault.is_slow() { When::Slowing } else { when };
        Ok(Self { fault, when, share: self::share(share.trim())? })
    }

    fn check_after(&self, before: &[Self], _text: &str) -> Result<(), String> {
        if before.iter().any(|one| (one.fault, one.when) == (self.fault, self.when)) {
            return Err(format!("`{}` is given twice; keep one of them", self.fault));
        }
        Ok(())
    }

    fn check(all: &[Self]) -> Result<(), String> {
        if all.iter().map(|striking| striking.share).sum::<u64>() > ALL {
            return Err("the shares of all faults add up to more than 100%".to_owned());
        }
        Ok(())
    }
}

fn share(text: &str) -> Result<u64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or_else(|| format!("`{text}` is not a percentage from 0% to 100%"))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is from 0 to 1e9"
    )]
    Ok((percent / 100.0 * ALL as f64).round() as u64)
}

impl fmt::Display for WeightedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, when, share } = self;
        write!(f, "{fault}:{}%{}", *share as f64 / (ALL / 100) as f64, when.suffix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;
    use crate::request::RequestId;

    const ALL_OF_THEM: &str =
        "reset:1%,close:1%,hang:0.5%,truncate:1%,garbage:0.2%,slow-headers(2s):1%,slow-body(2s):1%,500:2%";

    fn request(op: u64, attempt: u32, step: Step) -> Request {
        Request { id: RequestId(0), run: None, seed: 7, op, attempt, step }
    }

    #[test]
    fn the_documentation_has_every_fault() {
        let page = include_str!("../../../docs/answers.md");
        for name in PLAIN.iter().map(|(name, _)| *name).chain(SLOW.iter().map(|(name, _)| *name)) {
            let has = |end: &str| page.contains(&format!("\n| `{name}{end}"));
            assert!(has("`") || has("("), "docs/answers.md has no row for `{name}`");
        }
    }

    #[test]
    fn a_list_of_faults_is_written_as_given() {
        for text in [ALL_OF_THEM, "", "reset:0.0000001%,reset:100%:after", "503:33.3%,429:66.7%"] {
            let faults: Faults = text.parse().unwrap_or_default();
            if text.contains("100%") {
                assert!(text.parse::<Faults>().is_err(), "more than all");
                continue;
            }
            assert_eq!(faults.to_string(), text);
        }
        let typed: Faults = " reset : 1 % : after , slow-body( 2s ):1%:after".parse().unwrap();
        assert_eq!(typed.to_string(), "reset:1%:after,slow-body(2s):1%", "slow answers lose nothing");
        assert!(serde_json::from_str::<Faults>("null").unwrap().is_empty());
        assert_eq!(serde_json::to_string(&typed).unwrap(), "\"reset:1%:after,slow-body(2s):1%\"");
    }

    #[test]
    fn nonsense_is_refused_with_what_is_accepted() {
        for (text, why) in [
            ("reset", "write for example `reset:1%`"),
            ("reset:1", "`1` is not a percentage"),
            ("reset:101%", "`101%` is not a percentage"),
            ("reset:NaN%", "is not a percentage"),
            ("reset:-1%", "is not a percentage"),
            ("reset:1%:before", "`before` is not known; only `after` may follow the share"),
            ("rest:1%", "unknown fault `rest` (did you mean `reset`?)"),
            ("200:1%", "`200` is not an error status from 400 to 599"),
            ("99999:1%", "unknown fault `99999`"),
            ("slow-body:1%", "such as `slow-body(2s)`"),
            ("slow-body(2s:1%", "has no closing `)`"),
            ("slow-body(soon):1%", "is not a duration"),
            ("slow-body(2h):1%", "is longer than the maximum of 1h"),
            ("reset(2s):1%", "`reset` does not take a time; leave out the parentheses"),
            ("reset:1%,reset:2%", "`reset` is given twice"),
            ("reset:60%,close:40.1%", "more than 100%"),
        ] {
            let error = text.parse::<Faults>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn each_fault_strikes_its_share_of_requests_reproducibly() {
        let faults: Faults = "reset:10%,close:20%:after,500:30%".parse().unwrap();
        for step in [Step::Work, Step::Read, Step::Write { if_match: 0 }] {
            let requests = || (0..4000).map(|op| request(op / 2, 1 + u32::from(op % 2 == 0), step));
            let share = |verdict, fault| {
                let met = requests().filter(|request| faults.of_answer(request, verdict) == Some(fault));
                met.count() as f64 / 4000.0
            };
            for (verdict, fault, expected) in [
                (ServerDecision::Failed, Fault::Reset, 0.1),
                (ServerDecision::Failed, Fault::Close, 0.0),
                (ServerDecision::Accepted, Fault::Close, 0.2),
                (ServerDecision::Rejected, Fault::Close, 0.0),
                (ServerDecision::Failed, Fault::Status(500), 0.3),
            ] {
                // Four standard errors of the largest share.
                assert!((share(verdict, fault) - expected).abs() < 0.03, "{fault}");
            }
            let before = requests().filter(|request| faults.strike_before(request)).count() as f64 / 4000.0;
            assert!((before - 0.4).abs() < 0.03, "{before}");
        }
        let met = |step| (0..64).map(|op| faults.strike_before(&request(op, 1, step))).collect::<Vec<_>>();
        assert_eq!(met(Step::Work), met(Step::Read));
        assert_ne!(met(Step::Read), met(Step::Write { if_match: 0 }));
    }

    /// Slow answers are slow whatever their verdict.
    #[test]
    fn faults_of_100_percent_strike_every_request() {
        let all: Faults = "reset:50%,close:50%".parse().unwrap();
        assert!((0..4000).all(|op| all.strike_before(&request(op, 1, Step::Work))));
        let slow: Faults = "slow-headers(2s):100%".parse().unwrap();
        for verdict in [ServerDecision::Accepted, ServerDecision::Rejected, ServerDecision::Conflict] {
            let fault = slow.of_answer(&request(0, 1, Step::Work), verdict);
            assert_eq!(fault, Some(Fault::SlowHeaders(Duration::from_secs(2))));
        }
        assert!(!slow.strike_before(&request(0, 1, Step::Work)));
    }
}
