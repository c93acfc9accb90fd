//! Partial admission: the smallest reduction of the pod counts with which a workload can be assigned.

use crate::objects::PodSet;

/// Tries counts between the full and the minimal ones by bisection and returns what `attempt` returned for the largest that it accepts.
pub fn largest_that<T>(
    pod_sets: &[PodSet],
    mut attempt: impl FnMut(&[i64]) -> Option<T>,
) -> Option<T> {
    let slack: Vec<i64> = pod_sets
        .iter()
        .map(|pod_set| (pod_set.count - pod_set.min_count.unwrap_or(pod_set.count)).max(0))
        .collect();
    let total: i64 = slack.iter().sum();
    if total == 0 {
        return None;
    }
    let reduced = |step: i64| -> Vec<i64> {
        pod_sets
            .iter()
            .zip(&slack)
            .map(|(pod_set, slack)| pod_set.count - slack * step / total)
            .collect()
    };
    // Invariant: everything below `low` fails; `found` belongs to `high`.
    let (mut low, mut high, mut found) = (0, total + 1, None);
    while low < high {
        let middle = low + (high - low) / 2;
        match attempt(&reduced(middle)) {
            Some(result) => {
                found = Some(result);
                high = middle;
            }
            None => low = middle + 1,
        }
    }
    found
}
