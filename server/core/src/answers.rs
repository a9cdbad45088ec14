//! Content of answers: status, headers and body by outcome and reason, as templates, and advice in the forms that real servers use.
//!
//! [`AnswersConfig`] is the serialized form, [`AnswerSet`] the parsed answers for the stages of a stack. An answer is rendered from its
//! [`ResponseContext`] facts, in the time of a [`HeaderWriter`]: either whole, or header by header if only some are read.

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
