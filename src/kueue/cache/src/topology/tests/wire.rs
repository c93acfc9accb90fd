//! Assignments go to the wire and come back as they were.

use kueue_api::v1beta2 as api;
use proptest::prelude::*;
use scheduler::topology::{DomainAssignment, HOSTNAME, TopologyAssignment};

use crate::topology::{decode, encode, encode_by_prefix, prefix_keys};

fn nodes(named: &[(&str, i64)]) -> TopologyAssignment {
    let domains = named.iter().map(|(name, count)| DomainAssignment {
        values: vec![(*name).to_owned()],
        count: *count,
    });
    TopologyAssignment {
        levels: vec![HOSTNAME.to_owned()],
        domains: domains.collect(),
    }
}

#[test]
fn what_all_values_share_is_written_once() {
    let encoded = encode(&nodes(&[("gpu-1.lab", 2), ("gpu-22.lab", 2)]), false);
    let [slice] = encoded.slices.as_slice() else {
        panic!("one slice, not {}", encoded.slices.len());
    };
    assert_eq!(slice.pod_counts.universal, Some(2));
    let individual = slice.values_per_level[0]
        .individual
        .clone()
        .unwrap_or_default();
    assert_eq!(individual.prefix.as_deref(), Some("gpu-"));
    assert_eq!(individual.suffix.as_deref(), Some(".lab"));
    assert_eq!(individual.roots, ["1", "22"]);
}

#[test]
fn the_shared_beginning_and_end_do_not_overlap() {
    let assignment = nodes(&[("abab", 1), ("ab", 3)]);
    let encoded = encode(&assignment, false);
    assert_eq!(decode(&encoded), Some(assignment));
}

#[test]
fn pools_of_nodes_get_slices_of_their_own_only_when_that_is_shorter() {
    let few = nodes(&[
        ("pool-a-1", 1),
        ("pool-a-2", 1),
        ("pool-b-1", 1),
        ("pool-b-2", 1),
    ]);
    assert_eq!(encode(&few, true).slices.len(), 1);
    assert_eq!(encode_by_prefix(&few).slices.len(), 2);
    let long = |pool: &str, index: usize| format!("cluster-of-the-class-{pool}-{index}");
    let names: Vec<String> = (0..40)
        .map(|index| long("left", index))
        .chain((0..40).map(|index| long("right", index)))
        .collect();
    let named: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 4)).collect();
    assert_eq!(encode(&nodes(&named), true).slices.len(), 2);
}

#[test]
fn a_beginning_that_only_one_node_has_is_no_key() {
    let keys = prefix_keys(&nodes(&[("a-b-1", 1), ("a-b-2", 1), ("a-c-1", 1)]).domains);
    assert_eq!(keys, ["a-b-", "a-b-", "a-"]);
}

#[test]
fn an_assignment_that_promises_more_than_it_has_is_not_read() {
    let mut encoded = encode(&nodes(&[("x", 1), ("y", 2)]), false);
    encoded.slices[0].domain_count = 3;
    assert_eq!(decode(&encoded), None);
    assert_eq!(
        decode(&api::TopologyAssignment::default()),
        Some(TopologyAssignment::default())
    );
}

proptest! {
    #[test]
    fn every_assignment_comes_back(named in prop::collection::vec(("[a-cé-]{0,6}", "[xy-]{0,5}", 1..4_i64), 0..12), hostnames: bool, by_prefix: bool) {
        let last = if hostnames { HOSTNAME } else { "rack" };
        let assignment = TopologyAssignment {
            levels: vec!["block".to_owned(), last.to_owned()],
            domains: named.into_iter().map(|(block, last, count)| DomainAssignment { values: vec![block, last], count }).collect(),
        };
        prop_assert_eq!(decode(&encode(&assignment, by_prefix)), Some(assignment));
    }
}
