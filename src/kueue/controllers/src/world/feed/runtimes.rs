//! What describes the pods of jobs that do not do that themselves.

use std::sync::Arc;

use jobs::RuntimeRef;
use kube::api::DynamicObject;
use kueue_api::ObjectMeta;

use super::super::World;
use crate::key::Key;
use crate::store::Put;
use crate::stores::Runtime;
use crate::watch::Seen;

impl World {
    pub fn on_runtime(&self, kind: &str, seen: Seen<DynamicObject>) {
        let key = match seen {
            Seen::Object(object) => {
                let key = Key::of(&object.metadata);
                let metadata = object.metadata.clone();
                match serde_json::to_value(*object) {
                    Ok(object) => {
                        let object = Arc::new(object);
                        let runtime = Arc::new(Runtime { metadata, object });
                        if matches!(self.stores.runtimes.put(runtime), Put::Stale) {
                            return;
                        }
                        key
                    }
                    Err(error) => return self.misshapen(kind, &metadata, &error.to_string()),
                }
            }
            Seen::Gone(key, uid) => {
                self.stores.runtimes.remove(&key, uid.as_deref());
                key
            }
            Seen::Malformed(meta, error) => return self.misshapen(kind, &meta, &error),
        };
        self.ask_jobs_of_runtime(&key);
    }

    fn misshapen(&self, kind: &str, meta: &ObjectMeta, error: &str) {
        let version = jobs::train_job::TRAIN_JOB.api_version();
        self.unreadable(version, kind, meta, error);
    }

    fn ask_jobs_of_runtime(&self, runtime: &Key) {
        let is_named = |of: &RuntimeRef| {
            of.name == runtime.name
                && of.namespace.as_deref().unwrap_or_default() == runtime.namespace
        };
        for (kind, jobs) in self.stores.jobs.iter().enumerate() {
            if jobs.kind.framework != jobs::train_job::TRAIN_JOB.framework {
                continue;
            }
            for job in jobs.objects.list() {
                if job.0.runtime_ref().is_some_and(|of| is_named(&of)) {
                    self.queues.ask_job(kind, Key::of(job.0.meta()));
                }
            }
        }
    }
}
