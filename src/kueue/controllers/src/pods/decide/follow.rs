//! What a Workload takes over from its pods at any time: who gates it, and its priority class.

use std::sync::Arc;

use jobs::GenericJob;
use kueue_api::names::annotations;
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::{Flow, Round};
use crate::events::Kind::Normal;
use crate::pods::act::Act;

impl Round<'_, '_> {
    /// The Workload is gated by whoever its pods are gated by.
    pub(super) fn follow_gates(&mut self, workload: &Arc<Workload>) -> Arc<Workload> {
        let key = annotations::ADMISSION_GATED_BY;
        let note = |meta: &kueue_api::ObjectMeta| {
            let notes = meta.annotations.as_ref();
            let text = notes.and_then(|notes| notes.get(key)).cloned();
            text.unwrap_or_default()
        };
        let (wanted, is) = (note(self.pods.meta()), note(&workload.metadata));
        if wanted == is || !self.view.rules.switches.admission_gates {
            return workload.clone();
        }
        let mut changed = Workload::clone(workload);
        let notes = changed.metadata.annotations.get_or_insert_default();
        let value = if wanted.is_empty() {
            notes.remove(key);
            Value::Null
        } else {
            notes.insert(key.to_owned(), wanted.clone());
            json!(wanted)
        };
        let patch = json!({"metadata": {"annotations": {key: value}}});
        self.pass.push(Act::ChangeWorkload(workload.clone(), patch));
        let head = self.head();
        let note = format!("Updated workload AdmissionGatedBy to {wanted:?}");
        self.pass.event(&head, Normal, "UpdatedWorkload", note);
        Arc::new(changed)
    }

    /// The Workload's class follows the label of its pods, unless it comes from elsewhere.
    pub(super) fn follow_priority(&mut self, workload: &Arc<Workload>) -> Flow<Arc<Workload>> {
        let job: &dyn GenericJob = &self.pods;
        let own = workload.spec.priority_class_ref.as_ref();
        let adds_too_late = own.is_none() && workload.has_quota_reservation();
        let elsewhere = own.is_some_and(|class| !class.is_workload_class());
        let named = own.map(|class| class.name.as_str()).unwrap_or_default();
        if adds_too_late || elsewhere || named == job.workload_priority_class().unwrap_or_default()
        {
            return Ok(workload.clone());
        }
        let Some(wanted) = self.view.priority.clone() else {
            return self.class_missing();
        };
        if own == wanted.class.as_ref() && workload.spec.priority == Some(wanted.value) {
            return Ok(workload.clone());
        }
        let spec = json!({"priority": wanted.value, "priorityClassRef": wanted.class});
        self.pass.push(Act::ChangeWorkload(
            workload.clone(),
            json!({ "spec": spec }),
        ));
        let head = self.head();
        let note = format!("Updated workload priority class: {}", workload.key());
        self.pass.event(&head, Normal, "UpdatedWorkload", note);
        let mut changed = Workload::clone(workload);
        changed.spec.priority = Some(wanted.value);
        changed.spec.priority_class_ref = wanted.class;
        Ok(Arc::new(changed))
    }
}
