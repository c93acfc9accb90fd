//! Addresses written the Go way (`:8443`, `0.0.0.0:80`, `0` for "off"), as the reference's options take them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A bind address that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("address {text:?} cannot be read: write HOST:PORT, :PORT, or 0 to switch the endpoint off")]
pub struct AddressError {
    text: String,
}

/// Reads a bind address; `None` means that the endpoint is switched off (`0` or empty).
pub fn parse_bind(text: &str) -> Result<Option<SocketAddr>, AddressError> {
    let text = text.trim();
    if text.is_empty() || text == "0" {
        return Ok(None);
    }
    let wrong = || AddressError {
        text: text.to_owned(),
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port = port.parse().map_err(|_| wrong())?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let ip = match host {
        "" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => host.parse().map_err(|_| wrong())?,
    };
    Ok(Some(SocketAddr::new(ip, port)))
}
