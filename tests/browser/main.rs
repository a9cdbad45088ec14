//! Reports of the built program in a real browser, Chromium without a window: nothing is told on its console, nothing is
//! asked of any network, legends and pictures answer the mouse, and labels keep out of each other's way.
//!
//! Debian: `apt-get install chromium`. Where there is none the tests say SKIPPED on stderr. `CHROMIUM=PATH` names another
//! one, which must then be there.

mod browser;
mod page;
mod reports;
