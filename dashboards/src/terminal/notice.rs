//! Answer to a key press, shown in the bottom line for a few seconds.

const FRAMES: u16 = 40;

/// Notice and the number of frames for which it is still shown. The notice replaces the key hints in the bottom line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notice(Option<(String, u16)>);

impl Notice {
    pub(crate) fn set(&mut self, text: impl Into<String>) {
        self.0 = Some((text.into(), FRAMES));
    }

    pub(crate) fn on_frame(&mut self) {
        self.0 = self.0.take().and_then(|(text, left)| Some((text, left.checked_sub(1)?)));
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_ref().map(|(text, _)| text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_fades() {
        let mut notice = Notice::default();
        notice.set("the cap can't be changed");
        for _ in 0..FRAMES {
            notice.on_frame();
        }
        assert!(notice.text().is_some());
        notice.on_frame();
        assert_eq!(notice.text(), None);
    }
}
