//! A real shell in a real pseudo-terminal; the test is the page.

use std::sync::Arc;

use exec::{Cmd, PtySize};
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::super::protocol::{Ended, FromPage, Hello, ToPage, Welcome};
use super::super::session::{Session, WINDOW};
use super::{Link, serve};

fn shell(script: &str) -> Arc<Session> {
    let cmd = Cmd::new("/bin/sh").args(["-c", script]);
    Session::start(cmd, PtySize { rows: 24, cols: 80 }, Timestamp::UNIX_EPOCH).unwrap()
}

struct Page {
    to: mpsc::Sender<FromPage>,
    from: mpsc::Receiver<ToPage>,
    welcome: Welcome,
    output: Vec<u8>,
    typed: u64,
    draws: bool,
}

impl Page {
    async fn open(session: &Arc<Session>, name: &str, before: Option<(&str, u64)>) -> Self {
        let (to, from_page) = mpsc::channel(16);
        let (to_page, mut from) = mpsc::channel(16);
        let hello = Hello {
            token: String::new(),
            page: name.to_owned(),
            shell: before.map(|(shell, _)| shell.to_owned()),
            received: before.map_or(0, |(_, at)| at),
            cols: 80,
            rows: 24,
        };
        tokio::spawn(serve(
            Arc::clone(session),
            hello,
            Link { from_page, to_page },
        ));
        let Some(ToPage::Welcome(welcome)) = from.recv().await else {
            panic!("no welcome")
        };
        Self {
            to,
            from,
            welcome,
            output: Vec::new(),
            typed: 0,
            draws: true,
        }
    }

    fn received(&self) -> u64 {
        self.welcome.from + u64::try_from(self.output.len()).unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    async fn send(&self, frame: FromPage) {
        self.to.send(frame).await.unwrap();
    }

    async fn key(&self, id: u64, text: &str) {
        self.send(FromPage::Input {
            id,
            bytes: text.as_bytes().to_vec(),
        })
        .await;
    }

    /// Takes frames until `done`; answers the end of the shell when that comes first.
    async fn until(&mut self, done: impl Fn(&Self) -> bool) -> Option<Ended> {
        while !done(self) {
            match self.from.recv().await.expect("the connection lasts") {
                ToPage::Output { at, bytes } => {
                    assert_eq!(at, self.received(), "output neither repeated nor left out");
                    self.output.extend(bytes);
                    if self.draws {
                        self.send(FromPage::Drawn(self.received())).await;
                    }
                }
                ToPage::Typed(id) => self.typed = id,
                ToPage::Ended(ended) => return Some(ended),
                other => panic!("unexpected {other:?}"),
            }
        }
        None
    }
}

#[tokio::test]
async fn keys_reach_the_shell_and_its_answer_the_page() {
    let session = shell("read line; echo \"got $line\"; exit 3");
    let mut page = Page::open(&session, "a", None).await;
    page.key(1, "hello\r").await;
    let ended = page.until(|_| false).await.unwrap();
    assert!(page.text().contains("got hello"), "{}", page.text());
    assert_eq!(
        ended,
        Ended {
            code: Some(3),
            reason: None
        }
    );
    assert_eq!(page.typed, 1);
}

#[tokio::test]
async fn the_shell_outlives_its_page_and_goes_on_where_that_stopped() {
    let session = shell("read a; echo one; read b; echo two; read c");
    let mut first = Page::open(&session, "a", None).await;
    first.key(1, "\r").await;
    first.until(|page| page.text().contains("one")).await;
    let (received, name) = (first.received(), first.welcome.shell.clone());
    drop(first);

    let mut second = Page::open(&session, "a", Some((&name, received))).await;
    assert_eq!((second.welcome.from, second.welcome.typed), (received, 1));
    // Sent again because its acknowledgement could have been lost: must not be typed twice.
    second.key(1, "\r").await;
    second.key(2, "\r").await;
    second.until(|page| page.text().contains("two")).await;
    assert!(!second.text().contains("one"));

    let mut reloaded = Page::open(&session, "b", None).await;
    assert_eq!(reloaded.welcome.from, 0);
    reloaded
        .until(|page| page.text().contains("one") && page.text().contains("two"))
        .await;
    session.end("test");
}

#[tokio::test]
async fn a_page_that_does_not_draw_holds_the_program_back() {
    let session = shell("yes");
    let mut page = Page::open(&session, "a", None).await;
    page.draws = false;
    page.until(|page| page.received() >= WINDOW).await;
    // The reader may have taken in one more piece than the window holds before it noticed.
    let margin = 64 * 1024;
    assert!(session.look(0, usize::MAX).bytes.len() < usize::try_from(WINDOW + margin).unwrap());
    page.draws = true;
    page.send(FromPage::Drawn(page.received())).await;
    page.until(|page| page.received() >= 3 * WINDOW).await;
    session.end("environment-reset");
    let ended = page.until(|_| false).await.unwrap();
    assert_eq!(ended.reason.as_deref(), Some("environment-reset"));
}

#[tokio::test]
async fn a_second_greeting_ends_the_connection() {
    let session = shell("read a");
    let mut page = Page::open(&session, "a", None).await;
    let hello = Hello {
        token: String::new(),
        page: "a".to_owned(),
        shell: None,
        received: 0,
        cols: 80,
        rows: 24,
    };
    page.send(FromPage::Hello(hello)).await;
    while page.from.recv().await.is_some() {}
    session.end("test");
}
