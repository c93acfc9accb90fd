//! The part of the file about other clusters that run Workloads: by which name this manager is known there, how patient it is, who proposes
//! clusters. Reference section 2, `multiKueue.*`.

use std::time::Duration;

use super::read::{Reader, path};
use crate::field::FieldError;
use crate::validation::is_label_value;

const ALL_AT_ONCE: &str = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once";
const INCREMENTAL: &str = "kueue.x-k8s.io/multikueue-dispatcher-incremental";
const STEP: &str = "multiKueue.incrementalDispatcherConfig.stepSize";

/// Who proposes the clusters that a Workload is offered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatcher {
    AllAtOnce,
    /// So many more each time.
    Incremental(u32),
    /// A controller of somebody else.
    External,
}

/// How Workloads are handed over to other clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiKueue {
    /// Zero is never.
    pub gc_interval: Duration,
    /// A label value.
    pub origin: String,
    pub worker_lost_timeout: Duration,
    pub dispatcher: Dispatcher,
}

pub(super) fn multikueue(r: &mut Reader) -> MultiKueue {
    let origin = r.or("multiKueue.origin", "multikueue".to_owned());
    if origin.is_empty() || !is_label_value(&origin) {
        let detail = "must be a label value that is not empty: letters, digits, '-', '_' and '.', at most 63";
        r.fault(FieldError::invalid(
            &path("multiKueue.origin"),
            &*origin,
            detail,
        ));
    }
    super::profiles::check(r);
    MultiKueue {
        gc_interval: r.duration("multiKueue.gcInterval", Duration::from_mins(1)),
        origin,
        worker_lost_timeout: r.duration("multiKueue.workerLostTimeout", Duration::from_mins(15)),
        dispatcher: dispatcher(r),
    }
}

fn dispatcher(r: &mut Reader) -> Dispatcher {
    let name = r.or("multiKueue.dispatcherName", ALL_AT_ONCE.to_owned());
    let configured = r.has("multiKueue.incrementalDispatcherConfig");
    let step: i64 = r.or(STEP, 3);
    match name.as_str() {
        INCREMENTAL => {
            let step = u32::try_from(step).ok().filter(|step| *step > 0);
            if step.is_none() {
                let detail = "must be greater than or equal to 1";
                r.fault(FieldError::invalid(&path(STEP), step.unwrap_or(0), detail));
            }
            Dispatcher::Incremental(step.unwrap_or(1))
        }
        other => {
            if configured {
                let detail = format!("only allowed with dispatcherName {INCREMENTAL}");
                let at = path("multiKueue.incrementalDispatcherConfig");
                r.fault(FieldError::forbidden(&at, &detail));
            }
            if other == ALL_AT_ONCE {
                Dispatcher::AllAtOnce
            } else {
                Dispatcher::External
            }
        }
    }
}
