use super::{Page, PendingMeta, PendingWorkload, PendingWorkloadsSummary};

fn page(offset: usize, limit: usize) -> Page {
    Page { offset, limit }
}

#[test]
fn pages_have_a_beginning_and_an_end() {
    let cases = [
        (None, None, page(0, 1000)),
        (Some("2"), Some("1"), page(2, 1)),
        (Some("-2"), Some("-1"), page(0, 0)),
        (None, Some("0"), page(0, 1000)),
        (None, Some("9999999999"), page(0, 100_000)),
        (
            Some("9223372036854775807"),
            None,
            page(usize::MAX / 2, 1000),
        ),
    ];
    for (offset, limit, want) in cases {
        assert_eq!(Page::read(offset, limit), Ok(want), "{offset:?} {limit:?}");
    }
    assert_eq!(Page::read(Some("x"), None), Err(("offset", "x")));
    assert_eq!(
        Page::read(None, Some("9223372036854775808")),
        Err(("limit", "9223372036854775808"))
    );
}

#[test]
fn an_answer_has_the_shape_of_the_reference() {
    let owner = r#"{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"1","controller":true,"blockOwnerDeletion":true}"#;
    let meta = format!(
        r#"{{"name":"w","namespace":"reef","uid":"u","labels":{{"a":"b"}},"creationTimestamp":"2026-11-30T20:00:00Z","ownerReferences":[{owner}]}}"#
    );
    let item = PendingWorkload {
        metadata: PendingMeta::of(&serde_json::from_str(&meta).unwrap()),
        priority: -3,
        local_queue_name: "lq".to_owned(),
        position_in_cluster_queue: 4,
        position_in_local_queue: 0,
    };
    let text = serde_json::to_string(&PendingWorkloadsSummary::new("v1beta1", vec![item])).unwrap();
    assert_eq!(
        text,
        r#"{"kind":"PendingWorkloadsSummary","apiVersion":"visibility.kueue.x-k8s.io/v1beta1","metadata":{},"items":[{"metadata":{"name":"w","namespace":"reef","creationTimestamp":"2026-11-30T20:00:00Z","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"1"}]},"priority":-3,"localQueueName":"lq","positionInClusterQueue":4,"positionInLocalQueue":0}]}"#
    );
}
