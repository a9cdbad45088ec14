//! What an answer advises, read twice: by the strategy, and by the harness, which judges what becomes of advice.

use tailback::{Advice, AdviceForms, AdviceHeaders};
use vocabulary::WallTime;

/// Reads the headers of answers for both drivers.
#[derive(Clone, Debug)]
pub struct AdviceReader {
    forms: AdviceForms,
    /// The harness's own, unless they are the same.
    harness: Option<AdviceForms>,
}

impl AdviceReader {
    /// For a strategy that reads these headers.
    pub fn new(forms: AdviceForms) -> Self {
        let harness = AdviceForms::default();
        Self { harness: Some(harness).filter(|harness| *harness != forms), forms }
    }

    /// What the strategy reads, and what the harness does.
    pub fn read(&self, headers: &impl AdviceHeaders, now: WallTime) -> (Advice, Advice) {
        let advice = self.forms.read(headers, now);
        (advice, self.harness.as_ref().map_or(advice, |harness| harness.read(headers, now)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use vocabulary::TextField;

    use super::*;

    #[test]
    fn the_harness_reads_what_the_strategy_does_not() {
        let mut forms = AdviceForms::default();
        TextField::read(&mut forms, "x-amz-retry-after.whole").unwrap();
        let said = Some(Duration::from_secs(2));
        let told = Advice::After(Duration::from_secs(2));
        assert_eq!(AdviceReader::new(forms).read(&said, WallTime::VIRTUAL_START), (Advice::None, told));
        let default = AdviceReader::new(AdviceForms::default());
        assert_eq!(default.read(&said, WallTime::VIRTUAL_START), (told, told));
    }
}
