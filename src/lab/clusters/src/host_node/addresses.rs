//! Virtual addresses of pods. They exist only in the routes of the egress proxy.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};

/// The host node's own address, which no simulated node has.
pub(super) const NODE: Ipv4Addr = Ipv4Addr::new(10, 246, 255, 1);

/// Hands out addresses of 10.244.0.0/16, the longest unused first.
#[derive(Debug, Default)]
pub(super) struct Addresses(Mutex<Pool>);

#[derive(Debug, Default)]
struct Pool {
    taken: BTreeSet<u16>,
    last: u16,
}

impl Addresses {
    /// An address that no pod has, if there is one: the one that the pod had before, or a new one.
    pub(super) fn take(&self, before: Option<IpAddr>) -> Option<IpAddr> {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((address, number)) =
            before.and_then(|address| Some((address, number_of(address)?)))
            && pool.taken.insert(number)
        {
            return Some(address);
        }
        let after = pool.last;
        let usable = |number: &u16| !matches!(number & 0xff, 0 | 255);
        let number = (after.saturating_add(1)..=u16::MAX)
            .chain(1..=after)
            .filter(usable)
            .find(|number| !pool.taken.contains(number))?;
        pool.taken.insert(number);
        pool.last = number;
        let [high, low] = number.to_be_bytes();
        Some(IpAddr::V4(Ipv4Addr::new(10, 244, high, low)))
    }

    /// Gives an address back.
    pub(super) fn release(&self, address: IpAddr) {
        if let Some(number) = number_of(address) {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .taken
                .remove(&number);
        }
    }
}

/// Which address of 10.244.0.0/16 it is.
fn number_of(address: IpAddr) -> Option<u16> {
    match address {
        IpAddr::V4(address) => match address.octets() {
            [10, 244, high, low] => Some(u16::from_be_bytes([high, low])),
            _ => None,
        },
        IpAddr::V6(_) => None,
    }
}
