//! Quota first, then places: what comes out of both.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::{Expect, expect};
use quantity::{Amount, Requests, ResourceName};

use crate::fixture::{World, pod_set, queue, workload};
use crate::names::FlavorName;
use crate::objects::{HeldPodSet, PlacesLater, Reservation};
use crate::places::Topologies;
use crate::topology::{
    DomainAssignment, DomainRequests, HOSTNAME, Node, Snapshot, TopologyAssignment,
    TopologyRequest, TopologyUsage, Tree,
};
use crate::{
    Assigner, Assignment, ClusterQueue, Flavor, Mode, NoPreemption, PodSet, Workload, messages,
};

fn requests(list: &[(&str, i64)]) -> Requests {
    let amounts = list.iter();
    amounts
        .map(|(name, amount)| (ResourceName::from(*name), Amount::new(*amount)))
        .collect()
}

/// Nodes `a1` and `a2` in rack `a`, `b1` in rack `b`, of 2 cpu each.
fn hosts() -> Snapshot {
    let node = |(name, rack): (&str, &str)| {
        let labels = [("rack", rack), (HOSTNAME, name)];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Arc::new(Node {
            name: name.into(),
            labels: BTreeMap::from(labels),
            taints: Vec::new(),
            allocatable: requests(&[("cpu", 2000), ("gpu", 8), ("pods", 10)]),
        })
    };
    let nodes = [("a1", "a"), ("a2", "a"), ("b1", "b")].map(node);
    let tree = Tree::build(&["rack".to_owned(), HOSTNAME.to_owned()], &nodes);
    Snapshot::new("lab", Arc::new(tree), &[])
}

fn placed() -> Flavor {
    Flavor {
        topology: Some("lab".to_owned()),
        ..Flavor::default()
    }
}

struct Lab {
    world: World,
    topologies: Topologies,
}

impl Lab {
    /// One ClusterQueue, all of whose flavors called `red…` have places.
    fn new(queue: ClusterQueue) -> Self {
        let names: Vec<FlavorName> = queue
            .groups
            .iter()
            .flat_map(|group| group.flavors.clone())
            .collect();
        let mut world = World::of(&[queue]);
        let mut topologies = Topologies::new();
        for name in names.iter().filter(|name| name.as_str().starts_with("red")) {
            world = world.flavor(name.as_str(), placed());
            topologies.insert(name.clone(), Arc::new(hosts()));
        }
        Self { world, topologies }
    }

    /// Others take this much cpu of a node.
    fn taken(mut self, node: &str, cpu: i64) -> Self {
        let usage = DomainRequests {
            values: vec![node.to_owned()],
            per_pod: requests(&[("cpu", cpu)]),
            count: 1,
        };
        for topology in self.topologies.values_mut() {
            Arc::make_mut(topology).take(std::slice::from_ref(&usage));
        }
        self
    }

    fn assign(&self, workload: &Workload) -> Assignment {
        let snapshot = self.world.snapshot();
        let cluster_queue = &self.world.queues[0];
        let assigner = Assigner {
            tree: &snapshot.tree,
            cluster_queue,
            node: snapshot.tree.cluster_queue(&cluster_queue.name).unwrap(),
            flavors: &snapshot.flavors,
            oracle: &NoPreemption,
            nominated: None,
            replaced: None,
            topologies: &self.topologies,
            policy: &self.world.policy,
        };
        assigner.assign(workload, None, None)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "an expectation is written where it is used"
    )]
    fn gives(&self, pod_sets: &[PodSet], expected: Expect) {
        let workload = workload("w").pods(pod_sets);
        let assignment = self.assign(&workload);
        let mut lines = vec![format!("{:?}", assignment.mode())];
        for pod_set in &assignment.pod_sets {
            let domains = pod_set.place.iter().flat_map(|place| &place.domains);
            let domains =
                domains.map(|domain| format!("{}={}", domain.values.join("/"), domain.count));
            let place = domains.collect::<Vec<_>>().join(" ");
            let later = if pod_set.delayed.is_some() {
                "later"
            } else {
                ""
            };
            lines.push(format!("{}: {place}{later}", pod_set.name));
        }
        if assignment.mode() != Mode::Fit {
            lines.push(messages::unassigned(&assignment));
            let reason = assignment.no_fit_reason().map(messages::no_fit_reason);
            lines.extend(reason.map(str::to_owned));
        }
        expected.assert_eq(&lines.join("\n"));
    }
}

fn asking(name: &str, count: i64, cpu: i64, request: TopologyRequest) -> PodSet {
    PodSet {
        topology: request,
        template: requests(&[("cpu", cpu)]),
        ..pod_set(name, count, &[("cpu", cpu)])
    }
}

fn required(level: &str) -> TopologyRequest {
    TopologyRequest {
        required: Some(level.to_owned()),
        ..TopologyRequest::default()
    }
}

fn one_flavor(cpu: i64) -> ClusterQueue {
    queue("q").gives("red", &[("cpu", cpu)])
}

#[test]
fn pods_are_placed_where_there_is_quota_and_room() {
    let lab = Lab::new(one_flavor(9000));
    lab.gives(
        &[asking("main", 3, 1000, required("rack"))],
        expect![[r#"
            Fit
            main: a1=2 a2=1"#]],
    );
    // Of a queue that has nothing else, pods are placed without having asked.
    lab.gives(
        &[asking("main", 1, 1000, TopologyRequest::default())],
        expect![[r#"
            Fit
            main: a1=1"#]],
    );
}

#[test]
fn quota_without_room_waits_for_others_to_leave() {
    let lab = Lab::new(one_flavor(9000))
        .taken("a1", 1000)
        .taken("b1", 2000);
    lab.gives(
        &[asking("main", 4, 1000, required("rack"))],
        expect![[r#"
            Preempt
            main: 
            couldn't assign flavors to pod set main: topology "lab" allows to fit only 3 out of 4 pod(s). Total nodes: 3; excluded: resource "cpu": 1"#]],
    );
}

#[test]
fn what_would_not_fit_into_an_empty_topology_never_fits() {
    Lab::new(one_flavor(9000)).gives(
        &[asking("main", 5, 1000, required("rack"))],
        expect![[r#"
            NoFit
            main: 
            couldn't assign flavors to pod set main: topology "lab" allows to fit only 4 out of 5 pod(s)
            TopologyPlacementFailed"#]],
    );
}

#[test]
fn pods_that_ask_for_places_pass_over_flavors_without() {
    let queue = queue("q")
        .gives("blue", &[("cpu", 9000)])
        .gives("red", &[("cpu", 9000)]);
    Lab::new(queue).gives(
        &[
            asking("placed", 1, 1000, required("rack")),
            asking("free", 1, 1000, TopologyRequest::default()),
        ],
        expect![[r#"
            Fit
            placed: b1=1
            free: "#]],
    );
}

#[test]
fn what_a_flavor_lacks_is_said() {
    let lab = Lab::new(one_flavor(9000));
    lab.gives(
        &[asking("main", 1, 1000, required("zone"))],
        expect![[r#"
            NoFit
            main: 
            couldn't assign flavors to pod set main: Flavor "red" does not contain the requested level
            NoMatchingFlavor"#]],
    );
    let unknown = Lab {
        topologies: Topologies::new(),
        ..lab
    };
    unknown.gives(
        &[asking("main", 1, 1000, required("rack"))],
        expect![[r#"
            NoFit
            main: 
            couldn't assign flavors to pod set main: Flavor "red" information missing in TAS cache
            NoMatchingFlavor"#]],
    );
}

#[test]
fn pods_cannot_be_in_two_topologies() {
    let mut queue = queue("q").gives("red", &[("cpu", 9000)]);
    queue.groups.push(crate::ResourceGroup {
        covered: vec![ResourceName::from("gpu")],
        flavors: vec![FlavorName::from("red-too")],
    });
    let quota = queue.quotas.values().next().copied().unwrap();
    queue
        .quotas
        .insert(crate::FlavorResource::new("red-too", "gpu"), quota);
    let both = PodSet {
        template: requests(&[("cpu", 1000), ("gpu", 1)]),
        topology: required("rack"),
        ..pod_set("main", 1, &[("cpu", 1000), ("gpu", 1)])
    };
    Lab::new(queue).gives(
        &[both],
        expect![[r#"
            NoFit
            main: 
            failed to assign flavors to pod set main: more than one TAS flavor assigned: red, red-too
            NoMatchingFlavor"#]],
    );
}

#[test]
fn places_wait_for_checks_that_make_them() {
    let mut queue = one_flavor(9000);
    queue.places_later = PlacesLater {
        always: false,
        until_reserved: vec![FlavorName::from("red")],
    };
    Lab::new(queue).gives(
        &[asking("main", 1, 1000, required("rack"))],
        expect![[r#"
            Fit
            main: later"#]],
    );
}

#[test]
fn pod_sets_of_a_group_are_placed_together_wherever_they_stand() {
    let grouped = |request: TopologyRequest| TopologyRequest {
        group: Some("ring".to_owned()),
        ..request
    };
    Lab::new(one_flavor(9000)).gives(
        &[
            asking("leader", 1, 1000, grouped(required("rack"))),
            asking("other", 1, 2000, required("rack")),
            asking("worker", 2, 1000, grouped(required("rack"))),
        ],
        expect![[r#"
            Fit
            leader: a1=1
            worker: a1=1 a2=1
            other: b1=1"#]],
    );
}

#[test]
fn with_the_gate_off_nobody_is_placed() {
    let mut lab = Lab::new(one_flavor(9000)).taken("a1", 2000);
    lab.world.policy.tas = false;
    lab.gives(
        &[asking("main", 9, 1000, required("rack"))],
        expect![[r#"
            Fit
            main: "#]],
    );
}

#[test]
fn only_the_pods_that_move_are_counted_anew() {
    let lab = Lab::new(one_flavor(9000));
    let at = |domains: &[(&str, i64)]| TopologyAssignment {
        levels: vec![HOSTNAME.to_owned()],
        domains: domains
            .iter()
            .map(|(node, count)| DomainAssignment {
                values: vec![(*node).to_owned()],
                count: *count,
            })
            .collect(),
    };
    let held = HeldPodSet {
        name: "main".into(),
        count: 3,
        flavors: BTreeMap::from([(ResourceName::from("cpu"), FlavorName::from("red"))]),
        requests: requests(&[("cpu", 3000)]),
        place: Some(at(&[("a1", 2), ("b1", 1)])),
        delayed: None,
    };
    let workload = Workload {
        reservation: Some(Reservation {
            pod_sets: vec![held],
            admitted: true,
            unhealthy_nodes: vec!["b1".to_owned()],
            again: true,
        }),
        ..workload("w").pods(&[asking(
            "main",
            3,
            1000,
            TopologyRequest {
                preferred: Some("rack".to_owned()),
                ..TopologyRequest::default()
            },
        )])
    };
    let lab = lab.taken("a1", 2000).taken("b1", 2000);
    let assignment = lab.assign(&workload);
    assert_eq!(assignment.mode(), Mode::Fit);
    assert_eq!(
        assignment.pod_sets[0].place,
        Some(at(&[("a1", 2), ("a2", 1)]))
    );
    let new = assignment.new_places(&workload, &lab.topologies);
    let moved = DomainRequests {
        values: vec!["a2".to_owned()],
        per_pod: requests(&[("cpu", 1000)]),
        count: 1,
    };
    assert_eq!(
        new,
        TopologyUsage::from([(FlavorName::from("red"), vec![moved])])
    );
}
