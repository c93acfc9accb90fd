use super::{find, names};

#[test]
fn labels_are_those_of_gpu_feature_discovery() {
    let labels = find("a100-sxm4-80gb").unwrap().labels(4, 1);
    let label = |name: &str| {
        labels
            .get(&format!("nvidia.com/{name}"))
            .map(String::as_str)
    };
    assert_eq!(label("gpu.product"), Some("NVIDIA-A100-SXM4-80GB"));
    assert_eq!(label("gpu.count"), Some("4"));
    assert_eq!(label("gpu.memory"), Some("81920"));
    assert_eq!(label("gpu.replicas"), Some("1"));
    assert_eq!(label("gpu.sharing-strategy"), Some("none"));
    assert_eq!(label("cuda.driver-version.major"), Some("580"));
}

#[test]
fn sharing_shows_in_the_labels_and_the_count_stays_that_of_the_cards() {
    let labels = find("v100-sxm2-32gb").unwrap().labels(2, 4);
    let label = |name: &str| {
        labels
            .get(&format!("nvidia.com/{name}"))
            .map(String::as_str)
    };
    assert_eq!(label("gpu.product"), Some("Tesla-V100-SXM2-32GB-SHARED"));
    assert_eq!(label("gpu.count"), Some("2"));
    assert_eq!(label("gpu.replicas"), Some("4"));
    assert_eq!(label("gpu.sharing-strategy"), Some("time-slicing"));
}

#[test]
fn a_model_that_is_not_there_is_not_found_and_the_others_are_named() {
    assert!(find("rtx-9090").is_none());
    assert_eq!(names(), "a100-sxm4-80gb, v100-sxm2-32gb, h100-sxm5-80gb");
}
