//! Entry of a schedule: a time or period, and the change of the server that happens at this time.

use std::fmt;
use std::time::Duration;

use vocabulary::{did_you_mean, duration_text};

use super::value::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) from: Duration,
    pub(super) until: Until,
    pub(super) action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// Scheduled change that lasts from a given time on, written `10s`.
    Later,
    /// Scheduled change that lasts for a given period, written `10s..20s`.
    Then(Duration),
    /// Written `10s..`: the value starts to change continuously at this time, and no end is given.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Down,
    Up,
    Set(Target, Value),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    MaxBusy,
    /// A parameter of the policy with the name `stage` in the stack.
    Parameter {
        stage: String,
        key: String,
    },
}

const MAX_BUSY: &str = "max-busy";

impl Entry {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (when, what) =
            text.split_once(char::is_whitespace).ok_or("after the time, a change must follow")?;
        let time = |text: &str| duration_text::parse(text).map_err(|error| error.to_string());
        let (from, until) = match when.split_once("..") {
            None => (time(when)?, Until::Later),
            Some((from, "")) => (time(from)?, Until::Open),
            Some((from, to)) => (time(from)?, Until::Then(time(to)?)),
        };
        if matches!(until, Until::Then(to) if to <= from) {
            return Err(format!("`{when}` ends before it begins"));
        }
        let action = Action::read(what.trim())?;
        action.check(when, until)?;
        Ok(Self { from, until, action })
    }

    pub(super) fn end(&self) -> Option<Duration> {
        match self.until {
            Until::Then(to) => Some(to),
            Until::Later | Until::Open => None,
        }
    }

    /// Whether two entries of a schedule change the same setting, or both concern outages.
    pub(super) fn is_about_what(&self, other: &Self) -> bool {
        match (&self.action, &other.action) {
            (Action::Set(target, _), Action::Set(other, _)) => target == other,
            (Action::Set(..), _) | (_, Action::Set(..)) => false,
            _ => true,
        }
    }
}

impl Action {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "down" => return Ok(Self::Down),
            "up" => return Ok(Self::Up),
            _ => {}
        }
        let Some((target, value)) = text.split_once('=') else {
            let suggestion = did_you_mean(text, ["down", "up"]);
            return Err(format!(
                "`{text}` is not a change{suggestion}; write `down`, `up`, or a setting such as `max-busy=20`"
            ));
        };
        Ok(Self::Set(Target::read(target.trim())?, Value::read(value)?))
    }

    fn check(&self, when: &str, until: Until) -> Result<(), String> {
        match (self, until) {
            (Self::Up | Self::Down, Until::Open) | (Self::Up, Until::Then(_)) => Err(format!(
                "only `down` accepts a range of time, and only one with an end, such as `20s..25s`; instead \
                 of `{when}`, write only the time at which it begins"
            )),
            (Self::Set(_, Value::Constant(value)), Until::Then(_) | Until::Open) => Err(format!(
                "`{value}` is set at one instant, but `{when}` is a range of time; write only its \
                 beginning, and add another entry for what follows"
            )),
            (Self::Set(_, value @ Value::Ramp(..)), Until::Later | Until::Open) => Err(format!(
                "the ramp `{value}` needs a beginning and an end, but `{when}` has no end; write for \
                 example `30s..40s`"
            )),
            (Self::Set(_, value @ Value::Sine(_)), Until::Later) => Err(format!(
                "the wave `{value}` needs a range of time; write `{when}..`, or `{when}..` followed by its end"
            )),
            _ => Ok(()),
        }
    }
}

impl Target {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if text == MAX_BUSY {
            return Ok(Self::MaxBusy);
        }
        match text.split_once('.') {
            Some((stage, key)) if !stage.is_empty() && !key.is_empty() => {
                Ok(Self::Parameter { stage: stage.trim().to_owned(), key: key.trim().to_owned() })
            }
            _ => Err(format!(
                "`{text}` is neither `{MAX_BUSY}` nor a policy's parameter, such as `token-bucket.rate`{}",
                did_you_mean(text, [MAX_BUSY])
            )),
        }
    }
}

fn time_text(time: Duration) -> String {
    duration_text::format(time).replace(' ', "")
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&time_text(self.from))?;
        match self.until {
            Until::Later => {}
            Until::Then(to) => write!(f, "..{}", time_text(to))?,
            Until::Open => f.write_str("..")?,
        }
        match &self.action {
            Action::Down => f.write_str(" down"),
            Action::Up => f.write_str(" up"),
            Action::Set(target, value) => write!(f, " {target}={value}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MaxBusy => f.write_str(MAX_BUSY),
            Self::Parameter { stage, key } => write!(f, "{stage}.{key}"),
        }
    }
}
