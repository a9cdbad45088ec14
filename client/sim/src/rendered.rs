//! Headers of a response that is made from a template. Each header is rendered when it is first read, because most are never read.

use std::borrow::Cow;
use std::cell::OnceCell;

use mockserver_core::{AnswerSet, HeaderWriter, ResponseContext};
use tailback::{AdviceHeaders, AdviceValue};
use vocabulary::WallTime;

pub(crate) struct RenderedHeaders<'a> {
    answers: &'a AnswerSet,
    context: ResponseContext<'a>,
    teller: HeaderWriter,
    status: u16,
    written: Written,
}

/// Cache of rendered header values: a linked list in the order in which the headers were first read.
#[derive(Default)]
struct Written {
    value: OnceCell<(&'static str, String)>,
    next: OnceCell<Box<Self>>,
}

impl<'a> RenderedHeaders<'a> {
    /// Creates the headers of one response. `status` is used if no template sets a status; `anchor` is the wall-clock time at which the
    /// server started.
    pub(crate) fn new(
        answers: &'a AnswerSet,
        context: ResponseContext<'a>,
        status: u16,
        anchor: WallTime,
    ) -> Self {
        let status = answers.status(&context).unwrap_or(status);
        Self {
            answers,
            context,
            teller: HeaderWriter::experiment(anchor),
            status,
            written: Written::default(),
        }
    }
}

impl RenderedHeaders<'_> {
    /// Returns the response body that a template sets; `None` if the body is the server's built-in one.
    pub(crate) fn body(&self) -> Option<Cow<'_, str>> {
        self.answers.body(&self.context, &self.teller)
    }
}

impl AdviceHeaders for RenderedHeaders<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        let mut place = &self.written;
        while let Some((there, text)) = place.value.get() {
            if *there == name {
                return Some(AdviceValue::Text(text));
            }
            place = place.next.get_or_init(Box::default);
        }
        match self.answers.header(name, &self.context, &self.teller)? {
            Cow::Borrowed(text) => Some(AdviceValue::Text(text)),
            Cow::Owned(text) => Some(AdviceValue::Text(&place.value.get_or_init(|| (name, text)).1)),
        }
    }

    /// Returns false, because a set of templates contains each header name once.
    fn is_repeated(&self, _: &'static str) -> bool {
        false
    }

    fn status(&self) -> u16 {
        self.status
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mockserver_core::{AnswersConfig, Outcome};
    use tailback::{Advice, ResponseParser};
    use vocabulary::Instant;

    use super::*;

    #[test]
    fn a_strategy_reads_what_the_real_server_would_write() {
        let answers = AnswersConfig::default().advising("seconds:header=x-ratelimit-retry-after+date");
        let answers = AnswerSet::read(&answers, ["limit"]).unwrap();
        let context = ResponseContext {
            outcome: Outcome::Rejected { stage: Some(0), wait: Some(Duration::from_millis(1500)) },
            now: Instant::from_millis(250),
            decided_at: Instant::from_millis(250),
            limit_statuses: &[],
            seed: 1,
            op: 0,
            attempt: 1,
        };
        let headers = RenderedHeaders::new(&answers, context, 429, WallTime::VIRTUAL_START);
        let now = WallTime::VIRTUAL_START.at(context.now);
        let parsed = ResponseParser::default().parse(headers.status(), &headers, &[], now);
        assert_eq!((parsed.facts.code, parsed.advice), (429, Advice::After(Duration::from_millis(1750))));
        for _ in 0..2 {
            assert_eq!(headers.value("x-ratelimit-retry-after"), Some(AdviceValue::Text("2")));
            assert_eq!(
                headers.value("retry-after"),
                Some(AdviceValue::Text("Thu, 01 Jan 2026 00:00:02 GMT"))
            );
            assert_eq!(headers.value("retry-after-ms"), None);
        }
    }
}
