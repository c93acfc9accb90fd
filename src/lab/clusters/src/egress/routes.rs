//! Which destinations exist at this moment. The host node writes, the proxy reads.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::request::Target;
use crate::kwok::KUBELET_PORT;

/// Addresses of nodes, simulated and real.
const NODES: Ipv4Addr = Ipv4Addr::new(10, 246, 0, 0);

/// Where a connection goes.
#[derive(Debug, Clone)]
pub enum Destination {
    /// To a port of the pod whose in-sandbox relay listens on this socket.
    Pod(PathBuf),
    /// To the kubelet endpoint, which takes over the connection itself.
    Kubelet(mpsc::Sender<UnixStream>),
}

/// The destinations of one environment; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Routes(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    pods: BTreeMap<IpAddr, PathBuf>,
    kubelet: Option<mpsc::Sender<UnixStream>>,
}

impl Routes {
    /// Connections to any node's kubelet port from now on arrive at the answered receiver.
    #[must_use]
    pub fn serve_kubelet(&self) -> mpsc::Receiver<UnixStream> {
        let (sender, receiver) = mpsc::channel(16);
        self.with(|table| table.kubelet = Some(sender));
        receiver
    }

    /// The pod at `address` can be reached through `relay`.
    pub fn add_pod(&self, address: IpAddr, relay: &Path) {
        self.with(|table| table.pods.insert(address, relay.to_path_buf()));
    }

    /// The pod at `address` is gone.
    pub fn remove_pod(&self, address: IpAddr) {
        self.with(|table| table.pods.remove(&address));
    }

    pub(super) fn destination(&self, target: &Target) -> Option<Destination> {
        let address = target.address()?;
        self.with(|table| {
            if let Some(relay) = table.pods.get(&address) {
                return Some(Destination::Pod(relay.clone()));
            }
            let kubelet = table
                .kubelet
                .clone()
                .filter(|_| target.port == KUBELET_PORT && is_node(address))?;
            Some(Destination::Kubelet(kubelet))
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Table) -> T) -> T {
        // The table is whole after every act, so a panic elsewhere cannot have left it half-changed.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn is_node(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address
            .octets()
            .iter()
            .take(2)
            .eq(NODES.octets().iter().take(2)),
        IpAddr::V6(_) => false,
    }
}
