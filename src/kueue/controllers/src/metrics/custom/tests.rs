use kueue_api::ObjectMeta;

use super::{Custom, values};

fn custom(key: &str, annotation: bool, tracked: &[&str]) -> Custom {
    Custom {
        label: "custom_team",
        key: key.to_owned(),
        annotation,
        tracked: tracked.iter().map(|&value| value.to_owned()).collect(),
    }
}

#[test]
fn values_come_from_labels_or_annotations() {
    let pair = |value: &str| Some([("team".to_owned(), value.to_owned())].into());
    let meta = ObjectMeta {
        labels: pair("vision"),
        annotations: pair("sound"),
        ..ObjectMeta::default()
    };
    let cases = [
        (custom("team", false, &[]), Some(&meta), "vision"),
        (custom("team", true, &[]), Some(&meta), "sound"),
        (custom("other", false, &[]), Some(&meta), ""),
        (custom("team", false, &["vision"]), Some(&meta), "vision"),
        (
            custom("team", false, &["sound"]),
            Some(&meta),
            "kueue.x-k8s.io/_UNTRACKED_VALUE_",
        ),
        (custom("team", false, &[]), None, ""),
    ];
    for (custom, meta, want) in cases {
        assert_eq!(
            values(std::slice::from_ref(&custom), meta),
            [("custom_team", want.to_owned())],
            "{custom:?}"
        );
    }
}
