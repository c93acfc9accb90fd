//! Which slice of a job that grows and shrinks is its own now. Jobs whose podsets changed in anything but their size are looked at as all
//! others are. KEP-77; reference section 5.1, "Elastic".

use std::sync::Arc;

use jobs::construct;
use jobs::slices::{self, Ensured};
use kueue_api::v1beta2::Workload;
use kueue_api::workload::pods;

use super::own::{self, Own};
use super::{Step, View};

/// None for a job of another sort, and where the slices do not help.
pub(super) fn own<'a>(view: &View<'a>) -> Option<Own<'a>> {
    if !view.is_elastic() {
        return None;
    }
    let astray = view.workloads.iter().filter(|w| !own::is_of(view, w));
    let astray: Vec<_> = astray.filter(|w| own::is_there(w)).cloned().collect();
    if !astray.is_empty() {
        return Some(Own::Step(Step::Delete {
            stop: None,
            workloads: astray,
        }));
    }
    let sets = construct::pod_sets(view.job, &view.rules.workloads).ok()?;
    let open = slices::open(view.workloads);
    let found = |slice: &Arc<Workload>| view.workloads.iter().find(|w| Arc::ptr_eq(w, slice));
    let own = match slices::ensure(&pods::counts(&sets), &open) {
        Ensured::Other => return None,
        Ensured::New => kept(view, &open).map_or(Own::None, Own::Step),
        Ensured::Resize(workload) => Own::Step(Step::Resize { workload }),
        Ensured::Finish(over) => Own::Step(Step::FinishSlices { over }),
        Ensured::Is(slice) => {
            let slice = found(&slice)?;
            let step = own::kept_up(view, slice).or_else(|| kept(view, &open));
            step.map_or(Own::One(slice), Own::Step)
        }
    };
    Some(own)
}

/// The slice that holds quota while another one waits to replace it has the job's priority, too.
fn kept(view: &View<'_>, open: &[Arc<Workload>]) -> Option<Step> {
    if view.job.finished().is_some() {
        return None;
    }
    own::priority(view, slices::active(open)?)
}
