//! Who holds how much quota: enough to say what of a reservation was borrowed at the moment it was made.

use crate::{json, quantity::quantity};
use serde_json::Value;
use std::collections::BTreeMap;

/// `flavor/resource` → amount.
type Amounts = BTreeMap<String, f64>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Reservations {
    /// Workload uid → cluster queue and amounts.
    held: BTreeMap<String, (String, Amounts)>,
}

impl Reservations {
    pub(crate) fn set(&mut self, uid: &str, workload: &Value) {
        if json::is_true(workload, "Finished") {
            self.held.remove(uid);
            return;
        }
        match json::text(workload, "status.admission.clusterQueue") {
            Some(queue) => {
                self.held
                    .insert(uid.to_owned(), (queue.to_owned(), amounts(workload)));
            }
            None => self.release(uid),
        }
    }

    pub(crate) fn release(&mut self, uid: &str) {
        self.held.remove(uid);
    }

    /// How much of what `uid` holds is above the nominal quota of its queue.
    pub(crate) fn borrowed(&self, uid: &str, cluster_queue: Option<&Value>) -> Amounts {
        let Some((queue, mine)) = self.held.get(uid) else {
            return Amounts::new();
        };
        let Some(nominal) = cluster_queue.map(nominal) else {
            return Amounts::new();
        };
        mine.iter()
            .filter_map(|(what, amount)| {
                let total: f64 = self
                    .held
                    .values()
                    .filter(|(other, _)| other == queue)
                    .filter_map(|(_, amounts)| amounts.get(what))
                    .sum();
                let above = (total - nominal.get(what).copied().unwrap_or(0.0)).min(*amount);
                (above > 0.0).then(|| (what.clone(), above))
            })
            .collect()
    }
}

fn amounts(workload: &Value) -> Amounts {
    let mut amounts = Amounts::new();
    for set in json::items(workload, "status.admission.podSetAssignments") {
        let Some(usage) = set.get("resourceUsage").and_then(Value::as_object) else {
            continue;
        };
        for (resource, value) in usage {
            let flavor = json::at(set, "flavors")
                .and_then(|flavors| flavors.get(resource))
                .and_then(Value::as_str);
            let key = format!("{}/{resource}", flavor.unwrap_or_default());
            *amounts.entry(key).or_default() += quantity(value).unwrap_or(0.0);
        }
    }
    amounts
}

fn nominal(cluster_queue: &Value) -> Amounts {
    let mut amounts = Amounts::new();
    for group in json::items(cluster_queue, "spec.resourceGroups") {
        for flavor in json::items(group, "flavors") {
            let name = json::text(flavor, "name").unwrap_or_default();
            for resource in json::items(flavor, "resources") {
                let key = format!(
                    "{name}/{}",
                    json::text(resource, "name").unwrap_or_default()
                );
                let value = resource
                    .get("nominalQuota")
                    .and_then(quantity)
                    .unwrap_or(0.0);
                amounts.insert(key, value);
            }
        }
    }
    amounts
}
