//! Ending of an op as its caller sees it, as recorded and as simulated.

use std::fmt;

use crate::raw::{RawCode, RawOutcome};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    Answer(u16),
    /// The op ended because no response arrived.
    Transport,
    /// The op ended before any request was sent.
    Refused,
}

/// Ending of an op as the recording describes it. The details depend on the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedEnding {
    Known(Ending),
    /// The caller received a response with an unknown status that is not a success.
    SomeAnswer,
    Failure,
    /// The ending of a recorded op is unknown. Either there was no server, or the recorded program does not distinguish success from
    /// failure.
    Nothing,
}

impl RecordedEnding {
    pub(crate) fn new(outcome: &RawOutcome) -> Self {
        if let Some(status) = outcome.status {
            return Self::of_status(status);
        }
        match &outcome.code {
            Some(RawCode::Name(name)) if ["ECONNRESET", "UND_ERR_SOCKET"].contains(&name.as_str()) => {
                Self::Known(Ending::Transport)
            }
            // Exit codes of curl and wget. Exit code 0 is no proof of success: curl also returns it after a final 503, unless configured
            // to fail.
            Some(RawCode::Exit(code)) if outcome.kind == "exit" => match code {
                8 | 22 => Self::SomeAnswer,
                52 => Self::Known(Ending::Transport),
                4 => Self::Failure,
                _ => Self::Nothing,
            },
            _ => Self::of_type(&outcome.kind),
        }
    }

    fn of_status(status: u16) -> Self {
        Self::Known(if (200..300).contains(&status) { Ending::Success } else { Ending::Answer(status) })
    }

    pub(crate) fn of_type(name: &str) -> Self {
        if let Some(status) = name.rsplit(' ').next().and_then(|word| word.parse().ok()) {
            return Self::of_status(status);
        }
        match name {
            "success" | "ok" | "OK" => Self::Known(Ending::Success),
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
            | "ServiceResponseError" => Self::Known(Ending::Transport),
            // If the library reported the name of a gRPC status, a response had arrived.
            _ if vocabulary::grpc::named(name).is_some() => Self::SomeAnswer,
            _ => Self::Failure,
        }
    }

    pub(crate) fn fits(self, ending: Ending) -> bool {
        match self {
            Self::Known(known) => known == ending,
            Self::SomeAnswer => matches!(ending, Ending::Answer(_)),
            Self::Failure => ending != Ending::Success,
            Self::Nothing => true,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Success => "success",
            Self::Answer(status) => return write!(f, "an answer with {status}"),
            Self::Transport => "no answer",
            Self::Refused => "nothing was sent",
        })
    }
}

impl fmt::Display for RecordedEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Known(ending) => return ending.fmt(f),
            Self::SomeAnswer => "an answer that is not a success",
            Self::Failure => "a failure",
            Self::Nothing => "nothing",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> RecordedEnding {
        RecordedEnding::new(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn outcomes_of_all_libraries_are_understood() {
        for (text, meaning) in [
            (r#"{"type": "success"}"#, RecordedEnding::Known(Ending::Success)),
            (r#"{"type": "success", "status": 200}"#, RecordedEnding::Known(Ending::Success)),
            (r#"{"type": "Response", "status": 503}"#, RecordedEnding::Known(Ending::Answer(503))),
            (r#"{"type": "error 429"}"#, RecordedEnding::Known(Ending::Answer(429))),
            (r#"{"type": "response 200"}"#, RecordedEnding::Known(Ending::Success)),
            (r#"{"type": "error without answer"}"#, RecordedEnding::Known(Ending::Transport)),
            (r#"{"type": "AxiosError", "code": "ECONNRESET"}"#, RecordedEnding::Known(Ending::Transport)),
            (r#"{"type": "exit", "code": 0}"#, RecordedEnding::Nothing),
            (r#"{"type": "exit", "code": 22}"#, RecordedEnding::SomeAnswer),
            (r#"{"type": "exit", "code": 52}"#, RecordedEnding::Known(Ending::Transport)),
            (r#"{"type": "UNAVAILABLE"}"#, RecordedEnding::SomeAnswer),
            (r#"{"type": "MaxRetryError"}"#, RecordedEnding::Failure),
            (r#"{"type": "iterator"}"#, RecordedEnding::Nothing),
        ] {
            assert_eq!(parsed(text), meaning, "{text}");
        }
    }

    #[test]
    fn a_recorded_ending_fits_only_the_endings_it_covers() {
        let endings = [Ending::Success, Ending::Answer(503), Ending::Answer(429), Ending::Transport];
        for (parsed, fits) in [
            (RecordedEnding::Known(Ending::Success), [true, false, false, false]),
            (RecordedEnding::Known(Ending::Answer(503)), [false, true, false, false]),
            (RecordedEnding::SomeAnswer, [false, true, true, false]),
            (RecordedEnding::Known(Ending::Transport), [false, false, false, true]),
            (RecordedEnding::Failure, [false, true, true, true]),
            (RecordedEnding::Nothing, [true, true, true, true]),
        ] {
            assert_eq!(endings.map(|ending| parsed.fits(ending)), fits, "{parsed}");
        }
    }
}
