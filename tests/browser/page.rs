//! One page in the browser: reading, clicking and hovering, and its errors.

use std::path::Path;

use serde_json::{Value, json};

use crate::browser::Browser;

pub(crate) struct Page<'a> {
    browser: &'a mut Browser,
    session: String,
    url: String,
}

impl<'a> Page<'a> {
    pub(crate) fn open(browser: &'a mut Browser, file: &Path) -> Self {
        Self::at(browser, format!("file://{}", file.display()))
    }

    pub(crate) fn at(browser: &'a mut Browser, url: String) -> Self {
        let target = browser.ask(None, "Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.ask(None, "Target.attachToTarget", &attach);
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        browser.events();
        let mut page = Self { browser, session, url };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.ask(&format!("{domain}.enable"), &json!({}));
        }
        page.size(1200, 900);
        let url = page.url.clone();
        page.ask("Page.navigate", &json!({ "url": url }));
        page.browser.wait_for("Page.loadEventFired");
        page
    }

    /// Sets the size of the window, in pixels.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &metrics);
        self.settle();
    }

    /// Switches between print and screen media.
    pub(crate) fn printed(&mut self, printed: bool) {
        self.ask("Emulation.setEmulatedMedia", &json!({ "media": if printed { "print" } else { "" } }));
        self.settle();
    }

    pub(crate) fn dark(&mut self, dark: bool) {
        let feature = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        self.ask("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
        self.settle();
    }

    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.ask("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    pub(crate) fn click(&mut self, selector: &str) {
        let at = self.place(selector, 0.5);
        for kind in ["mousePressed", "mouseReleased"] {
            self.mouse(kind, at);
        }
        self.settle();
    }

    pub(crate) fn hover(&mut self, selector: &str, share: f64) {
        let at = self.place(selector, share);
        self.mouse("mouseMoved", at);
        self.settle();
    }

    /// Returns console errors and warnings, exceptions, violations of the content security policy, and requests for anything but the page.
    pub(crate) fn troubles(&mut self) -> Vec<String> {
        self.settle();
        let url = &self.url;
        let trouble = |event: &Value| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(format!("exception: {params}")),
                "Runtime.consoleAPICalled" => Some(format!("console: {params}")),
                "Log.entryAdded" => Some(format!("log: {}", params["entry"]["text"])),
                "Network.requestWillBeSent" if params["request"]["url"] != **url => {
                    Some(format!("request: {}", params["request"]["url"]))
                }
                _ => None,
            }
        };
        self.browser.events().iter().filter_map(trouble).collect()
    }

    /// Scrolls to an element, and returns its position in pixels of the window.
    fn place(&mut self, selector: &str, share: f64) -> [f64; 2] {
        let found = self.value(&format!(
            "(() => {{
                const found = document.querySelector({selector:?});
                if (!found) return null;
                found.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                const box = found.getBoundingClientRect();
                return [box.left + box.width * {share}, box.top + box.height / 2];
            }})()"
        ));
        let number =
            |index: usize| found[index].as_f64().unwrap_or_else(|| panic!("no `{selector}` is there"));
        [number(0), number(1)]
    }

    fn mouse(&mut self, kind: &str, [x, y]: [f64; 2]) {
        let pressed = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": pressed, "clickCount": 1 });
        self.ask("Input.dispatchMouseEvent", &event);
    }

    /// Waits until earlier changes are drawn.
    fn settle(&mut self) {
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.browser.ask(Some(&self.session), method, params)
    }
}
