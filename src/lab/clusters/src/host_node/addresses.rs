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
    /// An address that no pod has, if there is one.
    pub(super) fn take(&self) -> Option<IpAddr> {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        if let IpAddr::V4(address) = address {
            let [_, _, high, low] = address.octets();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).taken.remove(&u16::from_be_bytes([high, low]));
        }
    }
}
