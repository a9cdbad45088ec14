//! Content of the server's answers: status, headers and body, written as templates. The outcome of the request and the reason of a
//! rejection determine the answer. Answers may also advise clients when to retry, in the forms that real servers use.
//!
//! [`AnswersConfig`] is the serialized form of all answers. [`AnswerSet`] is the parsed form for the stages of one policy stack. An answer
//! is rendered from the facts in a [`ResponseContext`], and a [`HeaderWriter`] converts its times. Callers can render the whole answer, or
//! a single header if they need only that header.

mod advice;
mod answer_set;
mod config;
mod field;
mod header_writer;
mod response;
mod response_context;
mod template;
mod time_form;

pub use advice::{ADVICE_FORMS, Advice, AdviceEntry, AdviceError};
pub use answer_set::{AnswerSet, AnswersError};
pub(crate) use config::is_default;
pub use config::{AnswersConfig, EveryConfig, ResponseConfig};
pub use field::FieldError;
pub use header_writer::HeaderWriter;
pub use response::{Rendered, ResponseError};
pub use response_context::{Outcome, ResponseContext};
pub use template::{Template, TemplateError};

use response_context::RenderContext;
use time_form::{Rounding, TimeForm, Unit};

#[cfg(test)]
mod tests;
