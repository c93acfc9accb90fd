//! Pastes in a real browser (platform case 050): they arrive whole, and nothing in them runs by itself.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::json;
use testkit::{Platform, Programs};

use crate::{
    browser::Browser,
    commands::delete,
    environments::listed,
    lab_page::{SCREEN, Server, begin_the_lab, type_in, until_screen},
    machine,
    patience::until,
};

/// What chromium does when somebody presses Ctrl+V in the terminal in front.
const PASTE: &str = "const data = new DataTransfer();
data.setData('text/plain', arguments[0]);
const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
document.querySelector('.terminal-panel:not([hidden]) .xterm-helper-textarea').dispatchEvent(paste);";
const CONTROL_C: &str = "\u{e009}c\u{e000}";
const CONTROL_D: &str = "\u{e009}d\u{e000}";
const ENTER: &str = "\u{e007}";

#[tokio::test(flavor = "multi_thread")]
async fn pastes_arrive_whole_and_run_nothing() {
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

    is_one_edit(&browser, "un").await;
    cannot_end_itself(&browser).await;
    let block = "apiVersion: v1\n# un commentaire\u{a0}: « été »\n\tdata: {a: \"b\"}\ncat <<EOF\n";
    fills_a_file(&browser, &platform, "bloc", &block.repeat(10)).await;
    let mut big = String::new();
    for number in 0..16_384 {
        writeln!(big, "{number:08} {}", "x".repeat(54)).expect("a string takes everything");
    }
    assert_eq!(big.len(), 1 << 20);
    fills_a_file(&browser, &platform, "gros", &big).await;

    type_in(&browser, "clear").await;
    browser.client.refresh().await.expect("the page reloads");
    until_screen(&browser, "a prompt", "$").await;
    is_one_edit(&browser, "deux").await;
    terminals_end_with_their_environment(&browser, &platform).await;
    browser.client.close().await.expect("the browser ends");
}

/// Two lines stand at the prompt together until Enter is pressed.
async fn is_one_edit(browser: &Browser, word: &str) {
    let commands = format!("echo {word}-$((40+1))\necho {word}-$((40+2))");
    paste(browser, &commands).await;
    until_screen(browser, "the pasted lines", &format!("{word}-$((40+2))")).await;
    let shown = screen(browser).await;
    assert!(!shown.contains(&format!("{word}-41")), "it ran: {shown}");
    press(browser, ENTER).await;
    until_screen(browser, "what they print", &format!("{word}-42")).await;
    let shown = screen(browser).await;
    assert!(shown.contains(&format!("{word}-41")), "{shown}");
}

/// Text that pretends to be the end of the paste, and a command after it.
async fn cannot_end_itself(browser: &Browser) {
    paste(browser, "echo innocent\u{1b}[201~\ntouch pwned\n").await;
    until_screen(browser, "the pasted lines", "touch pwned").await;
    press(browser, CONTROL_C).await;
    type_in(browser, "ls pwned; echo looked-$((40+2))").await;
    until_screen(browser, "the end of the look", "looked-42").await;
    let shown = screen(browser).await;
    assert!(shown.contains("No such file"), "the paste ran: {shown}");
}

/// Every byte reaches a program that reads its input.
async fn fills_a_file(browser: &Browser, platform: &Platform, name: &str, text: &str) {
    // Said after bash has switched its own way of taking pastes off.
    type_in(browser, &format!("echo {name}-$((40+2)); cat > {name}")).await;
    until_screen(browser, "the program that reads", &format!("{name}-42")).await;
    paste(browser, text).await;
    let file = home(platform).join(name);
    until(&format!("{name} is there, whole"), async || {
        std::fs::read_to_string(&file).is_ok_and(|there| there == text)
    })
    .await;
    press(browser, CONTROL_D).await;
}

/// Case 067, as it is at hand here: the environment is deleted beside the server, which is told by nobody.
async fn terminals_end_with_their_environment(browser: &Browser, platform: &Platform) {
    let listed = listed(platform).await;
    let (id, _) = listed.split_once(' ').expect("there is one environment");
    delete(platform, id).await;
    let none_left = "const ask = new XMLHttpRequest();
ask.open('GET', '/terminals', false);
ask.send();
return ask.responseText === '[]';";
    browser.until("no terminal is left", none_left).await;
}

async fn paste(browser: &Browser, text: &str) {
    let done = browser.client.execute(PASTE, vec![json!(text)]).await;
    done.expect("the script runs");
}

async fn press(browser: &Browser, keys: &str) {
    let terminal = browser
        .find(".terminal-panel:not([hidden]) .xterm-helper-textarea")
        .await;
    terminal.send_keys(keys).await.expect("it takes keys");
}

async fn screen(browser: &Browser) -> String {
    let script = format!("return {SCREEN}");
    let shown = browser.client.execute(&script, vec![]).await;
    let shown = shown.expect("the script runs");
    shown.as_str().expect("a text").to_owned()
}

/// The trainee's files of the lab, seen from outside.
fn home(platform: &Platform) -> PathBuf {
    let homes = std::fs::read_dir(platform.data().join("homes")).expect("a shell was opened");
    let trainee = homes.flatten().next().expect("it has a home");
    trainee.path().join("d1-am/home")
}
