//! A node fails, and only its pods move.

use super::{ask, outcome, search, world};
use crate::topology::{
    AssumedUsage, DomainAssignment, HOSTNAME, Search, TopologyAssignment, Unhealthy,
};

const HOSTS: &str = "
    b1 r1 x1 4
    b1 r1 x2 4
    b1 r2 x3 4
    b1 r2 x4 4
    b2 r1 x5 9
";

/// `x1:2 x2:1`.
pub(super) fn on(text: &str) -> TopologyAssignment {
    let domain = |word: &str| {
        let (host, count) = word.split_once(':').unwrap();
        DomainAssignment {
            values: vec![host.to_owned()],
            count: count.parse().unwrap(),
        }
    };
    TopologyAssignment {
        levels: vec![HOSTNAME.to_owned()],
        domains: text.split_whitespace().map(domain).collect(),
    }
}

fn replace(node: &str, current: &str, sentence: &str, keep: bool) -> String {
    let mut snapshot = world(HOSTS);
    let mut request = ask("main", sentence);
    let current = on(current);
    snapshot.take(&current.requests(&request.per_pod));
    request.current = Some(current);
    let search = Search {
        unhealthy: Some(Unhealthy {
            node: node.to_owned(),
            keep,
        }),
        ..search("")
    };
    outcome(&snapshot.find(&[request], &mut AssumedUsage::new(), &search))
}

#[test]
fn the_lost_pods_stay_in_the_required_domain() {
    for (name, node, current, sentence, want) in [
        (
            "same rack",
            "gone",
            "gone:2 x1:4",
            "6 required rack",
            "main x1:4 x2:2",
        ),
        (
            "joins a host it is on",
            "gone",
            "gone:2 x1:2",
            "4 required rack",
            "main x1:4",
        ),
        (
            "anywhere if preferred",
            "gone",
            "gone:5 x1:4",
            "9 preferred rack",
            "main x1:4 x3:4 x4:1",
        ),
        (
            "anywhere if all is lost",
            "gone",
            "gone:9",
            "9 required host",
            "main x5:9",
        ),
        (
            "no room in the rack",
            "gone",
            "gone:2 x1:4 x2:4",
            "10 required rack",
            "topology \"default\" doesn't allow to fit any of 2 pod(s). Total nodes: 5; excluded: resource \"cpu\": 2, topologyDomain: 3",
        ),
        (
            "another domain is gone too",
            "gone",
            "gone:2 away:2",
            "4 required rack",
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the stale domain away",
        ),
        (
            "nothing to replace",
            "other",
            "x1:2",
            "2 required rack",
            "cannot find replacement assignment for unhealthy node: other",
        ),
    ] {
        assert_eq!(replace(node, current, sentence, false), want, "{name}");
    }
}

#[test]
fn a_broken_slice_is_mended_where_it_is() {
    for (name, current, sentence, want) in [
        (
            "the other half is in r2",
            "x1:2 x2:2 gone:2 x3:2",
            "8 required block slices of 4 per rack",
            "main x1:2 x2:2 x3:4",
        ),
        (
            "a whole slice may go to another rack",
            "gone:4 x1:4",
            "8 required block slices of 4 per rack",
            "main x1:4 x2:4",
        ),
        (
            "the innermost layer that is broken decides",
            "x1:2 x2:1 gone:1",
            "4 required block slices of 4 per rack of 2 per host",
            "main x1:2 x2:2",
        ),
    ] {
        let got = replace("gone", current, sentence, false);
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn a_single_pod_keeps_its_place() {
    let place = |keep| replace("gone", "gone:1", "1 required host", keep);
    assert_eq!(place(true), "main gone:1");
    assert_eq!(place(false), "main x1:1");
}
