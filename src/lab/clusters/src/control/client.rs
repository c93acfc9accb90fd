//! The platform's side of the control socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;

use super::{Answer, Request};
use crate::provider::Progress;

/// A supervisor answers at once, or it is stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks for something that is answered with one line.
pub(crate) async fn request(socket: &Path, request: Request) -> io::Result<Answer> {
    let asked = async {
        let mut lines = ask(socket, request).await?;
        let line = lines
            .next_line()
            .await?
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        serde_json::from_str(&line).map_err(io::Error::other)
    };
    tokio::time::timeout(PATIENCE, asked).await?
}

/// All progress since the supervisor's start; the stream ends with the supervisor.
pub(crate) async fn subscribe(socket: &Path) -> io::Result<BoxStream<'static, Progress>> {
    let lines = ask(socket, Request::Subscribe).await?;
    let events = stream::unfold(lines, |mut lines| async {
        loop {
            let line = lines.next_line().await.ok().flatten()?;
            if let Ok(Answer::Progress(event)) = serde_json::from_str(&line) {
                return Some((event, lines));
            }
        }
    });
    Ok(events.boxed())
}

async fn ask(socket: &Path, request: Request) -> io::Result<Lines<BufReader<UnixStream>>> {
    let (short, _dir) = exec::short_path(socket)?;
    let mut stream = UnixStream::connect(short).await?;
    let mut line = serde_json::to_vec(&request).map_err(io::Error::other)?;
    line.push(b'\n');
    stream.write_all(&line).await?;
    Ok(BufReader::new(stream).lines())
}
