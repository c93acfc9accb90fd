//! A web server that answers as it is told, also badly.

use std::collections::BTreeMap;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Debug, Clone)]
pub(super) enum Answer {
    Body(Vec<u8>),
    /// Promises all of it and hangs up after so many bytes.
    Truncated(Vec<u8>, usize),
    Redirect(String),
    Status(u16),
    /// Promises a body and sends none.
    Never,
}

#[derive(Debug)]
pub(super) struct Server {
    url: String,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(answers: Vec<(String, Answer)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: BTreeMap<_, _> = answers.into_iter().collect();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answers.clone()));
            }
        });
        Self { url, task }
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    pub(super) async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

async fn serve(mut stream: TcpStream, answers: BTreeMap<String, Answer>) {
    let (from, mut to) = stream.split();
    let mut lines = BufReader::new(from).lines();
    let Ok(Some(request)) = lines.next_line().await else {
        return;
    };
    while lines
        .next_line()
        .await
        .is_ok_and(|line| line.is_some_and(|line| !line.is_empty()))
    {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let answer = answers.get(path).cloned().unwrap_or(Answer::Status(404));
    let (head, body) = match answer {
        Answer::Body(body) => (ok(body.len()), body),
        Answer::Truncated(body, bytes) => (ok(body.len()), body[..bytes].to_vec()),
        Answer::Redirect(location) => (
            format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n"),
            vec![],
        ),
        Answer::Status(status) => (
            format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n"),
            vec![],
        ),
        Answer::Never => (ok(1000), vec![]),
    };
    let never = head.contains("content-length: 1000\r\n") && body.is_empty();
    let _ = to
        .write_all(format!("{head}connection: close\r\n\r\n").as_bytes())
        .await;
    let _ = to.write_all(&body).await;
    if never {
        std::future::pending::<()>().await;
    }
}

fn ok(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n")
}
