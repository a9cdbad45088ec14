//! Parameters of a form of retry advice, such as its header and its rounding.

use std::time::Duration;

use serde::Serialize;
use vocabulary::{Draws, Parameter, Purpose, Rng, TextField, WallTime, choices, draws, duration_text, unit};

use crate::answers::{RenderContext, Rounding, TimeForm, Unit};
use crate::header_rules::checked_name;
use crate::{HeaderWriter, ResponseContext};

/// Values of the parameters of one form of retry advice. Each form uses only some of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) header: HeaderName,
    pub(super) rounding: Rounding,
    pub(super) places: u32,
    /// Time by which the advised wait is shortened. The resulting wait is at least zero.
    early: Duration,
    late: Duration,
    /// Maximum of the random time that is added to the exact wait. The random time is uniformly distributed from zero to this maximum.
    jitter: Duration,
    /// Share of the answers that contain the retry advice, 0 to 1.
    share: f64,
    /// Share of the sent retry advice that is malformed, 0 to 1.
    malformed: f64,
    skew: Skew,
    pub(super) problem: Problem,
}

/// All parameters of advice forms, in the order in which they are printed.
pub(super) const PARAMETERS: &[Parameter<Settings>] = &[
    Parameter::text("header", "name of the header that has the advice", |settings| &mut settings.header),
    Parameter::choice("round", "whether the value is rounded up, down, or to the nearest", |settings| {
        &mut settings.rounding
    }),
    Parameter::count("places", "number of digits after the decimal point", 0..=9, |settings| {
        &mut settings.places
    }),
    Parameter::choice("type", "kind of problem that the body names", |settings| &mut settings.problem),
    Parameter::duration("early", "time by which the advised time is too early", |settings| {
        &mut settings.early
    }),
    Parameter::duration("late", "time by which the advised time is too late", |settings| &mut settings.late),
    Parameter::duration("jitter", "maximum random time that is added to the advised time", |settings| {
        &mut settings.jitter
    }),
    Parameter::text("skew", "time by which the server's clock is ahead of the client's", |settings| {
        &mut settings.skew
    }),
    Parameter::number(
        "share",
        "share of the rejections that have this advice, from 0 to 1",
        0.0..=1.0,
        |settings| &mut settings.share,
    ),
    Parameter::number(
        "malformed",
        "share of the advice that is sent in an unreadable form, from 0 to 1",
        0.0..=1.0,
        |settings| &mut settings.malformed,
    ),
];

impl Default for Settings {
    fn default() -> Self {
        Self::new("retry-after", 0)
    }
}

impl Settings {
    pub(super) fn new(header: &str, places: u32) -> Self {
        Self {
            header: HeaderName(header.to_owned()),
            rounding: Rounding::default(),
            places,
            early: Duration::ZERO,
            late: Duration::ZERO,
            jitter: Duration::ZERO,
            share: 1.0,
            malformed: 0.0,
            skew: Skew::default(),
            problem: Problem::default(),
        }
    }

    pub(super) fn write(&self, unit: Unit, wait: Duration, rendering: &RenderContext<'_>) -> String {
        let places = u8::try_from(self.places).unwrap_or(0);
        let form = TimeForm { unit, places, rounding: self.rounding };
        let mut out = String::with_capacity(32);
        if unit.is_moment() {
            form.write_moment(self.skew.applied(rendering.moment(wait), rendering.teller), &mut out);
        } else {
            form.write_duration(rendering.teller.duration(wait), &mut out);
        }
        out
    }
}

/// Name of an HTTP header, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderName(pub(super) String);

impl TextField for HeaderName {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = checked_name(text).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn accepted(&self) -> &'static str {
        "the name of a header, such as `retry-after`"
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Skew {
    is_behind: bool,
    by: Duration,
}

impl Skew {
    fn applied(self, moment: WallTime, teller: &HeaderWriter) -> WallTime {
        let (moment, by) = (moment.since_unix(), teller.duration(self.by));
        WallTime::from_unix(if self.is_behind {
            moment.saturating_sub(by)
        } else {
            moment.saturating_add(by)
        })
    }
}

impl TextField for Skew {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let (is_behind, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let by = duration_text::parse(text).map_err(|error| error.to_string())?;
        *self = Self { is_behind: is_behind && !by.is_zero(), by };
        Ok(())
    }

    fn show(&self) -> String {
        format!("{}{}", if self.is_behind { "-" } else { "" }, duration_text::format(self.by))
    }

    fn accepted(&self) -> &'static str {
        "a duration, such as `2s`, or `-2s` if the server's clock is behind"
    }
}

/// Accuracy of the retry advice in one answer: exact, too early, too late, randomly off, omitted or malformed. The random draws of each
/// advice form depend only on seed, op and attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfAnswer {
    pub(super) speaks: bool,
    /// Malformed value that the server sends in place of correct retry advice. `None` if the server sends well-formed advice.
    pub(super) nonsense: Option<&'static str>,
    later: Duration,
    early: Duration,
}

/// Values that are invalid in every form of retry advice. Broken servers send values like these.
const NONSENSE: [&str; 8] = [
    "",
    "soon",
    "1.2.3",
    "2 minutes",
    "0x1e",
    "null",
    "Thu, 32 Foo 2026 25:61:61 GMT",
    "2026-13-32T25:61:61Z",
];

/// Number of random draws that each form of retry advice uses per answer.
const DRAWS: usize = 4;

impl Settings {
    /// Draws at random the inaccuracy of one form of retry advice in one answer. `form` is the index of the form of advice. Each form uses
    /// its own random draws, so the draws of other forms do not affect it.
    pub(super) fn of_answer(&self, form: usize, context: &ResponseContext<'_>) -> OfAnswer {
        let mut honesty = OfAnswer { speaks: true, nonsense: None, later: self.late, early: self.early };
        if self.share >= 1.0 && self.malformed <= 0.0 && self.jitter.is_zero() {
            return honesty;
        }
        let mut rng: Draws = draws(context.seed, Purpose::Advice, context.op, context.attempt);
        for _ in 0..form * DRAWS {
            rng.next_u64();
        }
        let (share, malformed, which, jitter) =
            (unit(&mut rng), unit(&mut rng), rng.next_u64(), unit(&mut rng));
        honesty.speaks = share < self.share;
        if malformed < self.malformed {
            honesty.nonsense = usize::try_from(which % 8).ok().and_then(|index| NONSENSE.get(index)).copied();
        }
        let jitter = vocabulary::nanos(self.jitter.as_nanos() as f64 * jitter);
        honesty.later = honesty.later.saturating_add(jitter);
        honesty
    }
}

impl OfAnswer {
    pub(super) fn wait(&self, exact: Duration) -> Duration {
        exact.saturating_add(self.later).saturating_sub(self.early)
    }
}

/// Response bodies in the Problem Details format that name the exceeded policy (draft-ietf-httpapi-ratelimit-headers-10, section 5; RFC
/// 9457).
pub(super) const CONTENT_TYPE: &str = "application/problem+json";

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) enum Problem {
        #[default]
        QuotaExceeded = "quota-exceeded",
        TemporaryReducedCapacity = "temporary-reduced-capacity",
        AbnormalUsageDetected = "abnormal-usage-detected",
    }
}

#[derive(Serialize)]
struct ProblemDetails<'a> {
    r#type: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(rename = "violated-policies")]
    violated_policies: &'a [&'a str],
}

impl Problem {
    /// Returns a response body in the Problem Details format. Its member `status` is omitted if the status is unknown. `reason` is the name
    /// of the stage that rejected the request.
    pub(super) fn write(self, status: Option<u16>, reason: Option<&str>) -> String {
        let (r#type, title) = match self {
            Self::QuotaExceeded => (
                "https://iana.org/assignments/http-problem-types#quota-exceeded",
                "Request cannot be satisfied as assigned quota has been exceeded",
            ),
            Self::TemporaryReducedCapacity => (
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
                "Request cannot be satisfied due to temporary server capacity constraints",
            ),
            Self::AbnormalUsageDetected => (
                "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
                "Request not satisfied due to detection of abnormal request pattern",
            ),
        };
        let details = ProblemDetails { r#type, title, status, violated_policies: reason.as_slice() };
        // Serializing strings and integers to JSON cannot fail.
        serde_json::to_string(&details).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {

    use vocabulary::Instant;

    use super::*;
    use crate::answers::Outcome;

    fn of_answers(honesty: &Settings, form: usize) -> Vec<OfAnswer> {
        let context = |op| ResponseContext {
            outcome: Outcome::Accepted,
            now: Instant::ORIGIN,
            decided_at: Instant::ORIGIN,
            limit_statuses: &[],
            seed: 7,
            op,
            attempt: 1,
        };
        (0..1000).map(|op| honesty.of_answer(form, &context(op))).collect()
    }

    #[test]
    fn what_is_drawn_has_its_share_and_differs_by_form() {
        let honesty = Settings { share: 0.7, malformed: 0.1, ..Settings::default() };
        let first = of_answers(&honesty, 0);
        let spoken = first.iter().filter(|of| of.speaks).count();
        let malformed = first.iter().filter(|of| of.nonsense.is_some()).count();
        assert!((650..750).contains(&spoken) && (70..130).contains(&malformed), "{spoken} {malformed}");
        assert_eq!(first, of_answers(&honesty, 0));
        assert_ne!(first, of_answers(&honesty, 1));
        let never = of_answers(&Settings { share: 0.0, ..honesty.clone() }, 0);
        assert!(never.iter().all(|of| !of.speaks));
        let always = of_answers(&Settings { malformed: 1.0, ..honesty.clone() }, 0);
        assert!(always.iter().all(|of| of.nonsense.is_some()));
    }

    #[test]
    fn waits_are_off_by_the_configured_error() {
        let second = Duration::from_secs(1);
        let wait = |honesty: Settings| of_answers(&honesty, 0)[0].wait(Duration::from_secs(5));
        assert_eq!(wait(Settings::default()), 5 * second);
        assert_eq!(wait(Settings { early: 2 * second, ..Settings::default() }), 3 * second);
        assert_eq!(wait(Settings { early: 9 * second, ..Settings::default() }), Duration::ZERO);
        assert_eq!(wait(Settings { late: second, ..Settings::default() }), 6 * second);
        let jittered = of_answers(&Settings { jitter: second, ..Settings::default() }, 0);
        let waits: Vec<Duration> = jittered.iter().map(|of| of.wait(Duration::ZERO)).collect();
        assert!(waits.iter().all(|wait| *wait <= second));
        let mean = waits.iter().sum::<Duration>() / 1000;
        assert!((480..520).contains(&mean.as_millis()), "{mean:?}");
    }

    #[test]
    fn problems_are_written_as_the_draft_has_them() {
        assert_eq!(
            Problem::QuotaExceeded.write(None, Some("daily")),
            r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request cannot be satisfied as assigned quota has been exceeded","violated-policies":["daily"]}"#
        );
        let reduced = Problem::TemporaryReducedCapacity.write(Some(503), None);
        assert!(reduced.ends_with(r#"constraints","status":503,"violated-policies":[]}"#), "{reduced}");
    }
}
