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
    Success,
    Answer(u16),
    /// The caller received a response with an unknown status that is not a success.
    SomeAnswer,
    Transport,
    Failure,
    /// The ending of a recorded op is unknown. Either there was no server, or the recorded program does not distinguish success from
    /// failure.
    Nothing,
}

impl RecordedEnding {
    pub(crate) fn new(outcome: &RawOutcome) -> Self {
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
            // If the library reported the name of a gRPC status, a response had arrived.
            _ if vocabulary::grpc::named(name).is_some() => Self::SomeAnswer,
            _ => Self::Failure,
        }
    }

    /// Interprets an exit code of curl or wget. Exit code 0 is no proof of success: curl also returns it after a final 503, unless
    /// configured to fail.
    fn of_exit(code: i64) -> Self {
        match code {
            8 | 22 => Self::SomeAnswer,
            52 => Self::Transport,
            4 => Self::Failure,
            _ => Self::Nothing,
        }
    }

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

impl fmt::Display for RecordedEnding {
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

    fn parsed(text: &str) -> RecordedEnding {
        RecordedEnding::new(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn outcomes_of_all_libraries_are_understood() {
        for (text, meaning) in [
            (r#"{"type": "success"}"#, RecordedEnding::Success),
            (r#"{"type": "success", "status": 200}"#, RecordedEnding::Success),
            (r#"{"type": "Response", "status": 503}"#, RecordedEnding::Answer(503)),
            (r#"{"type": "error 429"}"#, RecordedEnding::Answer(429)),
            (r#"{"type": "response 200"}"#, RecordedEnding::Success),
            (r#"{"type": "error without answer"}"#, RecordedEnding::Transport),
            (r#"{"type": "AxiosError", "code": "ECONNRESET"}"#, RecordedEnding::Transport),
            (r#"{"type": "exit", "code": 0}"#, RecordedEnding::Nothing),
            (r#"{"type": "exit", "code": 22}"#, RecordedEnding::SomeAnswer),
            (r#"{"type": "exit", "code": 52}"#, RecordedEnding::Transport),
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
            (RecordedEnding::Success, [true, false, false, false]),
            (RecordedEnding::Answer(503), [false, true, false, false]),
            (RecordedEnding::SomeAnswer, [false, true, true, false]),
            (RecordedEnding::Transport, [false, false, false, true]),
            (RecordedEnding::Failure, [false, true, true, true]),
            (RecordedEnding::Nothing, [true, true, true, true]),
        ] {
            assert_eq!(endings.map(|ending| parsed.fits(ending)), fits, "{parsed}");
        }
    }
}
