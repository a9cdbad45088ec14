//! Content of answers: status, headers and body as templates, chosen by the outcome of the request and the reason of a rejection. Also
//! advice when to retry, in the forms that real servers use.
//!
//! [`AnswersConfig`] is the serialized form of all answers. [`AnswerSet`] is the parsed form for the stages of one stack. An answer is
//! rendered from the facts in a [`ResponseContext`], and a [`HeaderWriter`] converts its times. It is rendered whole, or one header at a
//! time if only some are read.

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
pub use config::{AnswersConfig, EveryConfig, ResponseConfig};
pub use field::FieldError;
pub use header_writer::HeaderWriter;
pub use response::{Rendered, ResponseError};
pub use response_context::{Outcome, ResponseContext};
pub use template::{Template, TemplateError};

#[cfg(test)]
mod tests;
