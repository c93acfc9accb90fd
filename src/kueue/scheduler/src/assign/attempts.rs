//! Puts together what several scans found out about the same flavor, so that people read of each flavor once: the worst counts.

use quantity::ResourceName;

use super::{Attempt, Blocker, Mode, NoFitReason};
use crate::objects::ResourceGroup;

/// Adds what a scan for `resource` through `group` found. A flavor of the group that an earlier scan looked at and this one did not,
/// because it stopped before, gives the workload nothing.
pub(super) fn merge(
    all: &mut Vec<Attempt>,
    found: Vec<Attempt>,
    resource: &ResourceName,
    group: &ResourceGroup,
) {
    let looked_at: Vec<_> = found.iter().map(|one| one.flavor.clone()).collect();
    for attempt in found {
        match all.iter_mut().find(|known| known.flavor == attempt.flavor) {
            Some(known) => worsen(known, attempt),
            None => all.push(attempt),
        }
    }
    if looked_at.is_empty() {
        return;
    }
    let missed = |known: &&mut Attempt| {
        group.flavors.contains(&known.flavor) && !looked_at.contains(&known.flavor)
    };
    for known in all.iter_mut().filter(missed) {
        let blocker = Blocker::DoesNotProvide(known.flavor.clone(), resource.clone());
        known.mode = Mode::NoFit;
        known.no_fit = Some(NoFitReason::NoMatchingFlavor);
        add(&mut known.blockers, blocker);
    }
}

fn worsen(known: &mut Attempt, other: Attempt) {
    known.mode = known.mode.min(other.mode);
    known.borrow = known.borrow.max(other.borrow);
    known.no_fit = known.no_fit.max(other.no_fit);
    known.possibility = match (known.possibility, other.possibility) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    };
    for blocker in other.blockers {
        add(&mut known.blockers, blocker);
    }
}

fn add(blockers: &mut Vec<Blocker>, blocker: Blocker) {
    if !blockers.contains(&blocker) {
        blockers.push(blocker);
    }
}
