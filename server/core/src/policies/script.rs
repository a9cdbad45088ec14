//! Admission by a script: every request gets the reply that the script contains for it. No request is rejected for lack of capacity.
//!
//! Source: the scripted servers that retry tests of client libraries use; the recordings of real clients in `tests/`.

use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Configurable, Instant, Parameter, choices};

use crate::policies::{Admission, Arrived, PolicyConfig};
use crate::{Request, Script, ServerDecision, ServiceModel};

#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptConfig {
    steps: Arc<Script>,
    by: By,
}

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    enum By {
        #[default]
        Op = "op",
        Call = "call",
    }
}

impl Configurable for ScriptConfig {
    const NAME: &'static str = "script";
    const SUMMARY: &'static str = "answers every request from a script, without delay";
    const RULE: &'static str = "the n-th request of an op is answered with step n of `steps`; the last step \
                                repeats. A step is a status with headers and a body, or a fault: `close`, \
                                `reset`, `truncate` or `hang`. `:after` lets a fault occur after the work. \
                                The header values `@date+3` and `@epoch+5` are times 3 s and 5 s after the \
                                next whole second. A 2xx and a fault after the work count as accepted, \
                                everything else as rejected. Requests that name no op belong to op 0; \
                                `by=call` groups them by method and URL into calls, and each call starts at \
                                step 1 of op 0 until it is served";
    const SOURCE: &'static str = "recordings of real client libraries against a scripted server";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::text(
            "steps",
            "answers in their order; on the command line, `file=PATH` reads them from a JSON file",
            |config| {
                let steps: &mut Script = Arc::make_mut(&mut config.steps);
                steps
            },
        ),
        Parameter::choice(
            "by",
            "grouping of requests that name no op: all are attempts of one op, or those with the same \
             method and URL are attempts of a call until one is served",
            |config| &mut config.by,
        ),
    ];
}

impl PolicyConfig for ScriptConfig {
    fn build(&self) -> Option<Box<dyn Admission>> {
        Some(Box::new(self.clone()))
    }

    fn mean_service(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    fn script(&self) -> Option<&Arc<Script>> {
        Some(&self.steps)
    }

    fn counts_calls(&self) -> bool {
        self.by == By::Call
    }
}

impl Admission for ScriptConfig {
    fn arrive(&mut self, _at: Instant, request: &Request, _service: &ServiceModel) -> Arrived {
        let (id, reply) = self.steps.reply_to(request.op, request.attempt);
        let verdict =
            if reply.counts_as_accepted() { ServerDecision::Accepted } else { ServerDecision::Rejected };
        Arrived::Scripted { verdict, reply: id }
    }
}
