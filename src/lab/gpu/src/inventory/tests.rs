use super::{Folders, Inventory, Refusal, key, physical, replica};
use crate::config::NodeGpus;
use crate::model;

fn gpus(count: u32, replicas: u32) -> NodeGpus {
    NodeGpus {
        replicas,
        ..NodeGpus::new(model::find("a100-sxm4-80gb").unwrap(), count)
    }
}

fn inventory(count: u32, replicas: u32) -> Inventory {
    Inventory::new("gpu-1", &gpus(count, replicas)).unwrap()
}

fn ids(inventory: &Inventory) -> Vec<String> {
    inventory
        .advertised()
        .into_iter()
        .map(|one| one.id)
        .collect()
}

#[test]
fn devices_are_the_same_after_a_restart_and_others_on_another_node() {
    assert_eq!(inventory(4, 1), inventory(4, 1));
    let other = Inventory::new("gpu-2", &gpus(4, 1)).unwrap();
    let mine = ids(&inventory(4, 1));
    assert!(ids(&other).iter().all(|id| !mine.contains(id)));
    assert!(
        mine.iter()
            .all(|id| id.starts_with("GPU-") && id.len() == 40)
    );
}

#[test]
fn each_device_is_advertised_once_for_each_replica() {
    let shared = inventory(2, 3);
    let all = ids(&shared);
    assert_eq!(all.len(), 6);
    assert_eq!(physical(&all[0]), shared.devices[0].uuid);
    assert_eq!(replica(&all[2]), Some("2"));
    assert_eq!(replica(&ids(&inventory(1, 1))[0]), None);
}

#[test]
fn a_broken_device_breaks_all_its_replicas_and_no_other() {
    let mut gpus = gpus(2, 2);
    gpus.unhealthy.insert(1);
    let inventory = Inventory::new("gpu-1", &gpus).unwrap();
    let health: Vec<bool> = inventory
        .advertised()
        .iter()
        .map(|one| one.healthy)
        .collect();
    assert_eq!(health, [true, true, false, false]);
}

#[test]
fn whole_devices_are_taken_in_the_order_of_their_index() {
    let inventory = inventory(4, 1);
    let mut available = ids(&inventory);
    available.reverse();
    let expected: Vec<String> = ids(&inventory).into_iter().take(2).collect();
    assert_eq!(inventory.prefer(&available, &[], 2), expected);
}

#[test]
fn replicas_are_spread_over_devices_that_are_shared_least() {
    let inventory = inventory(2, 3);
    let all = ids(&inventory);
    // Two replicas of the first device are in use: the second device is the emptier one.
    let available = &all[2..];
    let chosen = inventory.prefer(available, &[], 3);
    let devices: Vec<&str> = chosen.iter().map(|id| physical(id)).collect();
    let (first, second) = (&inventory.devices[0].uuid, &inventory.devices[1].uuid);
    assert_eq!(devices, [second, second, first]);
}

#[test]
fn what_must_be_included_is_and_no_more_is_promised_than_there_is() {
    let inventory = inventory(3, 1);
    let all = ids(&inventory);
    let must = vec![all[2].clone()];
    assert_eq!(
        inventory.prefer(&all, &must, 2),
        [all[2].clone(), all[0].clone()]
    );
    assert_eq!(inventory.prefer(&all, &[], 9).len(), 3);
}

#[test]
fn a_container_sees_its_devices_and_nothing_else() {
    let inventory = inventory(4, 1);
    let all = ids(&inventory);
    let asked = vec![all[2].clone(), all[1].clone()];
    let grant = inventory.grant(&asked, &Folders::new("/g")).unwrap();
    let (one, two) = (&inventory.devices[1].uuid, &inventory.devices[2].uuid);
    assert_eq!(grant.envs["NVIDIA_VISIBLE_DEVICES"], format!("{one},{two}"));
    let mounts: Vec<_> = grant
        .mounts
        .iter()
        .map(|m| (m.inside.clone(), m.read_only))
        .collect();
    assert_eq!(
        mounts,
        [
            (format!("/run/nvidia/devices/{one}"), true),
            (format!("/run/nvidia/devices/{two}"), true),
            ("/run/atelier-gpu".to_owned(), false),
            ("/usr/bin/nvidia-smi".to_owned(), true),
        ]
    );
}

#[test]
fn two_replicas_of_one_device_are_one_device_to_the_container_and_two_allocations_to_us() {
    let inventory = inventory(1, 4);
    let all = ids(&inventory);
    let folders = Folders::new("/g");
    let both = inventory.grant(&all[..2], &folders).unwrap();
    assert_eq!(
        both.envs["NVIDIA_VISIBLE_DEVICES"],
        inventory.devices[0].uuid
    );
    let other = inventory.grant(&all[2..3], &folders).unwrap();
    assert_ne!(both.key, other.key);
    assert!(!both.key.contains(':'), "{} names a folder", both.key);
}

#[test]
fn what_is_not_there_is_refused() {
    let inventory = inventory(1, 1);
    let refused = |id: &str| {
        inventory
            .grant(&[id.to_owned()], &Folders::new("/g"))
            .unwrap_err()
    };
    assert_eq!(refused("GPU-x"), Refusal::Unknown("GPU-x".to_owned()));
    // A replica of a device that is not shared: left over from another configuration.
    let old = format!("{}::0", inventory.devices[0].uuid);
    assert_eq!(refused(&old), Refusal::Unknown(old.clone()));
    assert_eq!(
        inventory.grant(&[], &Folders::new("/g")),
        Err(Refusal::Nothing)
    );
}

#[test]
fn several_replicas_are_refused_where_the_configuration_says_so() {
    let strict = NodeGpus {
        fail_requests_greater_than_one: true,
        ..gpus(1, 4)
    };
    let inventory = Inventory::new("gpu-1", &strict).unwrap();
    let all = ids(&inventory);
    let folders = Folders::new("/g");
    assert_eq!(
        inventory.grant(&all[..2], &folders),
        Err(Refusal::SeveralReplicas(2))
    );
    assert!(inventory.grant(&all[..1], &folders).is_ok());
}

#[test]
fn the_key_does_not_depend_on_the_order_of_ids() {
    let (one, two) = ("GPU-a::1".to_owned(), "GPU-a::0".to_owned());
    assert_eq!(key(&[one.clone(), two.clone()]), key(&[two, one]));
}
