use std::time::Duration;

use super::{CpuSample, Holder, Owner, Process, Source, Work, busy, readings, reported};
use crate::config::NodeGpus;
use crate::inventory::Inventory;
use crate::model;

fn sample(at: u64, used_ms: u64, limit: Option<f64>) -> CpuSample {
    CpuSample {
        at: Duration::from_secs(at),
        used: Duration::from_millis(used_ms),
        limit,
    }
}

#[test]
fn utilisation_is_the_share_of_one_core_or_of_a_smaller_limit() {
    let table = [
        ("idle", 0, None, 0.0),
        ("half a core", 1000, None, 0.5),
        ("one core", 2000, None, 1.0),
        ("two cores show as full", 4000, None, 1.0),
        ("half a core of half a core", 1000, Some(0.5), 1.0),
        ("half a core of four", 1000, Some(4.0), 0.5),
    ];
    for (name, used, limit, expected) in table {
        let got = busy(sample(10, 500, limit), sample(12, 500 + used, limit)).unwrap();
        assert!((got - expected).abs() < 1e-9, "{name}: {got}");
    }
}

#[test]
fn a_process_that_ends_is_no_negative_work_and_no_time_is_no_share() {
    assert_eq!(busy(sample(1, 900, None), sample(2, 100, None)), Some(0.0));
    assert_eq!(busy(sample(2, 0, None), sample(2, 100, None)), None);
    assert_eq!(busy(sample(3, 0, None), sample(2, 100, None)), None);
}

#[test]
fn a_report_counts_while_it_is_fresh_and_is_what_it_should_be() {
    let fresh = Duration::from_secs(3);
    let work = reported(r#"{"utilisation": 9, "memory_mib": 700}"#, fresh, 5).unwrap();
    assert_eq!(
        (work.busy, work.memory_mib, work.source),
        (0.09, 700, Source::Reported)
    );
    assert_eq!(
        reported(r#"{"utilisation": 250}"#, fresh, 5).unwrap().busy,
        1.0
    );
    assert_eq!(
        reported(r#"{"utilisation": 50}"#, fresh, 5)
            .unwrap()
            .memory_mib,
        5
    );
    assert_eq!(
        reported(r#"{"utilisation": 50}"#, Duration::from_secs(60), 5),
        None
    );
    assert_eq!(reported(r#"{"utilis"#, fresh, 5), None);
}

fn inventory(replicas: u32) -> Inventory {
    let mut gpus = NodeGpus::new(model::find("a100-sxm4-80gb").unwrap(), 2);
    gpus.replicas = replicas;
    Inventory::new("gpu-1", &gpus).unwrap()
}

fn holder(pod: &str, ids: &[String], busy: f64, memory_mib: u64) -> Holder {
    Holder {
        owner: Some(Owner {
            namespace: "equipe-vision".to_owned(),
            pod: pod.to_owned(),
            container: "main".to_owned(),
        }),
        ids: ids.to_vec(),
        work: Work {
            busy,
            memory_mib,
            source: Source::Measured,
        },
        processes: vec![Process {
            pid: 7,
            name: "python3 chiffres.py".to_owned(),
            memory_mib,
        }],
    }
}

#[test]
fn a_device_shows_what_its_holder_does_and_the_other_one_stays_idle() {
    let inventory = inventory(1);
    let ids = vec![inventory.devices[0].uuid.clone()];
    let all = readings(&inventory, &[holder("chiffres", &ids, 0.5, 900)]);
    let (held, free) = (&all[0], &all[1]);
    assert_eq!(
        (held.utilisation, held.memory_used_mib, held.clock_mhz),
        (50, 900, 1410)
    );
    assert_eq!(held.owners[0].0.pod, "chiffres");
    assert!(held.watts > free.watts && held.watts < f64::from(held.watts_limit));
    assert_eq!(
        (free.utilisation, free.memory_used_mib, free.clock_mhz),
        (0, 0, 210)
    );
    assert_eq!((free.source, held.source), (Source::Idle, Source::Measured));
}

#[test]
fn those_who_share_a_device_add_up_to_a_full_one() {
    let inventory = inventory(2);
    let id = |replica: u32| vec![format!("{}::{replica}", inventory.devices[0].uuid)];
    let both = [
        holder("a", &id(0), 0.7, 60_000),
        holder("b", &id(1), 0.6, 60_000),
    ];
    let all = readings(&inventory, &both);
    assert_eq!((all[0].utilisation, all[0].memory_used_mib), (100, 81_920));
    let replicas: Vec<_> = all[0]
        .owners
        .iter()
        .map(|(o, r)| (o.pod.as_str(), r.as_deref()))
        .collect();
    assert_eq!(replicas, [("a", Some("0")), ("b", Some("1"))]);
}

#[test]
fn a_broken_device_does_no_work_whatever_its_holder_does() {
    let mut inventory = inventory(1);
    inventory.devices[0].healthy = false;
    let ids = vec![inventory.devices[0].uuid.clone()];
    let all = readings(&inventory, &[holder("chiffres", &ids, 1.0, 900)]);
    assert_eq!((all[0].utilisation, all[0].healthy), (0, false));
}
