//! Ports that are free on the loopback address.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::Context as _;

/// One that nobody listens on at present.
pub(crate) fn free() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}
