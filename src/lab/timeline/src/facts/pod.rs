//! What the pods of a job show: that it really runs, and where.

use super::add;
use crate::{attempt::Details, json, objects::Step, timeline::Timeline};
use course::FactName;

pub(super) fn derive(timeline: &mut Timeline, step: &Step) {
    let phase = |object| json::text(object, "status.phase") == Some("Running");
    let already = step.before.as_ref().is_some_and(|before| phase(before));
    if already || !phase(&step.after) {
        return;
    }
    let Some((_, owner)) = json::controller(&step.after) else {
        return;
    };
    let Some(index) = timeline.by_uid.get(owner) else {
        return;
    };
    let Some(attempt) = timeline.attempts.get_mut(*index) else {
        return;
    };
    let node = json::text(&step.after, "spec.nodeName").map(str::to_owned);
    add(
        attempt,
        FactName::Running,
        step.place,
        Details {
            node,
            ..Details::default()
        },
    );
}
