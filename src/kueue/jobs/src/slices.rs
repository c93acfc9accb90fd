//! The slices of a job that grows and shrinks: which of its open Workloads describes it now, which of them are over, and what a new one says.
//! Objects in, decisions out. KEP-77; reference section 5.1, "Elastic".

mod ungate;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use kueue_api::conditions::reasons;
use kueue_api::names::annotations;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::{pods, slices};

pub use ungate::{Release, ungate};

/// How many pods each podset has.
pub type Counts = BTreeMap<String, i32>;

/// A slice that is over, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    pub slice: Arc<Workload>,
    pub reason: &'static str,
    pub message: &'static str,
}

/// What the slices of a job need.
#[derive(Clone, Debug, PartialEq)]
pub enum Ensured {
    /// None of them is large enough: another one has to be asked for.
    New,
    /// The job has other podsets than they have, which is not a matter of size.
    Other,
    /// This one describes the job.
    Is(Arc<Workload>),
    /// This one does once its podsets have other sizes.
    Resize(Arc<Workload>),
    /// These are in the way.
    Finish(Vec<Over>),
}

/// The slices that are not over, oldest first.
#[must_use]
pub fn open(workloads: &[Arc<Workload>]) -> Vec<Arc<Workload>> {
    let open = workloads.iter().filter(|slice| !slice.is_finished());
    let mut open: Vec<_> = open.cloned().collect();
    open.sort_by(|one, other| age(one).cmp(&age(other)));
    open
}

fn age(slice: &Workload) -> (Option<jiff::Timestamp>, Option<&str>) {
    let meta = &slice.metadata;
    let created = meta.creation_timestamp.as_ref().map(|time| time.0);
    (created, meta.uid.as_deref())
}

/// The newest of the open slices that holds quota and is not about to lose it.
#[must_use]
pub fn active(open: &[Arc<Workload>]) -> Option<&Arc<Workload>> {
    let holds = |slice: &&Arc<Workload>| slice.has_quota_reservation() && !slice.is_evicted();
    open.iter().rev().find(holds)
}

/// Whether no podset grows and at least one shrinks.
#[must_use]
pub fn shrinks(from: &Counts, to: &Counts) -> bool {
    pods::fewer(to, from) && !pods::fewer(from, to)
}

/// What the `open` slices need so that one of them describes a job of this size.
#[must_use]
pub fn ensure(wanted: &Counts, open: &[Arc<Workload>]) -> Ensured {
    let chosen = match open {
        [] => None,
        [only] => Some(only.clone()),
        several => {
            let (chosen, over) = sort_out(several);
            if !over.is_empty() {
                return Ensured::Finish(over);
            }
            chosen
        }
    };
    let Some(slice) = chosen else {
        return Ensured::New;
    };
    let has = pods::counts(&slice.spec.pod_sets);
    if !has.keys().eq(wanted.keys()) {
        Ensured::Other
    } else if has == *wanted {
        Ensured::Is(slice)
    } else if !slice.has_quota_reservation() || shrinks(&has, wanted) {
        Ensured::Resize(slice)
    } else {
        Ensured::New
    }
}

/// Of several open slices: the one that counts, and those that are over. What remains is at most the slice that holds quota and the one
/// that waits to replace it.
#[must_use]
pub fn sort_out(open: &[Arc<Workload>]) -> (Option<Arc<Workload>>, Vec<Over>) {
    let replacements = replacements(open);
    let replacement = |slice: &Workload| replacements.get(&slice.key()).copied();
    let standing = || open.iter().filter(|slice| !slice.is_evicted());
    let mut holding = standing().filter(|slice| {
        slice.has_quota_reservation()
            && !replacement(slice).is_some_and(|next| next.has_quota_reservation())
    });
    let holding = holding.next_back();
    let waiting = holding.and_then(|slice| replacement(slice));
    let waiting = waiting.filter(|next| !next.has_quota_reservation());
    let chosen = waiting.or(holding).or_else(|| standing().next_back());
    let same = |one: &Arc<Workload>, other: Option<&Arc<Workload>>| {
        other.is_some_and(|other| Arc::ptr_eq(one, other))
    };
    let rest = open
        .iter()
        .filter(|slice| !same(slice, chosen) && !same(slice, holding));
    let over = rest.map(|slice| over(slice, replacements.contains_key(&slice.key())));
    let over = over.collect();
    (chosen.cloned(), over)
}

fn over(slice: &Arc<Workload>, replaced: bool) -> Over {
    let (reason, message) = if replaced {
        (
            reasons::WORKLOAD_SLICE_REPLACED,
            "Replaced to accommodate a new workload slice",
        )
    } else {
        (
            reasons::OUT_OF_SYNC,
            "The workload slice is out of sync with its parent job",
        )
    };
    Over {
        slice: slice.clone(),
        reason,
        message,
    }
}

/// Who replaces whom. Where two slices claim the same one, which a race can make, the one that holds quota counts.
fn replacements(open: &[Arc<Workload>]) -> BTreeMap<String, &Arc<Workload>> {
    let mut all: BTreeMap<String, &Arc<Workload>> = BTreeMap::new();
    for slice in open.iter().filter(|slice| !slice.is_evicted()) {
        let Some(replaced) = slices::replaces(slice) else {
            continue;
        };
        let better = |known: &&Arc<Workload>| {
            slice.has_quota_reservation() && !known.has_quota_reservation()
        };
        if all.get(replaced).is_none_or(better) {
            all.insert(replaced.to_owned(), slice);
        }
    }
    all
}

/// More slices are open than one, so that nobody can say which one a new one replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected workload-slices count: {0}")]
pub struct TooMany(pub usize);

/// Makes a new Workload the next slice of its job.
///
/// # Errors
/// When more than one is open.
pub fn join(workload: &mut Workload, open: &[Arc<Workload>]) -> Result<(), TooMany> {
    let (chain, replaced) = match open {
        [] => (workload.name().to_owned(), None),
        [old] => (slices::chain_of(old).to_owned(), Some(old.key())),
        several => return Err(TooMany(several.len())),
    };
    let notes = workload.metadata.annotations.get_or_insert_default();
    notes.insert(annotations::ELASTIC_JOB.to_owned(), "true".to_owned());
    notes.insert(annotations::WORKLOAD_SLICE_NAME.to_owned(), chain);
    if let Some(key) = replaced {
        let name = annotations::WORKLOAD_SLICE_REPLACEMENT_FOR.to_owned();
        notes.insert(name, key);
    }
    Ok(())
}
