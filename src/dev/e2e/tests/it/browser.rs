//! Debian's chromium, headless, driven through chromium-driver; it lives in a test's own folder and ends with it.

use std::{path::Path, time::Duration};

use exec::{Child, Cmd, Grouping, RotatingLog};
use fantoccini::{Client, ClientBuilder, Locator, elements::Element, error::CmdError};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use testkit::{lacking, program};

/// How long a test waits for something to appear before it gives up and shows the page.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running browser. Dropping it kills the driver; the browser itself is named after the folder and swept with it.
pub(crate) struct Browser {
    pub(crate) client: Client,
    _driver: Child,
}

impl Browser {
    /// Starts one, or says why it was skipped.
    pub(crate) async fn start(dir: &Path) -> Option<Self> {
        for name in ["chromium", "chromedriver"] {
            if program(name).is_none() {
                lacking(&format!("no `{name}`; Debian has it in chromium-driver"));
                return None;
            }
        }
        let log = dir.join("chromedriver.log");
        let driver = Cmd::new(program("chromedriver")?)
            .args(["--port=0", "--enable-chrome-logs"])
            .cwd(dir)
            .spawn(Grouping::Own, Some(RotatingLog::new(&log)))
            .expect("chromedriver starts");
        let port = port(&log).await;
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities(dir))
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("chromium starts");
        Some(Self {
            client,
            _driver: driver,
        })
    }

    /// The first element of that CSS selector, once it is there.
    pub(crate) async fn find(&self, css: &str) -> Element {
        let wait = self.client.wait().at_most(PATIENCE);
        match wait.for_element(Locator::Css(css)).await {
            Ok(element) => element,
            Err(error) => panic!("no `{css}`: {error}\n{}", self.text().await),
        }
    }

    /// Returns once the script's value is true.
    pub(crate) async fn until(&self, what: &str, script: &str) {
        let holds = async |client: &Client| -> Result<bool, CmdError> {
            Ok(client.execute(script, vec![]).await? == Value::Bool(true))
        };
        let patience = tokio::time::timeout(PATIENCE, async {
            while !holds(&self.client).await.unwrap_or(false) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        if patience.await.is_err() {
            panic!("never: {what}\n{}", self.text().await);
        }
    }

    /// What the page says, for a failure's message.
    pub(crate) async fn text(&self) -> String {
        let script = "return location.href + '\\n' + document.body.innerText";
        let text = self.client.execute(script, vec![]).await;
        text.map_or_else(|error| error.to_string(), |text| text.to_string())
    }
}

fn capabilities(dir: &Path) -> serde_json::Map<String, Value> {
    let profile = format!("--user-data-dir={}", dir.join("chromium").display());
    let arguments = [
        "--headless=new",
        // Chromium refuses its own sandbox to root, which is what CI is; only pages of this test are opened.
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-first-run",
        "--window-size=1440,900",
        &profile,
    ];
    let options = json!({ "args": arguments, "prefs": { "intl.accept_languages": "fr" } });
    serde_json::Map::from_iter([("goog:chromeOptions".to_owned(), options)])
}

/// The port that the kernel gave to the driver, from its log.
async fn port(log: &Path) -> u16 {
    let read = async {
        loop {
            let text = std::fs::read_to_string(log).unwrap_or_default();
            let said = text.split("started successfully on port ").nth(1);
            if let Some(port) = said.and_then(|rest| rest.split('.').next()?.trim().parse().ok()) {
                return port;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, read)
        .await
        .expect("chromedriver says on which port it listens")
}
