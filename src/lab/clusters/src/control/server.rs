//! The supervisor's side of the control socket.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures::StreamExt;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use super::{Answer, History, Request, Status};

const LONGEST_REQUEST: u64 = 4096;

/// What requests are answered from.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    pub(crate) history: History,
    pub(crate) port: tokio::sync::watch::Receiver<Option<u16>>,
    /// Cancelled when somebody asks for the end.
    pub(crate) stop: CancellationToken,
}

/// Listens on `path`, and answers until the runtime ends.
pub(crate) fn serve(path: &Path, requests: Requests) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let (short, _dir) = exec::short_path(path)?;
    let listener = UnixListener::bind(short)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, requests.clone()));
        }
    });
    Ok(())
}

async fn answer(stream: UnixStream, requests: Requests) {
    let (from, mut to) = stream.into_split();
    let mut line = String::new();
    let read = BufReader::new(from.take(LONGEST_REQUEST))
        .read_line(&mut line)
        .await;
    let request = read.map_err(|error| error.to_string()).and_then(|_| {
        serde_json::from_str::<Request>(&line)
            .map_err(|error| format!("the request is not understood: {error}"))
    });
    // A client that hangs up early has its answer.
    let _ = match request {
        Ok(Request::Status) => {
            let port = *requests.port.borrow();
            send(
                &mut to,
                &Answer::Status(Status {
                    pid: std::process::id(),
                    state: requests.history.state(),
                    port,
                }),
            )
            .await
        }
        Ok(Request::Stop) => {
            requests.stop.cancel();
            send(&mut to, &Answer::Stopping).await
        }
        Ok(Request::Subscribe) => {
            let mut events = requests.history.subscribe();
            let mut sent = Ok(());
            while let (Ok(()), Some(event)) = (&sent, events.next().await) {
                sent = send(&mut to, &Answer::Progress(event)).await;
            }
            sent
        }
        Err(reason) => send(&mut to, &Answer::Refused { reason }).await,
    };
}

async fn send(to: &mut (impl AsyncWriteExt + Unpin), answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer).map_err(io::Error::other)?;
    line.push(b'\n');
    to.write_all(&line).await
}
