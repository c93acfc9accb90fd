//! Platform case 052: programs that print without end, watched, unwatched, and beside others.

use serde_json::json;

use super::site::Site;
use super::sockets::served;
use super::wire::{Came, Page, Seen};
use crate::web::terminal::history::BYTES;
use crate::web::terminal::session::WINDOW;

async fn terminal(site: &Site) {
    site.call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
}

#[tokio::test]
async fn of_output_that_nobody_watched_the_last_lines_are_kept_and_no_more() {
    let site = Site::new().await;
    let server = served(&site).await;
    terminal(&site).await;
    let mut page = Page::open(&site, &server, "a", Seen::default()).await;
    page.draws = false;
    page.key(1, "stty -echo; seq 100001 300000; exit\r").await;
    page.until(|page| page.typed == 1).await;
    drop(page);
    let session = site.app.terminals().get(1).unwrap();
    let mut ended = session.ended();
    ended.wait_for(Option::is_some).await.unwrap();

    let mut page = Page::open(&site, &server, "b", Seen::default()).await;
    assert!(page.welcome.from > 0, "everything was kept");
    assert!(
        matches!(page.until(|_| false).await, Came::ShellEnded(_)),
        "the end was not told"
    );
    assert!(page.seen.bytes.len() <= BYTES, "{}", page.seen.bytes.len());
    let text = page.seen.text();
    let lines: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    let last = lines.iter().rev().take(1000).rev();
    assert!(
        last.copied().eq(299_001..=300_000),
        "the last lines are wrong"
    );
    assert!(
        lines.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "a line is missing"
    );
}

#[tokio::test]
async fn ctrl_c_ends_a_flood_that_its_page_does_not_draw_and_others_do_not_notice() {
    let site = Site::new().await;
    let server = served(&site).await;
    terminal(&site).await;
    terminal(&site).await;
    let mut noisy = Page::open(&site, &server, "a", Seen::default()).await;
    noisy.draws = false;
    noisy.key(1, "stty -echo; yes\r").await;
    noisy
        .until(|page| u64::try_from(page.seen.bytes.len()).unwrap() >= WINDOW)
        .await;

    let mut other = Page::greet(&site, &server, 2, "b", Seen::default())
        .await
        .unwrap();
    other.key(1, "echo \"other-$((40+2))\"\r").await;
    other.until(|page| page.seen.count("other-42") == 1).await;

    noisy.key(2, "\u{3}").await;
    noisy.until(|page| page.typed == 2).await;
    noisy.key(3, "echo \"done-$((40+2))\"\r").await;
    noisy.draws = true;
    noisy.drawn().await;
    noisy.until(|page| page.seen.count("done-42") == 1).await;
    site.app.terminals().close_all("test");
}
