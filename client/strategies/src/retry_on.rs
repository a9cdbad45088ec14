//! Parameter `retry-on`: a rule that selects outcomes to retry. The rule is a list of terms. If several terms match an
//! outcome, the last one decides.
//!
//! A term consists of a subject and, after `&`, optional conditions. A `!` before the subject excludes the matching
//! outcomes. The subjects are:
//! - a status (`503`) or a range (`500-599`, `5xx`)
//! - the reason for a missing answer (`refused`, `closed`, `timeout`, `unreadable`, or `transport` for all but the
//!   timeout)
//! - a gRPC status (`grpc.UNAVAILABLE`)
//! - a reason from the body or a header (`reason.SlowDown`)
//! - the status as the harness counts it (`rejected`, `failed`)
//! - `throttled` for outcomes that match `throttle-on`
//! - `answer` for every answer, `any` for everything, `none` for nothing
//!
//! The conditions are:
//! - a method (`get`, `post` …)
//! - `idempotent` for every idempotent method
//! - `advice` for an answer with advice that this client can parse
//! - `told` for an answer with advice, parsable or not

use std::num::NonZeroU8;

use vocabulary::{TextField, did_you_mean};

use crate::method::{Method, Methods};
use crate::{Advice, Facts, Grpc, Missing, Outcome, Status};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RetryOn {
    text: String,
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// Terms of the rule, in the reverse order of the text, so that the first match decides.
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    takes_in: bool,
    subject: Subject,
    advised: Advised,
    /// HTTP methods to which the term applies. If a compiled term applies to all methods that the client uses, this is the set
    /// of all HTTP methods.
    methods: Methods,
}

/// Subject of a term in a `retry-on` rule.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    Any,
    Answer,
    Codes(u16, u16),
    Missing(&'static [Missing]),
    Rejected,
    Failed,
    Throttled,
    Grpc(Grpc),
    Reason {
        name: String,
        /// Position in the list of reasons, from 1. It is set when the rule is compiled.
        place: Option<NonZeroU8>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Advised {
    Whatever,
    Readable,
    Given,
}

const WORDS: [(&str, Subject); 11] = [
    ("any", Subject::Any),
    ("answer", Subject::Answer),
    ("rejected", Subject::Rejected),
    ("failed", Subject::Failed),
    ("throttled", Subject::Throttled),
    ("refused", Subject::Missing(&[Missing::Refused])),
    ("closed", Subject::Missing(&[Missing::Closed])),
    ("timeout", Subject::Missing(&[Missing::Timeout])),
    ("unreadable", Subject::Missing(&[Missing::Unreadable])),
    ("transport", Subject::Missing(&[Missing::Refused, Missing::Closed, Missing::Unreadable])),
    ("none", Subject::Codes(0, 0)),
];

impl RetryOn {
    pub(crate) fn constant(text: &str) -> Self {
        let mut rule = Self { text: String::new(), terms: Vec::new() };
        rule.read(text).expect("a constant rule");
        rule
    }

    /// Returns whether the rule was parsed from exactly this text. The texts are compared, so `text` need not be
    /// parsed.
    pub(crate) fn is_typed(&self, text: &str) -> bool {
        self.text == text
    }

    pub(crate) fn reasons(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|term| match &term.subject {
            Subject::Reason { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    pub(crate) fn needs_grpc(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.subject, Subject::Grpc(_)))
    }

    /// Compiles the rule for a client that sends requests with the HTTP methods `methods`. Each name of a reason is
    /// replaced by its position in `reasons`, from 1.
    pub(crate) fn compile(&self, methods: Methods, reasons: &[String]) -> Compiled {
        let terms = self.terms.iter().rev().filter_map(|term| {
            let mut term = term.clone();
            term.methods = match methods.filter(|method| term.methods.contains(method)) {
                none if none.is_empty() => return None,
                all if all == methods => Methods::ALL,
                some => some,
            };
            if let Subject::Reason { name, place } = &mut term.subject {
                let known = reasons.iter().position(|known| known == name)?;
                *place = Some(NonZeroU8::new(u8::try_from(known + 1).ok()?)?);
            }
            Some(term)
        });
        Compiled { terms: terms.collect() }
    }
}

impl Compiled {
    /// Returns whether this rule selects an outcome. `advice` is the parsed advice of the answer. `throttled` is true
    /// if the rule `throttle-on` selects the outcome.
    pub(crate) fn fits(&self, outcome: &Outcome, advice: Advice, throttled: bool) -> bool {
        let Outcome { status, facts, method, .. } = outcome;
        for term in &self.terms {
            let advised = match term.advised {
                Advised::Whatever => true,
                Advised::Readable => !matches!(advice, Advice::None | Advice::Unreadable | Advice::Never),
                Advised::Given => advice != Advice::None,
            };
            if advised && term.methods.contains(*method) && term.subject.fits(*status, *facts, throttled) {
                return term.takes_in;
            }
        }
        false
    }
}

impl Subject {
    fn fits(&self, status: Status, facts: Facts, throttled: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Answer => facts.code != 0,
            Self::Codes(from, to) => (*from..=*to).contains(&facts.code) && facts.code != 0,
            Self::Missing(kinds) => facts.missing.is_some_and(|missing| kinds.contains(&missing)),
            Self::Rejected => status == Status::Rejected,
            Self::Failed => matches!(status, Status::Failed(failure) if failure.is_retriable()),
            Self::Throttled => throttled,
            Self::Grpc(wanted) => facts.grpc == Some(*wanted),
            Self::Reason { place, .. } => facts.reason == *place,
        }
    }
}

impl TextField for RetryOn {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let terms = text.split('|').map(|term| read_term(term.trim())).collect::<Result<Vec<_>, _>>()?;
        *self = Self { text: text.to_owned(), terms };
        Ok(())
    }

    fn show(&self) -> String {
        self.text.clone()
    }

    fn accepted(&self) -> &'static str {
        "a list of terms joined by `|`; the last term that matches an outcome decides. Terms are statuses \
         (`503`, `5xx`, `500-599`), `refused`, `closed`, `timeout`, `unreadable`, `transport`, `rejected`, \
         `failed`, `throttled`, `answer`, `any`, `none`, `grpc.NAME` and `reason.NAME`. `!` before a term \
         excludes its outcomes. `&` after a term adds a condition: a method such as `get`, `idempotent`, \
         `advice` (a wait that the client can read), or `told` (any advised wait)"
    }
}

fn read_term(text: &str) -> Result<Term, String> {
    let (takes_in, text) = match text.strip_prefix('!') {
        Some(rest) => (false, rest),
        None => (true, text),
    };
    let mut words = text.split('&').map(str::trim);
    let subject = read_subject(words.next().unwrap_or_default())?;
    let mut term = Term { takes_in, subject, methods: Methods::ALL, advised: Advised::Whatever };
    for word in words {
        match (word, Method::named(word)) {
            ("idempotent", _) => term.methods = term.methods.filter(Method::is_idempotent),
            ("advice", _) => term.advised = Advised::Readable,
            ("told", _) => term.advised = Advised::Given,
            (_, Method::Other) => {
                return Err(format!(
                    "`{word}` is not a condition; after `&` write `idempotent`, `advice`, `told`, or a \
                     method such as `get`"
                ));
            }
            (_, method) => term.methods = term.methods.filter(|other| other == method),
        }
    }
    Ok(term)
}

fn read_subject(word: &str) -> Result<Subject, String> {
    if let Some((_, subject)) = WORDS.iter().find(|(known, _)| *known == word) {
        return Ok(subject.clone());
    }
    if let Some(name) = word.strip_prefix("reason.") {
        if !(1..=64).contains(&name.len()) {
            return Err(format!(
                "`{word}` must name a reason of at most 64 characters, such as `reason.SlowDown`"
            ));
        }
        return Ok(Subject::Reason { name: name.to_owned(), place: None });
    }
    if let Some(name) = word.strip_prefix("grpc.") {
        return Grpc::named(name)
            .map(Subject::Grpc)
            .ok_or_else(|| format!("`{name}` is not a gRPC status, such as `UNAVAILABLE`"));
    }
    let codes = match word.as_bytes() {
        [class @ b'1'..=b'5', b'x', b'x'] => {
            let from = u16::from(class - b'0') * 100;
            Some((from, from + 99))
        }
        _ => match word.split_once('-') {
            Some((from, to)) => status(from).zip(status(to)).filter(|(from, to)| from <= to),
            None => status(word).map(|code| (code, code)),
        },
    };
    codes.map(|(from, to)| Subject::Codes(from, to)).ok_or_else(|| {
        let suggestion = did_you_mean(word, WORDS.iter().map(|(known, _)| *known));
        format!("`{word}` is neither a status nor a known term{suggestion}")
    })
}

fn status(text: &str) -> Option<u16> {
    let is_status = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|code| is_status && (100..=599).contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    fn answer(code: u16) -> Outcome {
        let status = if code == 429 { Status::Rejected } else { Status::Failed(Failure::Fatal) };
        Outcome { facts: Facts::code(code), ..Outcome::plain(status) }
    }

    fn missing(why: Missing) -> Outcome {
        Outcome { facts: Facts::missing(why), ..Outcome::plain(Status::Failed(Failure::Transport)) }
    }

    fn fits(text: &str, outcome: Outcome) -> bool {
        RetryOn::constant(text).compile(Methods::only(Method::Get), &[]).fits(&outcome, outcome.advice, false)
    }

    #[test]
    fn the_last_term_that_fits_decides() {
        let rule = "408|429|5xx|!501|transport";
        for (code, expected) in
            [(408, true), (409, false), (429, true), (500, true), (501, false), (599, true)]
        {
            assert_eq!(fits(rule, answer(code)), expected, "{code}");
        }
        assert!(fits(rule, missing(Missing::Closed)) && !fits(rule, missing(Missing::Timeout)));
        assert!(fits("!501|5xx", answer(501)), "the later term takes it in again");
        assert!(!fits("none", answer(503)) && !fits("none", missing(Missing::Refused)));
        assert!(fits("400-404|500-503", answer(502)) && !fits("400-404|500-503", answer(410)));
    }

    #[test]
    fn methods_and_advice_are_conditions() {
        let rule = RetryOn::constant("503&idempotent|413&advice|500&post");
        let post = rule.compile(Methods::only(Method::Post), &[]);
        let get = rule.compile(Methods::only(Method::Get), &[]);
        assert!(get.fits(&answer(503), Advice::None, false) && !post.fits(&answer(503), Advice::None, false));
        assert!(post.fits(&answer(500), Advice::None, false) && !get.fits(&answer(500), Advice::None, false));
        let advice = Advice::After(std::time::Duration::ZERO);
        assert!(get.fits(&answer(413), advice, false) && !get.fits(&answer(413), Advice::Unreadable, false));
        assert!(RetryOn::constant("413&told").compile(Methods::only(Method::Get), &[]).fits(
            &answer(413),
            Advice::Unreadable,
            false
        ));
    }

    #[test]
    fn a_rule_for_several_methods_uses_the_method_of_each_request() {
        let rule = RetryOn::constant("503&idempotent|500&post|429|!429&patch");
        let methods = [Method::Get, Method::Post, Method::Patch];
        let mixed = rule.compile(methods.into_iter().collect(), &[]);
        for method in methods {
            let alone = rule.compile(Methods::only(method), &[]);
            for code in [429, 500, 503] {
                // A rule compiled for one method ignores the method of the request.
                let fits = alone.fits(&answer(code), Advice::None, false);
                let outcome = Outcome { method, ..answer(code) };
                assert_eq!(mixed.fits(&outcome, Advice::None, false), fits, "{method:?} {code}");
            }
        }
    }

    #[test]
    fn reasons_are_known_by_their_place_in_the_list() {
        let rule = RetryOn::constant("reason.SlowDown");
        let compiled =
            rule.compile(Methods::only(Method::Get), &["Throttling".to_owned(), "SlowDown".to_owned()]);
        let reason = |place| Outcome {
            facts: Facts { reason: NonZeroU8::new(place), ..Facts::code(400) },
            ..Outcome::plain(Status::Failed(Failure::Fatal))
        };
        assert!(compiled.fits(&reason(2), Advice::None, false));
        assert!(
            !compiled.fits(&reason(1), Advice::None, false)
                && !compiled.fits(&reason(0), Advice::None, false)
        );
    }

    /// `rejected|failed` is the default of `retry-on`.
    #[test]
    fn rejected_or_failed_matches_all_but_fatal_failures() {
        let rule = RetryOn::constant("rejected|failed").compile(Methods::only(Method::Get), &[]);
        for (status, expected) in [
            (Status::Rejected, true),
            (Status::Failed(Failure::Server), true),
            (Status::Failed(Failure::Timeout), true),
            (Status::Failed(Failure::Transport), true),
            (Status::Failed(Failure::Fatal), false),
        ] {
            assert_eq!(rule.fits(&Outcome::plain(status), Advice::None, false), expected, "{status:?}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused_by_its_word() {
        let mut rule = RetryOn::constant("any");
        for (text, words) in [
            ("503|", "`` is neither a status nor a known term"),
            ("6xx", "`6xx` is neither a status"),
            ("503-500", "`503-500` is neither a status"),
            ("timout", "did you mean `timeout`?"),
            ("503&put&brew", "`brew` is not a condition"),
            ("grpc.unavailable", "`unavailable` is not a gRPC status"),
            ("reason.", "`reason.` must name a reason"),
            ("+503", "`+503` is neither a status"),
        ] {
            let error = rule.read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert_eq!(rule.show(), "any");
    }
}
