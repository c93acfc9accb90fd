//! Names of the Workloads that belong to jobs. The rule is part of the interface: a cluster that changes controllers
//! must find the Workloads it has.

use kueue_api::features::{Features, gate};
use sha1::{Digest, Sha1};

use crate::kind::JobKind;

/// Longest name of an object.
pub const MAX_NAME: usize = 253;
/// Longest name with the gate `ShortWorkloadNames`.
pub const MAX_SHORT_NAME: usize = 63;
const HASH: usize = 5;

/// The longest name that the gates allow.
#[must_use]
pub fn longest(features: &Features) -> usize {
    if features.on(gate::SHORT_WORKLOAD_NAMES) {
        MAX_SHORT_NAME
    } else {
        MAX_NAME
    }
}

/// The name of the Workload of a job: lower-cased kind, name, and a hash that tells apart what the truncation joins
/// and a job from its namesake created later.
#[must_use]
pub fn workload_name(kind: &JobKind, name: &str, uid: &str, longest: usize) -> String {
    hashed(kind, name, &[uid], longest)
}

/// The name of one slice of a job that grows: `extra` tells it apart from the others.
#[must_use]
pub fn slice_name(kind: &JobKind, name: &str, uid: &str, extra: &str, longest: usize) -> String {
    hashed(kind, name, &[uid, extra], longest)
}

/// What tells apart names of which only the beginning is kept.
#[must_use]
pub fn hash(full: &str) -> String {
    let mut digest = hex::encode(Sha1::digest(full));
    digest.truncate(HASH);
    digest
}

fn hashed(kind: &JobKind, name: &str, rest: &[&str], longest: usize) -> String {
    let own = [kind.kind, kind.group, name];
    let parts: Vec<&str> = own.iter().chain(rest).copied().collect();
    let mut prefix = format!("{}-{name}", kind.kind.to_lowercase());
    let mut end = prefix.len().min(longest - HASH - 1);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    prefix.truncate(end);
    format!("{prefix}-{}", hash(&parts.join("\n")))
}
