//! Platform case 049: what a shell does while its page sleeps, and what the page gets when it is back.

use serde_json::json;

use super::site::Site;
use super::sockets::served;
use super::wire::{Came, Line, Page, Seen};

/// Counts in the background, for as long as somebody holds the terminal, and says which shell this is.
const COUNTER: &str = "stty -echo; i=0; while sleep 0.1; do i=$((i+1)); echo \"n$i\" || break; done & echo \"pid=$$.\"\r";
const TYPED: &str = "echo \"typed-$((40+2)) pid=$$.\"\r";

/// The counter's numbers, in the order in which they were printed.
fn numbers(seen: &Seen) -> Vec<u64> {
    let text = seen.text();
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter_map(|word| word.strip_prefix('n')?.parse().ok())
        .collect()
}

/// The shells that said who they are.
fn shells(seen: &Seen) -> Vec<u32> {
    let text = seen.text();
    text.split("pid=")
        .filter_map(|rest| rest.split_once('.')?.0.parse().ok())
        .collect()
}

fn counts_to(count: usize) -> impl Fn(&Page) -> bool {
    move |page| numbers(&page.seen).len() >= count
}

#[tokio::test]
async fn a_shell_goes_on_through_frozen_and_cut_lines() {
    let site = Site::new().await;
    let server = served(&site).await;
    let line = Line::to(&server).await;
    site.call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
    let mut asleep = Page::open(&site, &line.address, "a", Seen::default()).await;
    asleep.key(1, COUNTER).await;
    asleep
        .until(|page| counts_to(2)(page) && !shells(&page.seen).is_empty() && page.typed == 1)
        .await;

    // The lid closes; what is typed now stays in the frozen line. The page comes back over another one.
    line.freeze();
    asleep.key(2, TYPED).await;
    let mut awake = Page::open(&site, &server, "a", asleep.seen.clone()).await;
    assert_eq!(awake.welcome.typed, 1, "the frozen line held the keys");
    awake.key(2, TYPED).await;
    awake
        .until(|page| page.seen.count("typed-42") == 1 && page.typed == 2 && counts_to(6)(page))
        .await;

    // The old line thaws and brings the same keys: they were typed already.
    line.thaw();
    asleep
        .send(crate::web::terminal::protocol::FromPage::Ping(7))
        .await;
    asleep.until(|page| page.pong == 7 && page.typed == 2).await;
    awake.key(3, "echo \"end-$((1+1)).\"\r").await;
    awake.until(|page| page.seen.count("end-2.") == 1).await;
    assert_eq!(awake.seen.count("typed-42"), 1, "typed twice");

    let mut torn = Page::open(&site, &line.address, "a", awake.seen.clone()).await;
    drop(awake);
    let count = numbers(&torn.seen).len();
    torn.until(counts_to(count + 1)).await;
    line.cut();
    assert_eq!(torn.until(|_| false).await, Came::LineLost);
    let mut back = Page::open(&site, &server, "a", torn.seen.clone()).await;
    back.until(counts_to(count + 3)).await;

    let printed = numbers(&back.seen);
    let expected: Vec<u64> = (1..).take(printed.len()).collect();
    assert_eq!(
        printed, expected,
        "a number is missing, doubled or out of order"
    );
    let pid = site.app.terminals().get(1).unwrap().pid();
    assert_eq!(shells(&back.seen), [pid, pid], "another shell answered");

    // A second browser, or the same after its tab was closed, gets all of it.
    let mut other = Page::open(&site, &server, "b", Seen::default()).await;
    let have = back.seen.bytes.len();
    other.until(|page| page.seen.bytes.len() >= have).await;
    assert!(other.seen.bytes.starts_with(&back.seen.bytes));
    site.app.terminals().close_all("test");
}

#[tokio::test]
async fn every_page_is_told_why_its_shell_ended() {
    let site = Site::new().await;
    let server = served(&site).await;
    site.call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
    let mut first = Page::open(&site, &server, "a", Seen::default()).await;
    let mut second = Page::open(&site, &server, "b", Seen::default()).await;
    // As the platform does when it is told to stop.
    site.app.terminals().close_all("shutdown");
    for page in [&mut first, &mut second] {
        let Came::ShellEnded(ended) = page.until(|_| false).await else {
            panic!("the page was told nothing")
        };
        assert_eq!(ended.reason.as_deref(), Some("shutdown"));
    }
}
