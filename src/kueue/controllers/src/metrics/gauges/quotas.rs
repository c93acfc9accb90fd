//! Gauges of amounts, in natural units: cores, bytes, devices.

use cache::ClusterQueueName;
use kueue_api::v1beta2::{ClusterQueueStatus, LocalQueueFlavorUsage, LocalQueueStatus};
use quantity::{Amount, Requests};
use scheduler::Quota;
use telemetry::metrics::Labels;

use super::Book;
use crate::context::Context;
use crate::key::Key;
use crate::world::World;

fn written(quantity: &kueue_api::Quantity) -> f64 {
    quantity
        .0
        .parse::<quantity::Quantity>()
        .map_or(f64::NAN, quantity::Quantity::approximate)
}

pub(super) fn put(context: &Context, book: &mut Book) {
    let world = &context.world;
    let custom = &context.metrics.options.custom.cluster_queues;
    let snapshot = world.cache.lock().snapshot();
    for (name, queue) in snapshot.cluster_queues.iter() {
        let object = world
            .stores
            .cluster_queues
            .get(&Key::cluster(name.as_str()));
        book.about(custom, object.as_ref().map(|queue| &queue.metadata));
        let cohort = queue
            .cohort
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        for (of, quota) in &queue.quotas {
            let labels = || {
                labels(
                    &cohort,
                    name.as_str(),
                    of.flavor.as_str(),
                    of.resource.as_str(),
                )
            };
            let Quota {
                nominal,
                borrowing_limit,
                lending_limit,
            } = *quota;
            let limit = |limit: Option<Amount>| {
                limit.map_or(f64::INFINITY, |amount| amount.approximate(&of.resource))
            };
            book.put(
                "kueue_cluster_queue_nominal_quota",
                "Nominal quota",
                labels(),
                nominal.approximate(&of.resource),
            );
            book.put(
                "kueue_cluster_queue_borrowing_limit",
                "Most that can be borrowed",
                labels(),
                limit(borrowing_limit),
            );
            book.put(
                "kueue_cluster_queue_lending_limit",
                "Most that is lent",
                labels(),
                limit(lending_limit),
            );
        }
        let status = world.cache.lock().cluster_queue_status(name, world.now());
        if let Some(status) = status {
            used(&cohort, name.as_str(), &status, book);
        }
        for (resource, amount) in &pending(world, name) {
            let labels = vec![
                ("cluster_queue", name.to_string()),
                ("resource", resource.to_string()),
            ];
            book.put(
                "kueue_cluster_queue_resource_pending",
                "What pending workloads ask for",
                labels,
                amount.approximate(resource),
            );
        }
    }
}

/// What the pending workloads of a ClusterQueue ask for together.
fn pending(world: &World, name: &ClusterQueueName) -> Requests {
    let cache = world.cache.lock();
    let waiting = cache.pending_workloads(name).unwrap_or_default();
    let mut sum = Requests::new();
    for workload in waiting
        .iter()
        .filter_map(|waiting| cache.workload(&waiting.key))
    {
        workload
            .pod_sets
            .iter()
            .for_each(|set| sum.add_all(&set.per_pod.times(set.count)));
    }
    sum
}

fn labels(cohort: &str, queue: &str, flavor: &str, resource: &str) -> Labels {
    let labels = [
        ("cohort", cohort),
        ("cluster_queue", queue),
        ("flavor", flavor),
        ("resource", resource),
    ];
    labels
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec()
}

fn used(cohort: &str, queue: &str, status: &ClusterQueueStatus, book: &mut Book) {
    let gauges = [
        (
            "kueue_cluster_queue_resource_reservation",
            "Quota reserved",
            &status.flavors_reservation,
        ),
        (
            "kueue_cluster_queue_resource_usage",
            "Quota of admitted workloads",
            &status.flavors_usage,
        ),
    ];
    for (name, help, flavors) in gauges {
        for flavor in flavors {
            for resource in &flavor.resources {
                let value = resource.total.as_ref().map_or(0.0, written);
                book.put(
                    name,
                    help,
                    labels(cohort, queue, &flavor.name, &resource.name),
                    value,
                );
            }
        }
    }
}

pub(super) fn put_local(
    of: &impl Fn(&[(&'static str, &str)]) -> Labels,
    status: &LocalQueueStatus,
    book: &mut Book,
) {
    let mut put = |name, help, flavors: &[LocalQueueFlavorUsage]| {
        for flavor in flavors {
            for resource in &flavor.resources {
                let labels = of(&[("flavor", &flavor.name), ("resource", &resource.name)]);
                book.put(
                    name,
                    help,
                    labels,
                    resource.total.as_ref().map_or(0.0, written),
                );
            }
        }
    };
    put(
        "kueue_local_queue_resource_reservation",
        "Quota reserved",
        &status.flavors_reservation,
    );
    put(
        "kueue_local_queue_resource_usage",
        "Quota of admitted workloads",
        &status.flavors_usage,
    );
}
