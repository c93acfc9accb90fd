//! Whatever the world and the request: what is promised is there, and what is refused is not.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{ask, search, world};
use crate::topology::AssumedUsage;

type Hosts = Vec<(u8, u8, i64)>;

fn hosts() -> impl Strategy<Value = Hosts> {
    prop::collection::vec((0..3_u8, 0..3_u8, 0..7_i64), 1..14)
}

fn text(hosts: &Hosts) -> String {
    let lines = hosts.iter().enumerate();
    let lines = lines.map(|(host, (block, rack, cpus))| format!("b{block} r{rack} x{host} {cpus}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Room by the domain of each level.
fn sums(hosts: &Hosts, of: impl Fn(usize) -> i64) -> [BTreeMap<String, i64>; 3] {
    let mut sums = [BTreeMap::new(), BTreeMap::new(), BTreeMap::new()];
    for (host, (block, rack, _)) in hosts.iter().enumerate() {
        let names = [
            format!("{block}"),
            format!("{block}/{rack}"),
            format!("x{host}"),
        ];
        for (level, name) in names.into_iter().enumerate() {
            *sums[level].entry(name).or_default() += of(host);
        }
    }
    sums
}

const LEVELS: [&str; 3] = ["block", "rack", "host"];

proptest! {
    #[test]
    fn placed_pods_have_room_and_refused_ones_have_none(
        hosts in hosts(),
        count in 1..20_i64,
        level in 0..3_usize,
        slice in 1..4_i64,
        slice_level in 0..3_usize,
        how in 0..3_usize,
        leader in any::<bool>(),
        gates in prop::sample::select(vec!["", "balanced", "no-mixed"]),
    ) {
        let slice_level = slice_level.max(level);
        let count = count * slice;
        let how = ["required", "preferred", "anywhere"][how];
        let mut sentence = match how {
            "anywhere" => format!("{count} anywhere"),
            how => format!("{count} {how} {}", LEVELS[level]),
        };
        if slice > 1 && how != "anywhere" {
            let level = LEVELS[slice_level];
            sentence = format!("{sentence} slices of {slice} per {level}");
        }
        let sliced = sentence.contains("slices");
        let mut requests = vec![ask("workers", &format!("{sentence} with g"))];
        // A pod set of one pod beside one of one: whichever leads, it is the same.
        if leader && count > 1 {
            requests.push(ask("leader", &format!("{} with g", sentence.replacen(&count.to_string(), "1", 1))));
        }
        let snapshot = world(&text(&hosts));
        let found = snapshot.find(&requests, &mut AssumedUsage::new(), &search(gates));
        prop_assert_eq!(&found, &snapshot.find(&requests, &mut AssumedUsage::new(), &search(gates)));
        let room = |host: usize| hosts[host].2;
        let Ok(placed) = found else {
            // Without slices, or with slices of hosts, the answer is plain arithmetic. The leader is as big as a worker.
            let lead = i64::try_from(requests.len()).unwrap() - 1;
            if sliced && (slice_level < 2 || lead > 0) {
                return Ok(());
            }
            let size = if sliced { slice } else { 1 };
            let whole = sums(&hosts, |host| room(host) / size * size);
            let most = match how {
                "required" => whole[level].values().copied().max().unwrap_or(0),
                _ => whole[2].values().sum(),
            };
            prop_assert!(most - lead < count, "{most} would have fit");
            return Ok(());
        };
        let mut used: BTreeMap<usize, i64> = BTreeMap::new();
        for (name, assignment) in &placed {
            let want = if name.as_str() == "leader" { 1 } else { count };
            prop_assert_eq!(assignment.pods(), want);
            for domain in &assignment.domains {
                let host = domain.values[0][1..].parse().unwrap();
                *used.entry(host).or_default() += domain.count;
            }
        }
        for (host, used) in &used {
            prop_assert!(*used <= room(*host), "x{host} has {} and receives {used}", room(*host));
        }
        let by_level = sums(&hosts, |host| used.get(&host).copied().unwrap_or(0));
        if how == "required" {
            prop_assert_eq!(by_level[level].values().filter(|used| **used > 0).count(), 1);
        }
        if sliced && requests.len() == 1 {
            prop_assert!(by_level[slice_level].values().all(|used| used % slice == 0));
        }
    }
}
