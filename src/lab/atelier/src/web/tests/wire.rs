//! A page at the other end of a real WebSocket, and a line between it and the server that can freeze and be cut.

use futures::{SinkExt as _, StreamExt as _};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::site::Site;
use super::sockets::{Socket, connect};
use crate::web::guard::SESSION_COOKIE;
use crate::web::terminal::protocol::{Ended, FromPage, Hello, Refused, Welcome};

/// What a page has of a shell; it outlives the page's connections.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    shell: Option<String>,
    /// Position of the first byte.
    pub from: u64,
    pub bytes: Vec<u8>,
}

impl Seen {
    fn end(&self) -> u64 {
        self.from + u64::try_from(self.bytes.len()).unwrap()
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(super) fn count(&self, word: &str) -> usize {
        self.text().matches(word).count()
    }
}

/// One connection of a page.
pub(super) struct Page {
    socket: Socket,
    pub welcome: Welcome,
    pub seen: Seen,
    /// The last input that the server says it typed.
    pub typed: u64,
    pub pong: u64,
    pub server_pings: usize,
    /// Whether it tells the server that it has drawn what came.
    pub draws: bool,
}

/// How a wait for something ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    Asked,
    ShellEnded(Ended),
    LineLost,
}

impl Page {
    /// Greets terminal 1 at an address as page `name`, which has `seen` what came over earlier connections.
    pub(super) async fn open(site: &Site, address: &str, name: &str, seen: Seen) -> Self {
        Self::greet(site, address, 1, name, seen)
            .await
            .expect("the terminal is there")
    }

    /// The same with any terminal; the reason when it is refused.
    pub(super) async fn greet(
        site: &Site,
        address: &str,
        terminal: u32,
        name: &str,
        seen: Seen,
    ) -> Result<Self, String> {
        let cookie = format!("{SESSION_COOKIE}={}", site.secret.session());
        let origin = format!("http://{address}");
        let mut socket = connect(address, &origin, Some(&cookie), terminal)
            .await
            .unwrap();
        let hello = Hello {
            token: site.secret.token(),
            page: name.to_owned(),
            shell: seen.shell.clone(),
            received: seen.end(),
            cols: 80,
            rows: 24,
        };
        socket
            .send(Message::Binary(FromPage::Hello(hello).encode().into()))
            .await
            .unwrap();
        let welcome = loop {
            let Message::Binary(frame) = socket.next().await.unwrap().unwrap() else {
                continue;
            };
            match frame[0] {
                17 => break serde_json::from_slice::<Welcome>(&frame[1..]).unwrap(),
                25 => {
                    return Err(serde_json::from_slice::<Refused>(&frame[1..])
                        .unwrap()
                        .reason);
                }
                other => panic!("frame {other} before the welcome"),
            }
        };
        let mut seen = seen;
        if seen.shell.is_none() {
            seen.from = welcome.from;
        }
        seen.shell = Some(welcome.shell.clone());
        Ok(Self {
            socket,
            typed: welcome.typed,
            welcome,
            seen,
            pong: 0,
            server_pings: 0,
            draws: true,
        })
    }

    pub(super) async fn send(&mut self, frame: FromPage) {
        self.socket
            .send(Message::Binary(frame.encode().into()))
            .await
            .unwrap();
    }

    pub(super) async fn key(&mut self, id: u64, text: &str) {
        let bytes = text.as_bytes().to_vec();
        self.send(FromPage::Input { id, bytes }).await;
    }

    /// Tells that everything so far was drawn, as a page does that was busy for a while.
    pub(super) async fn drawn(&mut self) {
        self.send(FromPage::Drawn(self.seen.end())).await;
    }

    /// Takes frames until `done`.
    pub(super) async fn until(&mut self, done: impl Fn(&Self) -> bool) -> Came {
        while !done(self) {
            match self.socket.next().await {
                Some(Ok(Message::Binary(frame))) => {
                    if let Some(ended) = self.take(&frame).await {
                        return Came::ShellEnded(ended);
                    }
                }
                Some(Ok(Message::Ping(_))) => self.server_pings += 1,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Came::LineLost,
                Some(Ok(_)) => {}
            }
        }
        Came::Asked
    }

    async fn take(&mut self, frame: &[u8]) -> Option<Ended> {
        let (kind, body) = frame.split_first().unwrap();
        match kind {
            18 => {
                let at = number(body);
                assert_eq!(at, self.seen.end(), "output neither repeated nor left out");
                self.seen.bytes.extend(&body[8..]);
                if self.draws {
                    // The line may have been lost meanwhile; the next frame tells.
                    let drawn = FromPage::Drawn(self.seen.end()).encode();
                    let _lost = self.socket.send(Message::Binary(drawn.into())).await;
                }
            }
            19 => self.typed = number(body),
            21 => self.pong = number(body),
            23 => {}
            24 => return Some(serde_json::from_slice(body).unwrap()),
            other => panic!("unexpected frame {other}"),
        }
        None
    }
}

fn number(body: &[u8]) -> u64 {
    u64::from_be_bytes(body[..8].try_into().unwrap())
}

/// A TCP proxy, standing for everything between a laptop and the server.
pub(super) struct Line {
    pub address: String,
    flows: watch::Sender<bool>,
    cut: Arc<Mutex<CancellationToken>>,
}

impl Line {
    pub(super) async fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let flows = watch::Sender::new(true);
        let cut: Arc<Mutex<CancellationToken>> = Arc::default();
        tokio::spawn({
            let (server, flows, cut) = (server.to_owned(), flows.subscribe(), Arc::clone(&cut));
            async move {
                while let Ok((near, _)) = listener.accept().await {
                    let far = TcpStream::connect(&server).await.unwrap();
                    let token = cut.lock().clone();
                    tokio::spawn(carry(near, far, flows.clone(), token));
                }
            }
        });
        Self {
            address,
            flows,
            cut,
        }
    }

    /// Nothing passes, and neither side is told: a lid that was closed.
    pub(super) fn freeze(&self) {
        self.flows.send_replace(false);
    }

    pub(super) fn thaw(&self) {
        self.flows.send_replace(true);
    }

    /// Resets what is connected now.
    pub(super) fn cut(&self) {
        std::mem::take(&mut *self.cut.lock()).cancel();
    }
}

async fn carry(
    mut near: TcpStream,
    mut far: TcpStream,
    flows: watch::Receiver<bool>,
    cut: CancellationToken,
) {
    let (from_near, to_near) = near.split();
    let (from_far, to_far) = far.split();
    let both = async {
        tokio::select! {
            () = pump(from_near, to_far, flows.clone()) => {}
            () = pump(from_far, to_near, flows.clone()) => {}
        }
    };
    if cut.run_until_cancelled(both).await.is_none() {
        near.set_zero_linger().unwrap();
        far.set_zero_linger().unwrap();
    }
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut flows: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if flows.wait_for(|flows| *flows).await.is_err()
            || to.write_all(&buffer[..count]).await.is_err()
        {
            return;
        }
    }
}
