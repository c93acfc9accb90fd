use super::{CustomLabel, check};

fn label(name: &str) -> CustomLabel {
    CustomLabel {
        name: name.to_owned(),
        ..CustomLabel::default()
    }
}

#[test]
fn a_label_says_where_its_value_comes_from() {
    assert_eq!(label("team").source(), ("team", false));
    let of_label = CustomLabel {
        source_label_key: "org/team".to_owned(),
        ..label("team")
    };
    assert_eq!(of_label.source(), ("org/team", false));
    let of_annotation = CustomLabel {
        source_annotation_key: "org/team".to_owned(),
        ..label("team")
    };
    assert_eq!(of_annotation.source(), ("org/team", true));
    assert_eq!(label("team").kind(), "ClusterQueue");
}

#[test]
fn too_many_labels_are_named_once() {
    let many: Vec<_> = (0..21).map(|i| label(&format!("c{i}"))).collect();
    let texts: Vec<String> = check(&many).iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "metrics.customLabels: Too many: 21: must have at most 20 items",
            "metrics.customLabels: Invalid value: 21: too many custom labels for source kind ClusterQueue: found 21, expected <= 6",
        ]
    );
}
