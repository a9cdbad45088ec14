//! The built programs and a real browser, headless Chromium. The console of reports stays empty, they send no network requests, legends and
//! plots react to the mouse, and labels do not overlap. Pages of other origins can use a mockserver with `--cors`.
//!
//! Debian: `apt-get install chromium`. Without Chromium the tests print SKIPPED on stderr. `CHROMIUM=PATH` names another browser, which
//! must then exist.

mod browser;
mod cors;
mod page;
mod reports;
