use std::time::Duration;

use tokio::time::Instant;

use super::{Bucket, Limit, LimitLayer, kind_of};

#[test]
fn a_burst_goes_out_at_once_and_the_rest_evenly() {
    let limit = Limit {
        qps: 50.0,
        burst: 3.0,
    };
    let start = Instant::now();
    let mut bucket = Bucket::full(limit, start);
    let waits: Vec<u128> = (0..5)
        .map(|_| bucket.take(limit, start).as_millis())
        .collect();
    assert_eq!(waits, [0, 0, 0, 20, 40]);
    // Two were taken of the future; after a second the bucket is full again, and not fuller.
    let later = start + Duration::from_secs(1);
    let waits: Vec<u128> = (0..4)
        .map(|_| bucket.take(limit, later).as_millis())
        .collect();
    assert_eq!(waits, [0, 0, 0, 20]);
}

#[test]
fn each_kind_has_its_own() {
    let cases = [
        (
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/n/workloads/w/status",
            Some(("kueue.x-k8s.io", "workloads")),
        ),
        (
            "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q/status",
            Some(("kueue.x-k8s.io", "clusterqueues")),
        ),
        ("/api/v1/namespaces/n/pods/p", Some(("", "pods"))),
        ("/api/v1/namespaces", Some(("", "namespaces"))),
        ("/apis/coordination.k8s.io/v1/namespaces/n/leases/l", None),
        ("/version", None),
    ];
    for (path, want) in cases {
        assert_eq!(kind_of(path), want, "{path}");
    }
}

#[test]
fn a_negative_number_is_no_limit() {
    assert!(LimitLayer::new(-1.0, 500).is_none());
    assert!(LimitLayer::new(0.5, 0).is_some());
}
