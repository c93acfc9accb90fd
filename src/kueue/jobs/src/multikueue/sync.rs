//! Brings a job here and its copy in a worker cluster together: creates what is missing there, takes over the state of what is there.

use kueue_api::names::gates;
use serde_json::{Value, json};

use super::{Adapter, Flow, Foreign, Hand, is_of_origin};

/// One write that brings a job and its copy together.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Create this object in the worker cluster.
    Create(Value),
    /// Apply this merge patch to the object of this name in the worker cluster.
    Change { name: String, patch: Value },
    /// Give the object of this name here this status.
    Status { name: String, status: Value },
}

/// What brings a job and its copy together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sync {
    pub writes: Vec<Write>,
    /// The state of the copy does not come over yet, since the job here is still suspended: to be tried again soon.
    pub deferred: bool,
}

impl Adapter {
    /// Compares a job here (for a group, all of its pods) with the objects of the worker cluster that have the same names.
    ///
    /// # Errors
    /// When one of the objects over there is not a copy made by this manager: it is neither overwritten nor believed.
    pub fn sync(
        &self,
        here: &[Value],
        there: &[Value],
        hand: Hand<'_>,
        now: &str,
    ) -> Result<Sync, Foreign> {
        let mut sync = Sync::default();
        for job in here {
            let name = name_of(job);
            let Some(copy) = there.iter().find(|copy| name_of(copy) == name) else {
                sync.writes.push(Write::Create(self.copy(job, hand)));
                continue;
            };
            if !is_of_origin(copy, hand.origin) {
                return Err(Foreign);
            }
            sync.writes.extend(self.forwarded(job, copy));
            let (status, deferred) = self.status(job, copy, now);
            sync.deferred |= deferred;
            let before = job.get("status").cloned().unwrap_or_else(|| json!({}));
            let status = status.filter(|status| *status != before);
            let name = name.to_owned();
            sync.writes
                .extend(status.map(|status| Write::Status { name, status }));
        }
        Ok(sync)
    }

    /// What of the job here changed that its copy is to know.
    fn forwarded(&self, job: &Value, copy: &Value) -> Option<Write> {
        let field = self.forwards?;
        let of = |object: &Value| object.get("spec").and_then(|spec| spec.get(field)).cloned();
        let (here, there) = (of(job), of(copy));
        (here != there).then(|| Write::Change {
            name: name_of(copy).to_owned(),
            patch: json!({"spec": {field: here}}),
        })
    }

    /// The status that a job is to have, and whether that of its copy has to wait.
    fn status(&self, job: &Value, copy: &Value, now: &str) -> (Option<Value>, bool) {
        let whole = || Some(copy.get("status").cloned().unwrap_or_else(|| json!({})));
        match self.flow {
            Flow::Plain => (whole(), false),
            Flow::Nothing | Flow::Groups => (None, false),
            Flow::Pods if job.pointer("/metadata/deletionTimestamp").is_some() => (None, false),
            Flow::Pods => (whole().map(|status| waiting(job, status)), false),
            Flow::Batch if !is_suspended(job) || is_suspended(copy) || is_over(copy) => {
                (whole(), false)
            }
            Flow::Batch => (marked_suspended(job, now), true),
        }
    }
}

fn name_of(object: &Value) -> &str {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default()
}

fn is_suspended(job: &Value) -> bool {
    job.pointer("/spec/suspend") == Some(&Value::Bool(true))
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|one| one["type"] == kind)
}

fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|one| one["status"] == "True")
}

fn is_over(job: &Value) -> bool {
    is_true(job, "Complete") || is_true(job, "Failed")
}

/// Puts a condition in the place of one of its type, or at the end.
fn set_condition(status: &mut Value, condition: Value) {
    let kind = condition["type"].clone();
    let Some(conditions) = status["conditions"].as_array_mut() else {
        status["conditions"] = json!([condition]);
        return;
    };
    match conditions.iter_mut().find(|one| one["type"] == kind) {
        Some(place) => *place = condition,
        None => conditions.push(condition),
    }
}

/// The status of a suspended job that says it is suspended: API servers of 1.36 let nobody change its template otherwise.
fn marked_suspended(job: &Value, now: &str) -> Option<Value> {
    if is_true(job, "Suspended") {
        return None;
    }
    let mut status = job.get("status").cloned().unwrap_or_else(|| json!({}));
    let condition = json!({
        "type": "Suspended", "status": "True", "reason": "MultiKueueAdapter",
        "message": "Set by MultiKueue adapter", "lastTransitionTime": now, "lastProbeTime": now,
    });
    set_condition(&mut status, condition);
    Some(status)
}

/// A gated pod goes on saying that it waits at its gate until its copy has a node: an autoscaler of this cluster would take "unschedulable"
/// for its own business.
fn waiting(pod: &Value, mut status: Value) -> Value {
    let gates = pod
        .pointer("/spec/schedulingGates")
        .and_then(Value::as_array);
    let gated =
        gates.is_some_and(|gates| gates.iter().any(|gate| gate["name"] == gates::ADMISSION));
    let copied = json!({ "status": status });
    if let Some(own) = condition(pod, "PodScheduled")
        && gated
        && !is_true(&copied, "PodScheduled")
    {
        set_condition(&mut status, own.clone());
    }
    status
}
