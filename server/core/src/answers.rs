//! Content of answers: status, headers and body by outcome and reason, as templates, and advice in the forms that real servers use.
//!
//! [`AnswersConfig`] is the serialized form, [`AnswerSet`] the parsed answers for the stages of a stack. An answer is rendered from its
//! [`Told`] facts, in the time of a [`Teller`]: either whole, or header by header if only some are read.

mod advice;
mod answer_set;
mod config;
mod field;
mod response;
mod teller;
mod template;
mod time_form;
mod told;

pub use advice::{ADVICE_FORMS, Advice, AdviceEntry, AdviceError};
pub use answer_set::{AnswerSet, AnswersError};
pub use config::{AnswersConfig, EveryConfig, ResponseConfig};
pub use field::FieldError;
pub use response::{Rendered, ResponseError};
pub use teller::Teller;
pub use template::{Template, TemplateError};
pub use told::{Outcome, Told};

#[cfg(test)]
mod tests;
