use std::net::IpAddr;
use std::path::Path;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use super::{Routes, serve};

/// A proxy in a folder of its own, and what one request to it is answered.
struct Proxy {
    dir: tempfile::TempDir,
    routes: Routes,
    cancel: CancellationToken,
}

impl Proxy {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (routes, cancel) = (Routes::default(), CancellationToken::new());
        let listener = UnixListener::bind(dir.path().join("egress.sock")).unwrap();
        tokio::spawn(serve(listener, routes.clone(), cancel.clone()));
        Self {
            dir,
            routes,
            cancel,
        }
    }

    async fn send(&self, request: &str) -> UnixStream {
        let mut stream = UnixStream::connect(self.dir.path().join("egress.sock"))
            .await
            .unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    async fn answer(&self, request: &str) -> String {
        let mut answer = String::new();
        self.send(request)
            .await
            .read_to_string(&mut answer)
            .await
            .unwrap();
        answer
    }

    fn pod_address() -> IpAddr {
        "10.244.0.7".parse().unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// A relay that answers one request like the one in a pod's sandbox, then sends back what it gets.
fn relay(path: &Path) {
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        stream.write_all(b"OK\n").await.unwrap();
        stream.write_all(line.as_bytes()).await.unwrap();
        let (mut from, mut to) = tokio::io::split(stream);
        let _ = tokio::io::copy(&mut from, &mut to).await;
    });
}

async fn read_head(stream: &mut UnixStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn only_known_destinations_are_reached() {
    let proxy = Proxy::start();
    let _kubelet = proxy.routes.serve_kubelet();
    let refused = [
        "127.0.0.1:8080",
        "127.0.0.1:10250",
        "localhost:22",
        "169.254.169.254:80",
        "10.244.0.8:443",
        "10.246.0.1:22",
        "10.245.0.4:8080",
        "192.168.1.1:10250",
        "[::1]:443",
        "example.org:443",
    ];
    for target in refused {
        let answer = proxy
            .answer(&format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n"))
            .await;
        assert!(
            answer.starts_with("HTTP/1.1 403 Forbidden\r\n"),
            "{target}: {answer}"
        );
        assert!(
            answer.contains("nothing else can be reached"),
            "{target}: {answer}"
        );
    }
}

#[tokio::test]
async fn anything_but_connect_is_refused() {
    let proxy = Proxy::start();
    for request in [
        "GET / HTTP/1.1\r\n\r\n",
        "CONNECT 10.244.0.7 HTTP/1.1\r\n\r\n",
        "CONNECT a:b c d\r\n\r\n",
        "\r\n\r\n",
    ] {
        let answer = proxy.answer(request).await;
        assert!(
            answer.starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{request:?}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_pods_port_is_reached_through_its_relay() {
    let proxy = Proxy::start();
    let socket = proxy.dir.path().join("pod.sock");
    relay(&socket);
    proxy.routes.add_pod(Proxy::pod_address(), &socket);
    let mut stream = proxy
        .send("CONNECT 10.244.0.7:9443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        .await;
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
    stream.write_all(b"hello\n").await.unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert_eq!(
        lines.next_line().await.unwrap().as_deref(),
        Some("CONNECT 9443")
    );
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("hello"));
}

#[tokio::test]
async fn a_pod_that_is_gone_is_refused() {
    let proxy = Proxy::start();
    let socket = proxy.dir.path().join("pod.sock");
    proxy.routes.add_pod(Proxy::pod_address(), &socket);
    let asked = "CONNECT 10.244.0.7:9443 HTTP/1.1\r\n\r\n";
    assert!(proxy.answer(asked).await.starts_with("HTTP/1.1 502 "));
    proxy.routes.remove_pod(Proxy::pod_address());
    assert!(proxy.answer(asked).await.starts_with("HTTP/1.1 403 "));
}

#[tokio::test]
async fn every_nodes_kubelet_port_leads_to_the_endpoint() {
    let proxy = Proxy::start();
    let mut endpoint = proxy.routes.serve_kubelet();
    for address in ["10.246.0.1", "10.246.0.77"] {
        let mut stream = proxy
            .send(&format!("CONNECT {address}:10250 HTTP/1.1\r\n\r\n"))
            .await;
        assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
        let mut taken = endpoint.recv().await.unwrap();
        taken.write_all(b"kubelet").await.unwrap();
        drop(taken);
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "kubelet");
    }
}
