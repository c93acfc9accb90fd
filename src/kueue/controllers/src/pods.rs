//! Reconciler of plain pods and groups of pods: [`look`] reads the stores, [`decide`] says what a pass has to do, [`apply`] carries it out. Writes
//! feed the stores, and those ask for the next pass. Reference section 5.4.

pub mod act;
mod apply;
pub mod decide;
pub mod expectations;
pub mod key;
pub mod look;
pub mod shelf;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::work_queue::Next;

use act::Trouble;
use decide::Rules;

/// Brings one single pod or one group forward.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(rules) = &context.settings.pods else {
        return Ok(Next::OnChange);
    };
    let _right = context
        .world
        .locks
        .hold(concerned(&context, rules, &key))
        .await;
    let stores = &context.world.stores;
    let flavors = stores.flavor_specs();
    let managed = |namespace: &str| context.namespace_standing(namespace);
    let view = look::look(stores, rules, &flavors, &key, managed, (context.clock)());
    let pass = decide::pass(&view);
    tracing::trace!(pods = %key, acts = pass.acts.len(), trouble = ?pass.trouble);
    let mut hand = apply::Hand::new(&context);
    for act in pass.acts {
        hand.carry_out(act).await?;
    }
    match pass.trouble {
        Some(Trouble::Again(text)) => Err(ReconcileError::Pods(text)),
        Some(Trouble::ForNow(text)) => {
            tracing::debug!(pods = %key, "waiting: {text}");
            Ok(Next::OnChange)
        }
        None => Ok(pass.again.map_or(Next::OnChange, Next::After)),
    }
}

/// The Workloads that a pass may write.
fn concerned(context: &Context, rules: &Rules, key: &Key) -> Vec<Key> {
    let flavors = std::collections::BTreeMap::new();
    let stores = &context.world.stores;
    let view = look::look(stores, rules, &flavors, key, |_| None, (context.clock)());
    let all = view.workloads.iter().chain(&view.prebuilt);
    all.map(|workload| Key::of(&workload.metadata)).collect()
}
