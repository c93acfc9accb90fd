//! Order, cause, count.

use super::check;
use crate::world::{Is, World, done};
use serde_json::json;

#[test]
fn order_of_one_job() {
    check(
        "order: [{ job: a, becomes: queued }, { job: a, becomes: quota-reserved }, { job: a, becomes: admitted }, { job: a, becomes: started }]",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            ("queued", |w| done(w.queues("a")), "waiting still-queued"),
            (
                "all of it",
                |w| done(w.queues("a").admits("a")),
                "passed passed",
            ),
            (
                "unsuspended by hand",
                |w| done(w.queues("a").starts("a").wait(1.0)),
                "failed out-of-order",
            ),
            (
                "unsuspended by hand, then admitted all the same",
                |w| {
                    done(
                        w.queues("a")
                            .starts("a")
                            .suspends("a")
                            .admits("a")
                            .wait(1.0),
                    )
                },
                "failed out-of-order",
            ),
            (
                "the second attempt is right",
                |w| {
                    done(
                        w.queues("a")
                            .starts("a")
                            .wait(1.0)
                            .deleted("a")
                            .queues("a")
                            .admits("a"),
                    )
                },
                "passed passed",
            ),
            (
                "two attempts do not add up",
                |w| {
                    done(
                        w.queues("a")
                            .deleted("a")
                            .submit("a")
                            .workload("a", Is::New)
                            .admits("a")
                            .wait(1.0),
                    )
                },
                "failed out-of-order",
            ),
            (
                "the Workload was admitted at once",
                |w| done(w.submit("a").workload("a", Is::New).admits("a").wait(1.0)),
                "failed out-of-order",
            ),
        ],
    );
}

#[test]
fn order_across_objects() {
    let criterion = "order: [{ job: g, becomes: queued, reason: ExceedsMaxQuota }, { object: ClusterQueue/vision, holds: 'quantity(spec.resourceGroups[0].flavors[0].resources[0].nominalQuota) >= 6.0' }, { job: g, becomes: admitted }]";
    check(
        criterion,
        &[
            (
                "read, repaired, admitted",
                |w| {
                    w.cluster_queue("vision", 4)
                        .submit("g")
                        .workload("g", Is::Queued("ExceedsMaxQuota"));
                    w.wait(5.0).cluster_queue("vision", 6).admits("g");
                },
                "passed passed",
            ),
            (
                "a quota that is still too small",
                |w| {
                    w.cluster_queue("vision", 4)
                        .submit("g")
                        .workload("g", Is::Queued("ExceedsMaxQuota"));
                    w.wait(5.0).cluster_queue("vision", 5);
                },
                "waiting not-holding",
            ),
            (
                "large enough from the start",
                |w| {
                    done(
                        w.cluster_queue("vision", 8)
                            .queues("g")
                            .admits("g")
                            .wait(1.0),
                    )
                },
                "failed out-of-order",
            ),
            (
                "the job was made smaller instead",
                |w| {
                    w.cluster_queue("vision", 4)
                        .submit("g")
                        .workload("g", Is::Queued("ExceedsMaxQuota"));
                    w.deleted("g")
                        .submit("g")
                        .workload("g", Is::New)
                        .admits("g")
                        .wait(1.0);
                },
                "failed out-of-order",
            ),
        ],
    );
}

#[test]
fn order_within_a_time() {
    let history = |seconds: f64| {
        let mut world = World::new();
        world
            .cluster_queue("vision", 4)
            .queues("g")
            .wait(5.0)
            .cluster_queue("vision", 6)
            .wait(seconds)
            .admits("g");
        world.told("order: [{ object: ClusterQueue/vision, changes: spec }, { job: g, becomes: admitted }], within: 60s")
    };
    assert_eq!(history(59.0), "passed passed");
    assert_eq!(history(61.0), "failed too-late");
}

#[test]
fn caused() {
    check(
        "caused: { job: c, becomes: admitted }, by: { job: [a, b], becomes: finished }",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            (
                "waiting",
                |w| done(w.queues("a").admits("a").queues("c")),
                "waiting still-queued",
            ),
            (
                "after the finish of a",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(9.0);
                    w.ends("a").workload("a", Is::Finished).admits("c");
                },
                "passed passed",
            ),
            (
                "after a change of the quota",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(9.0);
                    w.cluster_queue("vision", 8).admits("c");
                },
                "failed quota-changed",
            ),
            (
                "after a finish and a change of the quota",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(9.0);
                    w.ends("a").cluster_queue("vision", 8).admits("c");
                },
                "failed quota-changed",
            ),
            (
                "another job was deleted",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("d")
                        .admits("d")
                        .queues("c")
                        .wait(9.0);
                    w.deleted("d").admits("c");
                },
                "failed other-cause",
            ),
            (
                "it did not wait",
                |w| {
                    done(
                        w.cluster_queue("vision", 4)
                            .queues("a")
                            .admits("a")
                            .ends("a")
                            .submit("c")
                            .admits("c"),
                    )
                },
                "failed never-was",
            ),
            (
                "it was recreated after the finish",
                |w| {
                    w.cluster_queue("vision", 4)
                        .queues("a")
                        .admits("a")
                        .queues("c")
                        .wait(11.0)
                        .deleted("c");
                    w.ends("a")
                        .workload("a", Is::Finished)
                        .submit("c")
                        .workload("c", Is::New)
                        .admits("c");
                },
                "failed never-was",
            ),
            (
                "a finished in a queue of another cohort",
                |w| {
                    w.cluster_queue("vision", 4).object(
                        "ClusterQueue",
                        None,
                        "ailleurs",
                        json!({"spec": {}}),
                    );
                    w.queues("a")
                        .workload("a", Is::Reserved("ailleurs"))
                        .workload("a", Is::Admitted("ailleurs"));
                    w.queues("c").wait(9.0).ends("a").admits("c");
                },
                "failed other-cause",
            ),
        ],
    );
}

#[test]
fn preempted_by() {
    check(
        "reaches: { job: petit, becomes: preempted, by: urgent, reason: InClusterQueue }",
        &[
            (
                "by the named one, and the past was rewritten since",
                |w| {
                    w.queues("petit").admits("petit").queues("urgent").wait(1.0);
                    w.workload("petit", Is::Preempted("urgent"))
                        .suspends("petit")
                        .workload("petit", Is::Requeued);
                    w.admits("urgent").wait(9.0).ends("urgent").admits("petit");
                },
                "passed passed",
            ),
            (
                "by another",
                |w| {
                    w.queues("petit").admits("petit").queues("autre").wait(1.0);
                    w.workload("petit", Is::Preempted("autre"));
                },
                "waiting not-yet",
            ),
        ],
    );
}

#[test]
fn count() {
    check(
        "count: { job: '*', becomes: admitted }, at-least: 2",
        &[
            ("nothing yet", |_| {}, "pending no-subject"),
            (
                "one",
                |w| done(w.queues("a").admits("a")),
                "waiting counting",
            ),
            (
                "one, twice",
                |w| {
                    done(
                        w.queues("a")
                            .admits("a")
                            .deleted("a")
                            .queues("a")
                            .admits("a"),
                    )
                },
                "waiting counting",
            ),
            (
                "two",
                |w| done(w.queues("a").admits("a").queues("b").admits("b")),
                "passed passed",
            ),
        ],
    );
    check(
        "count: { job: '*', becomes: admitted }, at-most: 1, until: { job: z, becomes: finished }",
        &[
            (
                "one so far",
                |w| done(w.queues("a").admits("a")),
                "waiting counting",
            ),
            (
                "two",
                |w| done(w.queues("a").admits("a").queues("b").admits("b")),
                "failed too-many",
            ),
            (
                "one to the end",
                |w| done(w.queues("a").admits("a").starts("z").ends("z").wait(1.0)),
                "passed passed",
            ),
        ],
    );
}
