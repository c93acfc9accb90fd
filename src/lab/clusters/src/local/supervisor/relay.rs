//! The unix socket that sandboxes reach the API server through. Bytes only: TLS ends in the API server.

use std::fs;
use std::io;
use std::path::Path;

use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Listens on `path` and carries every connection to the port the API server has at that moment.
pub(super) fn serve(
    path: &Path,
    port: watch::Receiver<Option<u16>>,
    cancel: CancellationToken,
) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let (short, _dir) = exec::short_path(path)?;
    let listener = UnixListener::bind(short)?;
    tokio::spawn(cancel.run_until_cancelled_owned(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(carry(stream, *port.borrow()));
        }
    }));
    Ok(())
}

async fn carry(mut from: UnixStream, port: Option<u16>) {
    let Some(port) = port else { return };
    // While the API server starts again nobody listens; the connection closes and the client tries again.
    if let Ok(mut to) = TcpStream::connect(("127.0.0.1", port)).await {
        let _ = to.set_nodelay(true);
        let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
    }
}
