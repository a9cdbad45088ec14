//! Reports of the built program in a real browser, headless Chromium. Their console stays empty, they send no network requests, legends and
//! plots react to the mouse, and labels do not overlap.
//!
//! Debian: `apt-get install chromium`. Without Chromium the tests print SKIPPED on stderr. `CHROMIUM=PATH` names another browser, which
//! must then exist.

mod browser;
mod page;
mod reports;
