//! The request of an HTTP CONNECT client: read byte by byte up to the empty line, because what follows belongs to the
//! connection behind.

use std::fmt;
use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt as _};

const LONGEST: usize = 8 * 1024;

/// Where a client wants to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Target {
    /// The host as an address; names are never resolved here.
    pub(super) fn address(&self) -> Option<IpAddr> {
        self.host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse()
            .ok()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Why a request could not be understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("read the request: {0}")]
    Read(#[from] std::io::Error),
    #[error("the request is longer than {LONGEST} bytes")]
    TooLong,
    #[error("expected `CONNECT host:port HTTP/1.1`")]
    Malformed,
}

pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Target, RequestError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= LONGEST {
            return Err(RequestError::TooLong);
        }
        head.push(stream.read_u8().await?);
    }
    parse(&head).ok_or(RequestError::Malformed)
}

fn parse(head: &[u8]) -> Option<Target> {
    let line = std::str::from_utf8(head).ok()?.lines().next()?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if method != "CONNECT" || !version.starts_with("HTTP/1.") || words.next().is_some() {
        return None;
    }
    let (host, port) = target.rsplit_once(':')?;
    Some(Target {
        host: host.to_owned(),
        port: port.parse().ok()?,
    })
}
