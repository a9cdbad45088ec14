//! How an op ended for its caller: what recordings say of it, and what a strategy's op came to.

use std::fmt;

use crate::raw::{RawCode, RawOutcome};

/// How an op of a strategy ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With success.
    Success,
    /// The caller got this answer.
    Answer(u16),
    /// No answer came.
    Transport,
    /// Nothing was ever sent.
    Refused,
}

/// What a recording says about it: libraries do not all tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It succeeded.
    Success,
    /// The caller got this answer.
    Answer(u16),
    /// The caller got an answer that was no success.
    SomeAnswer,
    /// No answer came.
    Transport,
    /// It failed in some way.
    Failure,
    /// Nothing is told: there was no server, or the program says the same of both.
    Nothing,
}

impl Told {
    /// What this outcome means.
    pub(crate) fn of(outcome: &RawOutcome) -> Self {
        if let Some(status) = outcome.status {
            return if (200..300).contains(&status) { Self::Success } else { Self::Answer(status) };
        }
        match &outcome.code {
            Some(RawCode::Name(name)) if ["ECONNRESET", "UND_ERR_SOCKET"].contains(&name.as_str()) => {
                return Self::Transport;
            }
            Some(RawCode::Exit(code)) if outcome.kind == "exit" => return Self::of_exit(*code),
            _ => {}
        }
        Self::of_type(&outcome.kind)
    }

    /// What the name of a type means, without anything else.
    pub(crate) fn of_type(name: &str) -> Self {
        if let Some(status) = name.rsplit(' ').next().and_then(|word| word.parse().ok()) {
            return if (200..300).contains(&status) { Self::Success } else { Self::Answer(status) };
        }
        match name {
            "success" | "ok" | "OK" => Self::Success,
            "iterator" | "formula" => Self::Nothing,
            "error without answer"
            | "RemoteDisconnected"
            | "RemoteProtocolError"
            | "ServerDisconnectedError"
            | "ConnectionClosedError"
            | "APIConnectionError"
            | "StripeConnectionError"
            | "NetworkError"
            | "ProtocolError"
            | "ServiceResponseError" => Self::Transport,
            // gRPC's statuses come in answers.
            _ if vocabulary::grpc::named(name).is_some() => Self::SomeAnswer,
            _ => Self::Failure,
        }
    }

    /// Exit codes of curl and wget: 0 says nothing, as curl ends with it after a last 503 unless it is told to fail, too.
    fn of_exit(code: i64) -> Self {
        match code {
            8 | 22 => Self::SomeAnswer,
            52 => Self::Transport,
            4 => Self::Failure,
            _ => Self::Nothing,
        }
    }

    /// Whether an op that ended like this is what is told.
    pub(crate) fn fits(self, ending: Ending) -> bool {
        match self {
            Self::Success => ending == Ending::Success,
            Self::Answer(status) => ending == Ending::Answer(status),
            Self::SomeAnswer => matches!(ending, Ending::Answer(_)),
            Self::Transport => ending == Ending::Transport,
            Self::Failure => ending != Ending::Success,
            Self::Nothing => true,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("success"),
            Self::Answer(status) => write!(f, "an answer with {status}"),
            Self::Transport => f.write_str("no answer"),
            Self::Refused => f.write_str("nothing was sent"),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("success"),
            Self::Answer(status) => write!(f, "an answer with {status}"),
            Self::SomeAnswer => f.write_str("an answer that is not a success"),
            Self::Transport => f.write_str("no answer"),
            Self::Failure => f.write_str("a failure"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Told {
        Told::of(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn outcomes_of_all_libraries_are_understood() {
        for (text, meaning) in [
            (r#"{"type": "success"}"#, Told::Success),
            (r#"{"type": "success", "status": 200}"#, Told::Success),
            (r#"{"type": "Response", "status": 503}"#, Told::Answer(503)),
            (r#"{"type": "error 429"}"#, Told::Answer(429)),
            (r#"{"type": "response 200"}"#, Told::Success),
            (r#"{"type": "error without answer"}"#, Told::Transport),
            (r#"{"type": "AxiosError", "code": "ECONNRESET"}"#, Told::Transport),
            (r#"{"type": "exit", "code": 0}"#, Told::Nothing),
            (r#"{"type": "exit", "code": 22}"#, Told::SomeAnswer),
            (r#"{"type": "exit", "code": 52}"#, Told::Transport),
            (r#"{"type": "UNAVAILABLE"}"#, Told::SomeAnswer),
            (r#"{"type": "MaxRetryError"}"#, Told::Failure),
            (r#"{"type": "iterator"}"#, Told::Nothing),
        ] {
            assert_eq!(told(text), meaning, "{text}");
        }
    }

    #[test]
    fn what_is_told_fits_only_what_it_says() {
        let endings = [Ending::Success, Ending::Answer(503), Ending::Answer(429), Ending::Transport];
        for (told, fits) in [
            (Told::Success, [true, false, false, false]),
            (Told::Answer(503), [false, true, false, false]),
            (Told::SomeAnswer, [false, true, true, false]),
            (Told::Transport, [false, false, false, true]),
            (Told::Failure, [false, true, true, true]),
            (Told::Nothing, [true, true, true, true]),
        ] {
            assert_eq!(endings.map(|ending| told.fits(ending)), fits, "{told}");
        }
    }
}
