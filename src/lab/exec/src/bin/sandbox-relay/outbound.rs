//! Addresses that answer inside the sandbox, each carried to a unix socket that was let in.

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::net::{TcpListener, TcpStream, UnixStream};

pub(crate) async fn listen(address: SocketAddr, socket: PathBuf) -> Result<(), String> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("cannot listen on {address}: {error}"))?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(carry(stream, socket.clone()));
        }
    });
    Ok(())
}

async fn carry(mut inside: TcpStream, socket: PathBuf) {
    // When nobody listens outside, the connection closes, which a client reports as such.
    if let Ok(mut outside) = UnixStream::connect(&socket).await {
        let _ = inside.set_nodelay(true);
        let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
    }
}
