//! A port on the loopback address that leads into a pod of the host node. Its own address is seen by nobody outside of the environment.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// It leads there until it is dropped.
pub(super) struct Bridge {
    pub(super) port: u16,
    task: JoinHandle<()>,
}

impl Bridge {
    /// To a port of the pod whose relay listens on `socket`.
    pub(super) async fn open(socket: PathBuf, port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let own = listener.local_addr().expect("an address").port();
        let task = tokio::spawn(async move {
            while let Ok((inward, _)) = listener.accept().await {
                tokio::spawn(carry(inward, socket.clone(), port));
            }
        });
        Self { port: own, task }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(mut inward: TcpStream, socket: PathBuf, port: u16) {
    if let Ok(mut outward) = exec::relay::connect(&socket, port).await {
        let _ = copy_bidirectional(&mut inward, &mut outward).await;
    }
}
