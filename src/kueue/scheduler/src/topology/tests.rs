//! Placement in small worlds written as text. A world is a list of hosts: `block rack host cpus`, then labels `key=value` and taints `!key=value`.
//! A request is a sentence: `8 required rack slices of 4 per rack of 2 per host`; each pod asks for one cpu.

mod choosing;
mod growing;
mod random;
mod refusing;
mod replacing;

use std::fmt::Write as _;
use std::sync::Arc;

use quantity::{Amount, Requests, ResourceName};

use super::*;
use crate::labels::{Effect, Labels, Taint};
use crate::messages::unplaced;
use crate::names::PodSetName;

pub(super) fn levels() -> Vec<String> {
    ["block", "rack", HOSTNAME].map(str::to_owned).to_vec()
}

fn level(word: &str) -> String {
    if word == "host" { HOSTNAME } else { word }.to_owned()
}

pub(super) fn cpus(count: i64) -> Requests {
    [(ResourceName::from("cpu"), Amount::new(count * 1000))]
        .into_iter()
        .collect()
}

fn node(line: &str) -> Arc<Node> {
    let mut words = line.split_whitespace();
    let mut next = || words.next().unwrap();
    let (block, rack, host, cpu) = (next(), next(), next(), next());
    let mut labels = Labels::from([
        ("block".to_owned(), block.to_owned()),
        ("rack".to_owned(), rack.to_owned()),
        (HOSTNAME.to_owned(), host.to_owned()),
    ]);
    let mut taints = Vec::new();
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        match key.strip_prefix('!') {
            Some(key) => taints.push(Taint {
                key: key.to_owned(),
                value: value.to_owned(),
                effect: Effect::NoSchedule,
            }),
            None => {
                labels.insert(key.to_owned(), value.to_owned());
            }
        }
    }
    let mut allocatable = cpus(cpu.parse().unwrap());
    allocatable.set(ResourceName::pods(), Amount::new(100));
    Arc::new(Node {
        name: host.into(),
        labels,
        taints,
        allocatable,
    })
}

/// The hosts of a text, nothing on them.
pub(super) fn world(text: &str) -> Snapshot {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let nodes: Vec<_> = lines.map(node).collect();
    Snapshot::new("default", Arc::new(Tree::build(&levels(), &nodes)), &[])
}

/// A request as a sentence.
pub(super) fn ask(name: &str, sentence: &str) -> PodSetRequest {
    let words: Vec<_> = sentence.split_whitespace().collect();
    let mut request =
        PodSetRequest::new(PodSetName::from(name), words[0].parse().unwrap(), cpus(1));
    let asked = &mut request.request;
    for (at, word) in words.iter().enumerate() {
        let next = || words[at + 1];
        match *word {
            "required" => asked.required = Some(level(next())),
            "preferred" => asked.preferred = Some(level(next())),
            "anywhere" => asked.unconstrained = Some(true),
            "of" => asked.slices.push(SliceConstraint {
                size: next().parse().unwrap(),
                level: level(words[at + 3]),
            }),
            "cpus" => request.per_pod = cpus(next().parse().unwrap()),
            "with" => asked.group = Some(next().to_owned()),
            _ => {}
        }
    }
    request
}

/// Gates by their short names.
pub(super) fn search(gates: &str) -> Search {
    Search {
        gates: Gates {
            profile_mixed: !gates.contains("no-mixed"),
            balanced_placement: gates.contains("balanced"),
            respect_node_affinity_preferred: gates.contains("affinity"),
            elastic_jobs: gates.contains("elastic"),
        },
        ..Search::default()
    }
}

/// `x1:2 x2:1`.
pub(super) fn text(assignment: &TopologyAssignment) -> String {
    let domains = assignment.domains.iter();
    let domains = domains.map(|one| format!("{}:{}", one.values.join("/"), one.count));
    domains.collect::<Vec<_>>().join(" ")
}

/// What came of it, one line: the places of each pod set, then why one of them has none.
pub(super) fn outcome(found: &Result<Vec<(PodSetName, TopologyAssignment)>, Failure>) -> String {
    let mut line = String::new();
    let placed = match found {
        Ok(placed) => placed,
        Err(failure) => &failure.placed,
    };
    for (name, assignment) in placed {
        let _ = write!(line, "{name} {}; ", text(assignment));
    }
    if let Err(failure) = found {
        let _ = write!(line, "{}; ", unplaced(&failure.reason));
    }
    line.trim_end_matches("; ").to_owned()
}

/// The outcome for requests named by the part before the colon; one without a name is `main`.
pub(super) fn place(snapshot: &Snapshot, sentences: &[&str], gates: &str) -> String {
    let requests: Vec<_> = sentences
        .iter()
        .map(|sentence| match sentence.split_once(": ") {
            Some((name, rest)) => ask(name, rest),
            None => ask("main", sentence),
        })
        .collect();
    outcome(&snapshot.find(&requests, &mut AssumedUsage::new(), &search(gates)))
}

/// A named case: gates, requests, what comes of them.
pub(super) type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
);

pub(super) fn check(snapshot: &Snapshot, rows: &[Row]) {
    let mut wrong = Vec::new();
    for (name, gates, requests, want) in rows {
        let got = place(snapshot, requests, gates);
        if got != *want {
            wrong.push(format!("{name}\n  decided:  {got}\n  expected: {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_tree_orders_domains_by_path_and_finds_leaves_by_host() {
    let snapshot = world("b2 r1 x9 1\nb1 r2 x3 1\nb1 r1 x7 1\nb1 r1 x2 1");
    let tree = snapshot.tree();
    let hosts: Vec<_> = tree
        .leaves()
        .map(|leaf| tree.leaf_values(leaf).join("/"))
        .collect();
    assert_eq!(hosts, ["x2", "x7", "x3", "x9"]);
    assert_eq!(tree.at_level(0).len(), 2);
    assert_eq!(tree.at_level(1).len(), 3);
    assert_eq!(tree.find_leaf(&["x3"]), Some(2));
    assert_eq!(tree.find_leaf(&["b1", "r2", "x3"]), None);
    assert_eq!(tree.find_leaf(&["b1"]), None);
}

#[test]
fn leaves_above_hosts_sum_up_their_nodes() {
    let lines = ["b1 r1 x1 3", "b1 r1 x2 4", "b1 r2 x3 1"];
    let nodes = lines.map(node);
    let racks = Arc::new(Tree::build(&levels()[..2], &nodes));
    let mut snapshot = Snapshot::new("racks", racks, &[]);
    assert_eq!(place(&snapshot, &["7 required rack"], ""), "main b1/r1:7");
    let used = DomainRequests {
        values: vec!["b1".into(), "r1".into()],
        per_pod: cpus(1),
        count: 2,
    };
    snapshot.take(std::slice::from_ref(&used));
    assert_eq!(
        place(&snapshot, &["7 required rack"], ""),
        "topology \"racks\" allows to fit only 5 out of 7 pod(s)"
    );
    snapshot.give_back(&[used]);
    assert_eq!(place(&snapshot, &["7 required rack"], ""), "main b1/r1:7");
}

#[test]
fn usage_is_taken_and_given_back_without_touching_a_clone() {
    let mut snapshot = world("b1 r1 x1 4");
    let before = snapshot.clone();
    let taken = [DomainRequests {
        values: vec!["x1".into()],
        per_pod: cpus(1),
        count: 3,
    }];
    assert!(snapshot.fits(&taken));
    snapshot.take(&taken);
    assert!(!snapshot.fits(&taken));
    assert!(before.fits(&taken));
    snapshot.give_back(&taken);
    assert!(snapshot.fits(&taken));
    assert!(!snapshot.fits(&[DomainRequests {
        values: vec!["gone".into()],
        per_pod: cpus(1),
        count: 1,
    }]));
}

#[test]
fn pods_of_others_count_even_on_an_empty_cluster() {
    let mut snapshot = world("b1 r1 x1 4\nb1 r1 x2 4");
    let mut foreign = cpus(3);
    foreign.set(ResourceName::pods(), Amount::new(1));
    assert!(snapshot.subtract_foreign("x1", &foreign));
    assert!(!snapshot.subtract_foreign("elsewhere", &foreign));
    let own = [DomainRequests {
        values: vec!["x2".into()],
        per_pod: cpus(1),
        count: 4,
    }];
    snapshot.take(&own);
    let request = [ask("main", "4 required host")];
    let empty = Search {
        empty: true,
        ..Search::default()
    };
    let find =
        |search: &Search| outcome(&snapshot.find(&request, &mut AssumedUsage::new(), search));
    assert_eq!(find(&empty), "main x2:4");
    assert_eq!(
        find(&Search::default()),
        "topology \"default\" allows to fit only 1 out of 4 pod(s). Total nodes: 2; excluded: resource \"cpu\": 1"
    );
}
