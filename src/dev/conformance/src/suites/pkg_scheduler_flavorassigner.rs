//! Flavor assignment on its own, with an oracle that answers as the case says.

mod attempts;
mod functions;
mod placed;
mod runs;
mod setup;

use super::File;

pub(super) const FILES: &[File] = &[
    ("TestAssignFlavors", runs::assigned),
    ("TestAssignFlavorsWithAllowedFlavors", runs::allowed),
    (
        "TestAssignFlavors_LeaderWorkerSetTASFlavor",
        placed::grouped,
    ),
    ("TestDeletedFlavors", runs::assigned),
    ("TestFlavorScanRecordsLastTriedFlavorIdx", placed::remembers),
    (
        "TestRecomputeRecordsLastTriedFlavorIdx",
        placed::remembers_anew,
    ),
    ("TestHierarchical", runs::reclaimed),
    ("TestIsNoFitDueToCapacityAndLimits", runs::no_fit),
    ("TestIsPreferred", functions::is_preferred),
    ("TestReclaimBeforePriorityPreemption", runs::reclaimed),
    ("TestSearch", functions::search),
];
