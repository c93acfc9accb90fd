//! The network between the controller and the API server: a TCP proxy on the loopback address that can stand still or cut every connection.

use std::net::Ipv4Addr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Bytes pass.
    Open,
    /// They wait.
    Paused,
}

/// The proxy.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: watch::Sender<State>,
    /// Counts the cuts; each ends all connections of its time.
    cuts: watch::Sender<u64>,
}

impl Proxy {
    /// Listens, and leads to a port.
    pub(crate) async fn open(to: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let (state, states) = watch::channel(State::Open);
        let (cuts, cut) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((inward, _)) = listener.accept().await {
                tokio::spawn(connection(inward, to, states.clone(), cut.clone()));
            }
        });
        Ok(Self { port, state, cuts })
    }

    pub(crate) fn pause(&self) {
        self.state.send_replace(State::Paused);
    }

    pub(crate) fn proceed(&self) {
        self.state.send_replace(State::Open);
    }

    /// Ends all connections; new ones may be made at once.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

async fn connection(
    inward: TcpStream,
    to: u16,
    state: watch::Receiver<State>,
    mut cut: watch::Receiver<u64>,
) {
    cut.mark_unchanged();
    let Ok(outward) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await else {
        return;
    };
    let (from_client, to_client) = inward.into_split();
    let (from_server, to_server) = outward.into_split();
    tokio::select! {
        () = carry(from_client, to_server, state.clone()) => {}
        () = carry(from_server, to_client, state.clone()) => {}
        _ = cut.changed() => {}
    }
}

/// Carries bytes one way until either end is closed.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut state: watch::Receiver<State>,
) {
    let mut piece = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        if state.wait_for(|state| *state == State::Open).await.is_err() {
            return;
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
