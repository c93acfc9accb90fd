//! Pods that cannot end, because nobody hears from their node: those that say that this is safe are ended by force, so that their Workload goes
//! on elsewhere. Behind the gate `FailureRecoveryPolicy`. [`decide`] decides, this reads the stores and writes. Reference section 4.23.

pub mod decide;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};

use crate::context::{Context, regarding};
use crate::error::ReconcileError;
use crate::events::Kind;
use crate::key::Key;
use crate::work_queue::Next;
use crate::write::WriteError;

use decide::{REASON, Turn, turn};

const REPORTER: &str = "kueue-failure-recovery-controller";

/// Looks at one pod that is to end.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let stores = &context.world.stores;
    let Some(pod) = stores.ending.get(&key) else {
        return Ok(Next::OnChange);
    };
    let node = |name: &str| -> Option<Arc<Node>> { stores.nodes.get(&Key::cluster(name)) };
    match turn(&pod, node, (context.clock)()) {
        Turn::Rest => Ok(Next::OnChange),
        Turn::Wait(left) => Ok(Next::After(left)),
        Turn::End { status, message } => {
            let written = context
                .writer
                .namespaced_status(pod.as_ref(), status, "write status of Pod")
                .await;
            let pod: Pod = match written {
                Ok(pod) => pod,
                Err(WriteError::Gone { .. }) => return Ok(Next::OnChange),
                Err(error) => return Err(error.into()),
            };
            let about = regarding(Pod::API_VERSION.to_owned(), Pod::KIND, &pod.metadata);
            context.send(about, REPORTER, Kind::Warning, REASON, message);
            context.writer.end_pod(&pod).await?;
            Ok(Next::OnChange)
        }
    }
}
