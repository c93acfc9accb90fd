//! A trainee at a browser: starts the lab, types, answers, sees the step turn green, reloads, and finds their shell again.

use std::path::Path;

use exec::{
    Child, Grouping, RotatingLog,
    process::{ProcessIdentity, Signal},
};
use fantoccini::Locator;
use testkit::{Platform, Programs};

use crate::{browser::Browser, machine, patience::until};

const STEP: &str = "/labs/d1-am/decouvrir";
/// What the terminal in front shows.
pub(crate) const SCREEN: &str = "[...document.querySelectorAll('.terminal-panel:not([hidden]) .xterm-rows > div')].map(row => row.innerText.trimEnd()).join('\\n')";

#[tokio::test(flavor = "multi_thread")]
async fn a_trainee_does_the_first_step() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _places = machine::places(machine::ALL).await;
    let platform = Platform::new(&programs);
    let server = Server::start(&platform, "127.0.0.1:0").await;
    let Some(browser) = Browser::start(platform.dir()).await else {
        return;
    };

    begin_the_lab(&browser, &server.url).await;
    answer(&browser, "noeuds-gpu", "2").await;
    passed(&browser, "compter-noeuds").await;
    answer(&browser, "gpu-total", "8").await;
    choose(&browser, "prediction-contention", "incomplet").await;
    passed(&browser, "predire-contention").await;

    // Its number would not do: in its own namespace every shell has the same one.
    type_in(&browser, "mark=$RANDOM-$RANDOM; echo shell=$mark").await;
    let shell = shell_mark(&browser).await;
    run_in_the_lesson(&browser, "kubectl apply -f 1-decouvrir").await;
    passed(&browser, "voir-contention").await;
    answer(&browser, "pods-en-attente", "2").await;
    run_in_the_lesson(&browser, "kubectl delete -f 1-decouvrir").await;
    passed(&browser, "rendre-gpus").await;
    browser
        .until(
            "the whole step is done",
            "return document.querySelectorAll('.criterion:not(.is-passed)').length === 0 && document.querySelector('.steps a[aria-current=step]').innerText.includes('✓')",
        )
        .await;
    picture(&browser, "lab").await;

    browser.client.refresh().await.expect("the page reloads");
    same_shell(&browser, &shell).await;
    passed(&browser, "rendre-gpus").await;

    // Killed, not stopped: nothing may depend on an orderly end.
    let address = server.url.trim_start_matches("http://").to_owned();
    server.kill().await;
    let server = Server::start(&platform, &address).await;
    browser
        .client
        .goto(&format!("{}{STEP}", server.url))
        .await
        .expect("the page opens");
    for criterion in ["compter-noeuds", "voir-contention", "rendre-gpus"] {
        passed(&browser, criterion).await;
    }
    browser.client.close().await.expect("the browser ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_port_is_said() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let platform = Platform::new(&programs);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it has an address").to_string();
    let output = platform
        .atelier(["serve", "--listen", &address])
        .output()
        .await
        .expect("it runs");
    assert_ne!(output.code, Some(0));
    assert!(
        output.stderr.contains(&address),
        "the port is not named: {}",
        output.stderr
    );
    assert!(
        output.stderr.contains("--listen"),
        "no way out is said: {}",
        output.stderr
    );
}

/// `atelier serve`; dropping it kills it.
pub(crate) struct Server {
    pub(crate) url: String,
    child: Child,
}

impl Server {
    pub(crate) async fn start(platform: &Platform, listen: &str) -> Self {
        let file = platform.dir().join("address");
        std::fs::remove_file(&file).ok();
        let child = platform
            .atelier(["serve", "--listen", listen, "--address-file"])
            .arg(&file)
            .spawn(
                Grouping::Own,
                Some(RotatingLog::new(platform.dir().join("serve.log"))),
            )
            .expect("the server starts");
        let log = platform.dir().join("serve.log");
        let said = || std::fs::read_to_string(&file).unwrap_or_default();
        let ended = || !ProcessIdentity::of(child.pid()).is_some_and(|server| server.is_alive());
        until("the server says its address, or ends", async || {
            said().ends_with('\n') || ended()
        })
        .await;
        assert!(
            said().ends_with('\n'),
            "the server ended: {}",
            std::fs::read_to_string(log).unwrap_or_default()
        );
        Self {
            url: said().trim().to_owned(),
            child,
        }
    }

    /// Kills it and waits until the port is free again.
    async fn kill(mut self) {
        self.child.signal(Signal::KILL).await;
        self.child.wait().await.expect("it was started here");
    }
}

/// From the home page to a terminal that shows a prompt.
pub(crate) async fn begin_the_lab(browser: &Browser, url: &str) {
    browser.client.goto(url).await.expect("the home page opens");
    browser.find("a[href$='/labs/d1-am']").await;
    picture(browser, "home").await;
    browser
        .client
        .goto(&format!("{url}{STEP}"))
        .await
        .expect("the step opens");
    click(browser, "[data-region=offer] form button").await;
    // The page offers to open the terminal, or has it already when the environment was quick.
    browser
        .until(
            "a terminal",
            "if (document.querySelector('.xterm-rows')) return true; document.querySelector('[data-region=offer] a.button.primary')?.click(); return false;",
        )
        .await;
    until_screen(browser, "a prompt", "$").await;
}

async fn click(browser: &Browser, css: &str) {
    browser
        .find(css)
        .await
        .click()
        .await
        .unwrap_or_else(|error| panic!("click on {css}: {error}"));
}

async fn answer(browser: &Browser, question: &str, value: &str) {
    let form = format!("form[data-question={question}]");
    let field = browser.find(&format!("{form} input[name=value]")).await;
    field.send_keys(value).await.expect("it can be written in");
    click(browser, &format!("{form} button[type=submit]")).await;
}

async fn choose(browser: &Browser, question: &str, choice: &str) {
    let form = format!("form[data-question={question}]");
    click(browser, &format!("{form} input[value={choice}]")).await;
    click(browser, &format!("{form} button[type=submit]")).await;
}

/// Types as a person would, key by key, and presses Enter.
pub(crate) async fn type_in(browser: &Browser, text: &str) {
    let keys = browser
        .find(".terminal-panel:not([hidden]) .xterm-helper-textarea")
        .await;
    keys.send_keys(&format!("{text}\u{e007}"))
        .await
        .expect("the terminal takes keys");
}

/// Presses "run" beside a command of the lesson.
async fn run_in_the_lesson(browser: &Browser, begins: &str) {
    let xpath = format!(
        "//div[contains(@class,'command')][.//code[starts-with(normalize-space(.),'{begins}')]]//button[@data-run]"
    );
    let button = browser
        .client
        .find(Locator::XPath(&xpath))
        .await
        .expect("the lesson has this command");
    button.click().await.expect("it can be pressed");
}

async fn passed(browser: &Browser, criterion: &str) {
    browser
        .until(
            &format!("{criterion} is green"),
            &format!("return document.querySelector('.criterion[data-key=\"{criterion}\"]').classList.contains('is-passed')"),
        )
        .await;
}

pub(crate) async fn until_screen(browser: &Browser, what: &str, text: &str) {
    browser
        .until(
            &format!("{what} in the terminal"),
            &format!("return ({SCREEN}).includes({text:?})"),
        )
        .await;
}

/// What only this shell knows, as it printed it.
async fn shell_mark(browser: &Browser) -> String {
    let pattern = r"/shell=(\d+-\d+)/";
    browser
        .until(
            "the shell says its mark",
            &format!("return {pattern}.test({SCREEN})"),
        )
        .await;
    let script = format!("return ({SCREEN}).match({pattern})[1]");
    let mark = browser
        .client
        .execute(&script, vec![])
        .await
        .expect("it is there");
    mark.as_str().expect("a text").to_owned()
}

/// After a reload: what was printed is there again, and the very same shell answers.
async fn same_shell(browser: &Browser, shell: &str) {
    until_screen(browser, "what was printed before", "deleted").await;
    type_in(browser, "clear; echo again=$mark").await;
    until_screen(browser, "the same shell", &format!("again={shell}")).await;
}

/// A screenshot, where somebody asked for them.
async fn picture(browser: &Browser, name: &str) {
    let Some(folder) = std::env::var_os("ATELIER_SCREENSHOTS") else {
        return;
    };
    let image = browser
        .client
        .screenshot()
        .await
        .expect("a picture can be taken");
    std::fs::write(Path::new(&folder).join(format!("{name}.png")), image).expect("it can be kept");
}
