use super::render;
use crate::config::NodeGpus;
use crate::inventory::Inventory;
use crate::model;
use crate::usage::{Holder, Owner, Source, Work, readings};

fn page(replicas: u32, holders: &[(&str, u32, u32)]) -> String {
    let mut gpus = NodeGpus::new(model::find("a100-sxm4-80gb").unwrap(), 2);
    gpus.replicas = replicas;
    gpus.unhealthy.insert(1);
    let inventory = Inventory::new("gpu-1", &gpus).unwrap();
    let holder = |(pod, device, replica): &(&str, u32, u32)| {
        let id = (device * replicas + replica) as usize;
        Holder {
            owner: Some(Owner {
                namespace: "equipe-vision".to_owned(),
                pod: (*pod).to_owned(),
                container: "main".to_owned(),
            }),
            ids: vec![inventory.advertised()[id].id.clone()],
            work: Work {
                busy: 0.5,
                memory_mib: 500,
                source: Source::Measured,
            },
            processes: vec![],
        }
    };
    let holders: Vec<Holder> = holders.iter().map(holder).collect();
    render(&readings(&inventory, &holders))
}

fn lines<'a>(page: &'a str, metric: &str) -> Vec<&'a str> {
    page.lines()
        .filter(|line| line.starts_with(&format!("{metric}{{")))
        .collect()
}

#[test]
fn a_device_carries_the_labels_of_the_pod_that_holds_it() {
    let page = page(1, &[("chiffres", 0, 0)]);
    let lines = lines(&page, "DCGM_FI_DEV_GPU_UTIL");
    assert_eq!(lines.len(), 2);
    for label in [
        "gpu=\"0\"",
        "modelName=\"NVIDIA A100-SXM4-80GB\"",
        "Hostname=\"gpu-1\"",
        "namespace=\"equipe-vision\"",
        "pod=\"chiffres\"",
        "container=\"main\"",
        "source=\"measured\"",
        "UUID=\"GPU-",
    ] {
        assert!(lines[0].contains(label), "{label} in {}", lines[0]);
    }
    assert!(lines[0].ends_with("} 50"), "{}", lines[0]);
    assert!(
        !lines[1].contains("pod=") && lines[1].ends_with("} 0"),
        "{}",
        lines[1]
    );
}

#[test]
fn memory_power_and_errors_are_there_with_their_types() {
    let page = page(1, &[("chiffres", 0, 0)]);
    assert!(lines(&page, "DCGM_FI_DEV_FB_USED")[0].ends_with("} 500"));
    assert!(lines(&page, "DCGM_FI_DEV_FB_FREE")[0].ends_with("} 81420"));
    assert!(lines(&page, "DCGM_FI_DEV_POWER_USAGE")[1].ends_with("} 58"));
    assert!(lines(&page, "DCGM_FI_DEV_XID_ERRORS")[1].ends_with("} 79"));
    let types = page
        .lines()
        .filter(|line| line.starts_with("# TYPE DCGM_") && line.ends_with(" gauge"));
    assert_eq!(types.count(), 8);
}

#[test]
fn each_pod_of_a_shared_device_has_a_series_of_its_own() {
    let page = page(2, &[("a", 0, 0), ("b", 0, 1)]);
    let lines = lines(&page, "DCGM_FI_DEV_GPU_UTIL");
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains("pod=\"a\",vgpu=\"0\"") && lines[1].contains("pod=\"b\",vgpu=\"1\""));
}
