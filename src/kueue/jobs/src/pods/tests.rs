//! Shapes, roles and gates of pods.

mod groups;
mod webhooks;

use super::*;

fn pod(value: Value) -> Pod {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_gate_is_there_once() {
    let mut spec = PodSpec::default();
    assert!(gate(&mut spec, "a/b"));
    assert!(!gate(&mut spec, "a/b"));
    assert!(!ungate(&mut spec, "c/d"));
    assert!(ungate(&mut spec, "a/b"));
    assert_eq!(spec, PodSpec::default());
}

#[test]
fn roles_follow_what_decides_a_place() {
    let spec = |value: Value| -> PodSpec { serde_json::from_value(value).unwrap() };
    let role = |value: Value| role(&spec(value));
    let plain = json!({"containers": [{"name": "c", "image": "one"}]});
    let other_image = json!({"containers": [{"name": "d", "image": "two"}]});
    let larger = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
    assert_eq!(role(plain.clone()), role(other_image));
    assert_ne!(role(plain.clone()), role(larger));
    assert_eq!(role(plain).len(), 8);
}

#[test]
fn an_index_is_a_number_below_its_bound() {
    let labelled = |value: &str| {
        pod(json!({"metadata": {"labels": {"i": value}}, "spec": {"containers": []}}))
    };
    assert_eq!(index(&labelled("3"), "i", 4), Ok(3));
    assert!(matches!(
        index(&labelled("4"), "i", 4),
        Err(IndexError::TooLarge { .. })
    ));
    assert!(matches!(
        index(&labelled("x"), "i", 4),
        Err(IndexError::NotANumber(_))
    ));
    assert!(matches!(
        index(&labelled("3"), "j", 4),
        Err(IndexError::Missing(_))
    ));
}
