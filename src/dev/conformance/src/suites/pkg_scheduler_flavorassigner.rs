//! Flavor assignment on its own, with an oracle that answers as the case says.

mod attempts;
mod functions;
mod runs;
mod setup;

use super::File;

pub(super) const FILES: &[File] = &[
    ("TestAssignFlavors", runs::assigned),
    ("TestAssignFlavorsWithAllowedFlavors", runs::allowed),
    ("TestDeletedFlavors", runs::assigned),
    ("TestHierarchical", runs::reclaimed),
    ("TestIsNoFitDueToCapacityAndLimits", runs::no_fit),
    ("TestIsPreferred", functions::is_preferred),
    ("TestReclaimBeforePriorityPreemption", runs::reclaimed),
    ("TestSearch", functions::search),
];
